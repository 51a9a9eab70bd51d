/**
 * Preloaded into a controller (`node --import`): notes when each of its PUTs has left, its last byte given to the
 * socket. What comes after that is the network's time and Azure's, and no controller can shorten it.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

import { DEPARTURES_FILE, type Departure } from "./departures.ts";

const file = process.env[DEPARTURES_FILE];
if (file === undefined) throw new Error(`${DEPARTURES_FILE} names the file to write to`);

subscribe("undici:request:bodySent", (message) => {
  const { method, path } = (message as { request: { method: string; path: string } }).request;
  if (method !== "PUT") return;
  const departure: Departure = { path: path.replace(/\?.*$/, ""), leftMs: Date.now() };
  appendFileSync(file, `${JSON.stringify(departure)}\n`);
});
