/**
 * Preloaded into a controller (`node --import`): notes when each of its PUTs was handed to the connection and when it
 * has left, and when the answer to each of its GETs was there. What lies beyond is the time of the network and of
 * Azure, and no controller can shorten it.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

import { TRAFFIC_FILE, type Passage } from "./traffic.ts";

const file = process.env[TRAFFIC_FILE];
if (file === undefined) throw new Error(`${TRAFFIC_FILE} names the file to write to`);

function note(kind: Passage["kind"], message: unknown): void {
  const { method, path } = (message as { request: { method: string; path: string } }).request;
  if (!kind.startsWith(method)) return;
  const passage: Passage = { kind, path: path.replace(/\?.*$/, ""), atMs: Date.now() };
  appendFileSync(file ?? "", `${JSON.stringify(passage)}\n`);
}

subscribe("undici:request:create", (message) => note("PUT begun", message));
subscribe("undici:request:bodySent", (message) => note("PUT left", message));
subscribe("undici:request:trailers", (message) => note("GET answered", message));
