/**
 * Two controllers, and the leader sleeps through the loss of its lease: with a write on the wire, and with news waiting
 * for it when it wakes. Each signs in under a name of its own, so that the audit log tells their writes apart.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { AuditEntry } from "../../sandbox/azure/control/audit.ts";
import { CrashBed, type KubeObject } from "../crash/crash-bed.ts";
import { LANES, countWrites } from "../crash/crash-points.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { eventually } from "../support/eventually.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";
const LEASE = [
  "--leader-elect-lease-duration=6s",
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=500ms",
];
/** The write on the wire arrives this much later: when the other one has long taken over. */
const LATE_MS = 25_000;

describe("the leader is paused beyond its lease and resumed", () => {
  const directory = mkdtempSync(join(tmpdir(), "azlb-split-"));
  let bed: CrashBed;
  let [old, heir]: [ControllerProcess | undefined, ControllerProcess | undefined] = [undefined, undefined];

  before(async () => {
    bed = await CrashBed.make(directory);
  });
  after(async () => {
    await Promise.all([old?.kill(), heir?.kill()]);
    await bed.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("no write of the old leader takes effect on what the new one has written, and none leaves once it wakes", async () => {
    old = await start("old");
    await old.ready();
    serve("first");
    await served("first");
    heir = await start("heir");

    const late = { kind: "delay", delayMs: LATE_MS };
    const held = await bed.azureFaults.arm({
      method: ["PUT"],
      path: "**/loadBalancers/*",
      caller: "old",
      effect: late,
    });
    serve("second");
    await eventually(async () => assert.equal(await bed.azureFaults.hits(held), 1), WITHIN_MS);
    old.signal("SIGSTOP");
    serve("third");
    await heir.ready();
    await Promise.all([served("second"), served("third")]);
    await eventually(
      async () => assert.ok((await writesBy("old")).some(({ faults }) => faults.includes(held))),
      WITHIN_MS,
    );
    const lateWrite = (await writesBy("old")).find(({ faults }) => faults.includes(held));
    assert.equal(lateWrite?.status, 412, "the late write is refused, because the new leader wrote the same resource");

    const beforeWaking = (await audit()).at(-1)?.sequence ?? 0;
    const counts = await countWrites(bed);
    old.signal("SIGCONT");
    await eventually(() => assert.ok(old?.ended, "the old leader still runs"), WITHIN_MS);
    assert.match(old.output, /lease/);
    assert.deepEqual(
      (await writesBy("old")).filter(({ sequence }) => sequence > beforeWaking),
      [],
    );
    const kubernetesWrites = await counts();
    for (const lane of LANES.filter(({ name }) => name === "Services" || name === "member lists")) {
      assert.equal(kubernetesWrites.get(lane), 0, `${lane.name} were written after it woke`);
    }
    await assertNothingUndone();
    assert.deepEqual(await bed.plan(), { steps: [], rejected: [] });
    assert.equal(heir.ended, false);
  });

  function start(caller: string): Promise<ControllerProcess> {
    const { aadClientId: _id, aadClientSecret: _secret, ...config } = bed.azure.cloudConfig as Record<string, unknown>;
    const cloudConfig = join(directory, `${caller}.json`);
    const identity = { useManagedIdentityExtension: true, userAssignedIdentityID: caller };
    writeFileSync(cloudConfig, JSON.stringify({ ...config, ...identity }));
    const files = { kubeconfig: bed.kubernetes.kubeconfig, cloudConfig, env: bed.azure.env };
    return ControllerProcess.start(files, ["--leader-elect=true", ...LEASE]);
  }

  function serve(name: string): void {
    const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] };
    bed.user("POST", SERVICES, { metadata: { name }, spec });
  }

  async function served(name: string): Promise<void> {
    await eventually(() => {
      const { status } = bed.user("GET", `${SERVICES}/${name}`) as KubeObject;
      const { ingress = [] } = (status as { loadBalancer: { ingress?: unknown[] } }).loadBalancer;
      assert.equal(ingress.length, 1, `${name} has no address\n${heir?.output ?? old?.output}`);
    }, WITHIN_MS);
  }

  async function audit(): Promise<readonly AuditEntry[]> {
    return ((await bed.azureFaults.send("GET", "/audit")) as { entries: readonly AuditEntry[] }).entries;
  }

  async function writesBy(caller: string): Promise<readonly AuditEntry[]> {
    return (await audit()).filter((entry) => entry.caller === caller && entry.method !== "GET" && !entry.poll);
  }

  /** By the order in which they took effect: once the heir wrote a resource, no write of the old one did. */
  async function assertNothingUndone(): Promise<void> {
    const taken = new Set<string>();
    for (const { caller, method, path, status } of await audit()) {
      if (method === "GET" || status >= 400) continue;
      if (caller === "heir") taken.add(path);
      else if (caller === "old") assert.ok(!taken.has(path), `${method} ${path} of the old leader took effect`);
    }
    assert.notEqual(taken.size, 0, "the heir has written");
  }
});
