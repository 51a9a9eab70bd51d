/** Serves the shadow's report as JSON, on loopback only: it names Services, addresses and rules. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { ShadowReport } from "../core/shadow/shadow-report.ts";

export const REPORT_PATH = "/shadow/report";
const LOOPBACK = "127.0.0.1";

export interface RunningReportServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `port`: `0` is any free one. */
export async function startReportServer(port: number, report: () => ShadowReport): Promise<RunningReportServer> {
  const server = createServer((request, response) => {
    const isFound = request.url?.split("?")[0] === REPORT_PATH;
    if (request.method !== "GET" || !isFound || !isLocal(request.headers.host)) {
      response.writeHead(404, { "content-type": "text/plain" }).end(`there is GET ${REPORT_PATH}\n`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(report())}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A page in a browser on this machine may not read it under another name. */
function isLocal(host: string | undefined): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host ?? "");
}
