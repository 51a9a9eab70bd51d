/** A worker thread: reads, then writes a megabyte on the same connection at once, again and again; says what failed. */
import { parentPort, workerData } from "node:worker_threads";

import { Agent, request } from "undici";

const { url, ca, rounds } = workerData as { readonly url: string; readonly ca: string; readonly rounds: number };
const dispatcher = new Agent({ connect: { ca }, connections: 1 });
const failures: string[] = [];
for (let round = 0; round < rounds; round++) {
  try {
    await (await request(url, { dispatcher })).body.text();
    await (await request(url, { method: "PUT", body: "x".repeat(1 << 20), dispatcher })).body.text();
  } catch (error) {
    failures.push(String(error));
  }
}
await dispatcher.close();

parentPort?.postMessage(failures, []);
