/** What the health endpoints and logs of two controllers say: both pass a readiness probe, /leaderz tells the leader. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Log, LogFields } from "../../../src/core/util/log.ts";
import type { RunningController } from "../../../src/main/controller.ts";
import { VERSION } from "../../../src/main/version.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveLease } from "../../support/released-lease.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

let rig: ServiceRig;
before(async () => {
  rig = await ServiceRig.open(openEmbeddedCluster, {
    controller: { leaderElect: true },
    prepare: ({ kube }) => leaveLease(kube),
  });
  await rig.stop();
});
after(() => rig.close());

test("leader and standby are both ready, and only one leads", async () => {
  const [first, second] = [new Lines(), new Lines()];
  const leader = await rig.start(first.log);
  await answers(leader, { livez: 200, healthz: 200, startz: 200, readyz: 200, leaderz: 200 });
  const standby = await rig.start(second.log);
  await answers(standby, { livez: 200, healthz: 200, startz: 200, readyz: 200, leaderz: 503 });
  assert.equal(
    (await first.line("this process leads"))["identity"],
    (await second.line("another process leads; this one waits for the Lease"))["holder"],
  );
  await leader.close();
  await first.line("this process leads no more; it ends what is in flight");
  await answers(standby, { livez: 200, healthz: 200, startz: 200, readyz: 200, leaderz: 200 });
  await second.line("this process leads");
  await rig.stop();
});

test("checks have names", async () => {
  const controller = await rig.start();
  await answers(controller, { leaderz: 200 });
  await answers(controller, { "readyz/lease": 200, "readyz/caches": 200, "readyz/nothing": 404, "livez/ping": 200 });
  const verbose = await (await fetch(urlOf(controller, "readyz?verbose"))).text();
  assert.equal(verbose, "[+]lease ok\n[+]configuration ok\n[+]caches ok\n[+]cloud-config ok\npassed\n");
  await rig.stop();
});

test("a start tells its settings and no secret; each write to Azure is one line, with what it carried", async () => {
  const lines = new Lines();
  await rig.start(lines.log);
  const { clusterName, resourceGroup } = {
    clusterName: "kubernetes",
    resourceGroup: rig.azure.cloudConfig["resourceGroup"],
  };
  const { version, cluster, signIn, health, ...rest } = await lines.line("the controller starts");
  assert.deepEqual([version, cluster, rest["resourceGroup"]], [VERSION, clusterName, resourceGroup]);
  assert.match(String(health), /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.ok(["secret", "managedIdentity", "none"].includes(String(signIn)));
  await rig.apply({ name: "web" });
  await rig.served("web");
  const { id, status, fragments, requestId, durationMs } = await lines.line("PUT loadBalancers/kubernetes");
  assert.match(String(id), /^\/subscriptions\/.*\/loadBalancers\/kubernetes$/);
  assert.ok([200, 201].includes(Number(status)));
  assert.equal(fragments, 1);
  assert.match(String(requestId), /^[0-9a-f-]{36}$/);
  assert.ok(Number(durationMs) >= 0);
  const secret = String(rig.azure.cloudConfig["aadClientSecret"]);
  assert.ok(!lines.all.some((line) => JSON.stringify(line).includes(secret)));
});

class Lines {
  readonly all: { readonly message: string; readonly fields: LogFields }[] = [];
  readonly log: Log = { info: this.#note.bind(this), warn: this.#note.bind(this), error: this.#note.bind(this) };

  /** The fields of the first line with that message, once there is one. */
  async line(message: string): Promise<LogFields> {
    const found = (): LogFields | undefined => this.all.find((line) => line.message === message)?.fields;
    await eventually(() => {
      const messages = this.all.map((line) => line.message).join("\n");
      assert.ok(found() !== undefined, `no line ${message} in:\n${messages}`);
      return Promise.resolve();
    }, WITHIN_MS);
    return found() ?? {};
  }

  #note(message: string, fields: LogFields = {}): void {
    this.all.push({ message, fields });
  }
}

function urlOf({ metricsUrl }: RunningController, path: string): string {
  return metricsUrl.replace(/metrics$/, path);
}

function answers(controller: RunningController, expected: Readonly<Record<string, number>>): Promise<void> {
  return eventually(async () => {
    const found: Record<string, number> = {};
    for (const path of Object.keys(expected)) found[path] = (await fetch(urlOf(controller, path))).status;
    assert.deepEqual(found, expected);
  }, WITHIN_MS);
}
