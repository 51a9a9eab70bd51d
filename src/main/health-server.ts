/**
 * The plain-HTTP server for the kubelet and Prometheus. Each health path has checks by name, as those of kube-apiserver:
 * `?verbose` lists them, and `/readyz/NAME` answers for one. What the checks mean is the caller's (`health-checks.ts`).
 *
 *   path               | 200 when
 *   -------------------|---------------------------------------------------------------------
 *   /livez, /healthz   | the process answers
 *   /readyz, /startz   | it leads, or it can take over: a standby passes a readiness probe
 *   /leaderz           | it leads
 *   /metrics           | always
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Metrics } from "../controller/metrics.ts";

export interface Check {
  /** A path segment. */
  readonly name: string;
  /** Why it does not pass; `undefined` while it does. */
  readonly failure: () => string | undefined;
  /** What an operator should know while it passes. */
  readonly remark?: () => string | undefined;
}

export interface HealthChecks {
  readonly live: readonly Check[];
  readonly ready: readonly Check[];
  readonly leader: readonly Check[];
}

export interface HealthOptions {
  readonly host: string;
  /** `0`: any free port. */
  readonly port: number;
  readonly metrics: Metrics;
  readonly checks: HealthChecks;
}

export interface RunningHealthServer {
  readonly url: string;
  close(): Promise<void>;
}

const PATHS: Readonly<Record<string, keyof HealthChecks>> = {
  healthz: "live",
  livez: "live",
  readyz: "ready",
  startz: "ready",
  leaderz: "leader",
};

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

async function answer({ metrics, checks }: HealthOptions, url: string): Promise<Answer> {
  const [path = "/", query = ""] = url.split("?");
  if (path === "/metrics") {
    return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() };
  }
  const [, area = "", name] = path.split("/");
  const of = Object.hasOwn(PATHS, area) ? PATHS[area] : undefined;
  const chosen = of === undefined ? [] : checks[of].filter((check) => name === undefined || check.name === name);
  if (chosen.length === 0) {
    return text(404, "not found; there are /livez, /healthz, /readyz, /startz, /leaderz and /metrics");
  }
  return render(chosen, new URLSearchParams(query).has("verbose"));
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function render(checks: readonly Check[], isVerbose: boolean): Answer {
  const results = checks.map(({ name, failure, remark }) => ({ name, failure: failure(), remark: remark?.() }));
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const remarks = results.flatMap(({ remark }) => remark ?? []);
  const status = failures.length === 0 ? 200 : 503;
  if (!isVerbose) return text(status, status === 200 ? ["ok", ...remarks].join("; ") : failures.join("; "));
  const lines = results.map(({ name, failure, remark }) =>
    failure === undefined
      ? [`[+]${name} ok`, ...(remark === undefined ? [] : [remark])].join("; ")
      : `[-]${name} failed: ${failure}`,
  );
  return text(status, [...lines, status === 200 ? "passed" : "failed"].join("\n"));
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
