/**
 * The plain-HTTP server for the kubelet and Prometheus: /healthz, the process answers; /startz, it leads or can take over,
 * so that a standby passes a readiness probe; /readyz, it leads; /metrics. What these mean in detail is the caller's.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Metrics } from "../controller/metrics.ts";

export interface HealthOptions {
  readonly host: string;
  /** `0`: any free port. */
  readonly port: number;
  readonly metrics: Metrics;
  /** Why the process neither leads nor can take over; `undefined` once it does. */
  readonly unstarted: () => string | undefined;
  /** Why the process does not lead; `undefined` while it does. */
  readonly unready: () => string | undefined;
  /** What else an operator should know, without being unready for it. */
  readonly remark?: () => string | undefined;
}

export interface RunningHealthServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startHealthServer(options: HealthOptions): Promise<RunningHealthServer> {
  const server = createServer((request, response) => {
    void answer(options, request.url ?? "/")
      .catch((error: unknown) => text(500, String(error)))
      .then(({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${options.host}:${port}`, close: () => close(server) };
}

async function answer({ metrics, unstarted, unready, remark }: HealthOptions, url: string): Promise<Answer> {
  const [path = "/"] = url.split("?");
  switch (path) {
    case "/healthz":
    case "/livez":
      return text(200, "ok");
    case "/startz":
      return okUnless(unstarted());
    case "/readyz":
      return okUnless(unready(), remark?.());
    case "/metrics":
      return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() };
    default:
      return text(404, "not found; there are /healthz, /startz, /readyz and /metrics");
  }
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function okUnless(why: string | undefined, remark?: string): Answer {
  return why === undefined ? text(200, remark === undefined ? "ok" : `ok; ${remark}`) : text(503, why);
}

function text(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: `${body}\n` };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
