/**
 * Preloaded into a controller process (`node --import`): records when each PUT is handed to the connection and fully sent, and
 * when the answer to each GET has arrived. The time in between belongs to the network and Azure.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

import { TRAFFIC_FILE, type TrafficEvent } from "./traffic.ts";

const file = process.env[TRAFFIC_FILE];
if (file === undefined) throw new Error(`${TRAFFIC_FILE} names the file to write to`);

function record(kind: TrafficEvent["kind"], message: unknown): void {
  const { method, path } = (message as { request: { method: string; path: string } }).request;
  if (!kind.startsWith(method)) return;
  const event: TrafficEvent = { kind, path: path.replace(/\?.*$/, ""), atMs: Date.now() };
  appendFileSync(file ?? "", `${JSON.stringify(event)}\n`);
}

subscribe("undici:request:create", (message) => record("PUT begun", message));
subscribe("undici:request:bodySent", (message) => record("PUT left", message));
subscribe("undici:request:trailers", (message) => record("GET answered", message));
