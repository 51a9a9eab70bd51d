/** Killed with SIGKILL in the middle of writes, again and again: whatever was acknowledged is there afterwards. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { SANDBOX_ACCOUNT, type RunningAzure } from "../../../sandbox/azure/index.ts";
import { reusablePort } from "../../support/reusable-port.ts";
import { armHttp, type ArmHttp } from "./arm-http.ts";
import { runAzlb, startAzlbAzure, startAzlbAzureWithin, type AzlbProcess } from "./azlb-azure.ts";
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
  return reached(await startAzlbAzure("--data-dir", directory, "--nodes", "0", ...ports));
}

async function reached(azlb: AzlbProcess): Promise<{ azlb: AzlbProcess; arm: ArmHttp }> {
  trust(readFileSync(azlb.line.caFile, "utf8"));
  const azure = { armEndpoint: azlb.line.armEndpoint, env: azlb.line.env } as RunningAzure;
  return { azlb, arm: await armHttp(azure) };
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

const publicIp = (ballast: string): object => ({
  location: "westus2",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static" },
  ballast,
});

test("on a full disk a write is answered with 503, and all that was acknowledged survives", async () => {
  const flags = ["--data-dir", join(directory, "full"), "--nodes", "0"];
  const { azlb, arm } = await reached(await startAzlbAzureWithin(128, ...flags));
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const body = publicIp("x".repeat(count % 3 === 0 ? 10 : 20_000));
    const answer = await arm.send("PUT", path(`ip-${count}`), { body });
    statuses.add(answer.status);
    if (answer.status === 201) acknowledged.push(`ip-${count}`);
    else assert.match(answer.text, /ServiceUnavailable.*could not be written to .*journal-0\.log: EFBIG/);
  }
  assert.deepEqual([...statuses], [201, 503]);
  assert.equal(await azlb.stop("SIGTERM"), 0);
  const again = await reached(await startAzlbAzure(...flags));
  const { value } = (await again.arm.send("GET", `${network}/publicIPAddresses?api-version=2025-05-01`)).body as {
    value: { name: string }[];
  };
  assert.deepEqual(
    value.map(({ name }) => name),
    acknowledged,
  );
  assert.equal(await again.azlb.stop("SIGTERM"), 0);
});

test("a damaged journal is refused with its place; --accept-journal-loss starts with what came before", async () => {
  const folder = join(directory, "damaged");
  const flags = ["--data-dir", folder, "--nodes", "0"];
  const journal = join(folder, "state", "journal-0.log");
  const { azlb, arm } = await reached(await startAzlbAzure(...flags));
  await arm.send("PUT", path("before"), { body: publicIp("") });
  const place = statSync(journal).size;
  for (const name of ["damaged", "later"]) await arm.send("PUT", path(name), { body: publicIp("") });
  assert.equal(await azlb.stop("SIGTERM"), 0);
  const bytes = readFileSync(journal);
  bytes[place + 20] = 0;
  writeFileSync(journal, bytes);

  const refused = await runAzlb("azure", ...flags);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    new RegExp(`journal-0.log is damaged at record \\d+ .*byte ${place}\\).*--accept-journal`),
  );
  const again = await reached(await startAzlbAzure(...flags, "--accept-journal-loss"));
  assert.equal((await again.arm.send("GET", path("before"))).status, 200);
  assert.equal((await again.arm.send("GET", path("later"))).status, 404);
  assert.equal(await again.azlb.stop("SIGTERM"), 0);
});
