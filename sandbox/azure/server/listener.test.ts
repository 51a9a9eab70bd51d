import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { openCertificateAuthority } from "../../shared/certificate-authority.ts";
import { listen } from "./listener.ts";

const CLIENT = new URL("../../../test/support/read-write-client.ts", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "azlb-listener-"));
after(() => rmSync(directory, { recursive: true }));

/** Long enough for a client in another thread to have the answer, and to have sent its next request. */
function beBusy(): void {
  const endMs = performance.now() + 15;
  while (performance.now() < endMs);
}

test("a quick client of a busy server keeps its connection", async () => {
  const authority = await openCertificateAuthority(directory);
  const answer = async ({ method }: { readonly method: string }) => {
    const isTime = delay(2);
    if (method === "GET") setTimeout(beBusy, 2); // in the same turn, after the answer
    await isTime;
    return { status: 200, headers: {}, body: method === "GET" ? "x".repeat(500_000) : "" };
  };
  const listening = await listen(answer, {
    port: 0,
    maxBodyBytes: 1 << 22,
    certificate: await authority.issueServer(),
    onError: () => {},
  });
  const client = new Worker(CLIENT, { workerData: { url: listening.url, ca: authority.caPem, rounds: 20 } });
  const [failures] = (await once(client, "message")) as [readonly string[]];
  await listening.close();
  assert.deepEqual(failures, []);
});
