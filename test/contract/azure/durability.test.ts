/** Killed with SIGKILL in the middle of writes, again and again: whatever was acknowledged is there afterwards. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { SANDBOX_ACCOUNT, type RunningAzure } from "../../../sandbox/azure/index.ts";
import { reusablePort } from "../../support/reusable-port.ts";
import { armHttp, type ArmHttp } from "./arm-http.ts";
import { startAzlbAzure, type AzlbProcess } from "./azlb-azure.ts";
import { trust } from "./azure-under-test.ts";

const ROUNDS = 6;
const WRITERS = 4;
/** Enough for the journal to be replaced by a snapshot several times. */
const BALLAST = "x".repeat(200_000);
const directory = mkdtempSync(join(tmpdir(), "azlb-durable-"));
after(() => rmSync(directory, { recursive: true }));

const network = `/subscriptions/${SANDBOX_ACCOUNT.subscriptionId}/resourceGroups/${SANDBOX_ACCOUNT.resourceGroup}/providers/Microsoft.Network`;
const path = (name: string): string => `${network}/publicIPAddresses/${name}?api-version=2025-05-01`;

/** Highest version that was acknowledged, and highest that was sent, per resource. */
interface Progress {
  acknowledged: number;
  sent: number;
}

/** Writes ever higher versions until the connection breaks; `acknowledged` counts them all. */
async function write(arm: ArmHttp, name: string, progress: Progress, acknowledged: () => void): Promise<void> {
  for (;;) {
    const version = ++progress.sent;
    const body = {
      location: "westus2",
      sku: { name: "Standard" },
      tags: { version: String(version) },
      properties: { publicIPAllocationMethod: "Static" },
      ballast: BALLAST,
    };
    const answer = await arm.send("PUT", path(name), { body }).catch(() => undefined);
    if (answer === undefined) return;
    assert.ok(answer.status === 200 || answer.status === 201, answer.text);
    progress.acknowledged = version;
    acknowledged();
  }
}

/** All write at once; the kill comes right after the n-th acknowledgement. Returns how many there were. */
async function writeUntilKilled(
  azlb: AzlbProcess,
  arm: ArmHttp,
  progress: ReadonlyMap<string, Progress>,
  killAfter: number,
): Promise<number> {
  let count = 0;
  const onAcknowledged = (): void => {
    if (++count === killAfter) azlb.child.kill("SIGKILL");
  };
  await Promise.all([...progress].map(([name, one]) => write(arm, name, one, onAcknowledged)));
  return count;
}

async function start(...ports: string[]): Promise<{ azlb: AzlbProcess; arm: ArmHttp }> {
  const azlb = await startAzlbAzure("--data-dir", directory, "--nodes", "0", ...ports);
  trust(readFileSync(azlb.line.caFile, "utf8"));
  const reached = { armEndpoint: azlb.line.armEndpoint, env: azlb.line.env } as RunningAzure;
  return { azlb, arm: await armHttp(reached) };
}

test(`${ROUNDS} kills among ${WRITERS} writers lose nothing that was acknowledged`, async () => {
  const progress = new Map(
    Array.from({ length: WRITERS }, (_, index) => [`ip-${index}`, { acknowledged: 0, sent: 0 }]),
  );
  let endpoint: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const ports = round === 0 ? ["--port", String(await reusablePort())] : []; // still free at the next start
    const { azlb, arm } = await start(...ports);
    assert.equal(azlb.line.armEndpoint, endpoint ?? azlb.line.armEndpoint, "clients find it where it was");
    endpoint = azlb.line.armEndpoint;
    for (const [name, { acknowledged, sent }] of progress) {
      const seen = await arm.send("GET", path(name));
      const version = Number((seen.body as { tags?: { version: string } }).tags?.version ?? 0);
      assert.ok(
        version >= acknowledged && version <= sent,
        `${name}: ${version}, acknowledged ${acknowledged}, sent ${sent}`,
      );
    }
    const killAfter = 10 + round * 17; // a different moment in every round
    const count = await writeUntilKilled(azlb, arm, progress, killAfter);
    assert.equal(await azlb.stop("SIGKILL"), "SIGKILL");
    assert.ok(count >= killAfter);
  }
  const { azlb, arm } = await start();
  for (const [name, { acknowledged }] of progress) {
    const seen = (await arm.send("GET", path(name))).body as {
      tags: { version: string };
      properties: { provisioningState: string };
    };
    assert.ok(Number(seen.tags.version) >= acknowledged);
    assert.equal(seen.properties.provisioningState, "Succeeded");
  }
  assert.equal(await azlb.stop("SIGTERM"), 0);
});
