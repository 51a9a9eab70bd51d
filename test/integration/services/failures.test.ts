/**
 * Services while Azure fails, throttles or refuses: the first failure is told at once, with its cause and the next try; it
 * is not repeated; and everything comes right when the cause is gone. On the embedded server.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";

import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { FaultControl } from "../../support/fault-control.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

const BALANCERS = "**/loadBalancers/*";
const INTERNAL_ERROR = { kind: "status", status: 500, code: "InternalServerError" };

let rig: ServiceRig;
let faults: FaultControl;

beforeEach(async () => {
  rig = await ServiceRig.open(openEmbeddedCluster);
  faults = new FaultControl(rig.azure.controlUrl);
});
afterEach(() => rig.close());

async function hit(id: string, times: number): Promise<void> {
  await eventually(async () => assert.ok((await faults.hits(id)) >= times), WITHIN_MS);
}

async function warnings(name: string): Promise<string[]> {
  return (await rig.events(name)).filter(({ type }) => type === "Warning").map(({ reason }) => reason);
}

describe("a write that Azure answers with 500", () => {
  test("is told once, with the next try, while it is retried; then the Service is served", async () => {
    const id = await faults.arm({ method: ["PUT"], path: BALANCERS, count: null, effect: INTERNAL_ERROR });
    await rig.apply({ name: "web" });
    const said = await rig.warned("web", "SyncLoadBalancerFailed");
    assert.match(said, /^load balancer "kubernetes": Azure did not answer properly \(InternalServerError/);
    assert.match(said, /\. Next try in \d+ s\.$/);
    await hit(id, 3);
    assert.deepEqual(await warnings("web"), ["SyncLoadBalancerFailed"]);
    await faults.clear();
    await rig.served("web");
  });

  test("is told on deletion too", async () => {
    await rig.apply({ name: "web" });
    await rig.served("web");
    await faults.arm({ method: ["PUT", "DELETE"], path: BALANCERS, count: null, effect: INTERNAL_ERROR });
    const gone = rig.delete("web");
    const said = await rig.warned("web", "DeleteLoadBalancerFailed");
    assert.match(said, /^load balancer "kubernetes": .*\. Next try in \d+ s\.$/);
    await faults.clear();
    await gone;
  });

  test("is not retried any more once the Service is deleted, which does not wait for it", async () => {
    const id = await faults.arm({ method: ["PUT"], path: BALANCERS, count: null, effect: INTERNAL_ERROR });
    await rig.apply({ name: "web" });
    await hit(id, 4);
    await rig.delete("web");
    assert.equal(await faults.hits(id), 4);
    assert.deepEqual(await rig.list("publicIPAddresses"), []);
  });
});

test("credentials that Azure does not accept are told; those that replace them on disk need no restart", async () => {
  const directory = await mkdtemp(join(tmpdir(), "azlb-"));
  const path = join(directory, "azure.json");
  const write = (change: object): Promise<void> =>
    writeFile(path, JSON.stringify({ ...rig.azure.cloudConfig, ...change }));
  await write({ aadClientSecret: "expired" });
  await rig.stop();
  await rig.start(SILENT_LOG, { cloudConfig: { kind: "file", path } });
  await rig.apply({ name: "web" });
  assert.match(
    await rig.warned("web", "SyncLoadBalancerFailed"),
    /Azure does not accept our credentials .* Check tenantId, aadClientId and the secret.* Next try in 60 s\.$/,
  );
  await write({});
  await rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": "5" });
  await rig.served("web");
  await rm(directory, { recursive: true });
});

test("a 429 for one kind of resource holds up no other, and is told, logged and counted", async () => {
  const effect = { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 3_600 };
  await faults.arm({ method: ["PUT"], path: "**/publicIPAddresses/*", effect });
  await rig.apply({ name: "web" });
  assert.match(
    await rig.warned("web", "SyncLoadBalancerFailed"),
    /Azure throttles .* for 3600 s\. Next try in 300 s\.$/,
  );
  await rig.apply({ name: "second" });
  assert.match(await rig.warned("second", "SyncLoadBalancerFailed"), /Azure throttles .* Next try in \d+ s\.$/);
  await rig.apply({ name: "internal", annotations: { "azure-load-balancer-internal": "true" } });
  await rig.served("internal");
  const counted = 'azlb_arm_throttled_seconds_total{resource="Microsoft.Network/publicIPAddresses",method="put"} 300';
  assert.ok((await rig.metrics()).includes(counted));
});

test("throttled reads are told at once to the Service that waits for them, and once; then it is served", async () => {
  const effect = { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 2 };
  await faults.arm({ method: ["GET"], path: "**/publicIPAddresses", count: 2, effect });
  await rig.apply({ name: "web" });
  assert.match(
    await rig.warned("web", "SyncLoadBalancerFailed"),
    /^reading from Azure: Azure throttles this subscription for \d s\. Next try in \d s\.$/,
  );
  await rig.served("web");
  assert.deepEqual(await warnings("web"), ["SyncLoadBalancerFailed"]);
});

for (const { title, effect, said } of [
  {
    title: "a policy forbids",
    effect: { kind: "status", status: 403, code: "RequestDisallowedByPolicy", message: "Denied by policy 'no-pips'." },
    said: /^public IP "[^"]+": not allowed: RequestDisallowedByPolicy: Denied by policy 'no-pips'\. Ask .*\. Next try in 60 s\.$/,
  },
  {
    title: "a management lock forbids",
    effect: { kind: "status", status: 409, code: "ScopeLocked", message: "The scope is locked." },
    said: /^public IP "[^"]+": Azure does not let it be changed: ScopeLocked: The scope is locked\. Remove the management lock, .*\. Next try in 60 s\.$/,
  },
]) {
  test(`what ${title} is told at once, once, with the fix, and is not hammered`, async () => {
    const id = await faults.arm({ method: ["PUT"], path: "**/publicIPAddresses/*", count: null, effect });
    await rig.apply({ name: "web" });
    assert.match(await rig.warned("web", "SyncLoadBalancerFailed"), said);
    await rig.apply({ name: "web", annotations: { "azure-load-balancer-tcp-idle-timeout": "5" } });
    await hit(id, 2);
    assert.deepEqual(await warnings("web"), ["SyncLoadBalancerFailed"], "a change is tried at once, and is no news");
    await faults.clear();
    await rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": "6" });
    await rig.served("web");
  });
}

test("a management lock that keeps a Service from being deleted is told; it keeps its finalizer and address until the lock goes", async () => {
  await rig.apply({ name: "web" });
  const [address] = await rig.served("web");
  const effect = { kind: "status", status: 409, code: "ScopeLocked", message: "The scope is locked." };
  await faults.arm({ method: ["PUT", "DELETE"], path: BALANCERS, count: null, effect });
  const gone = rig.delete("web");
  assert.match(
    await rig.warned("web", "DeleteLoadBalancerFailed"),
    /^load balancer "kubernetes": .*ScopeLocked: .* Remove the management lock, .*\. Next try in 60 s\.$/,
  );
  const { metadata } = await rig.service("web");
  assert.deepEqual(metadata.finalizers, ["service.kubernetes.io/load-balancer-cleanup"]);
  const addresses = (await rig.list("publicIPAddresses")).map((body) => propertiesOf(body)["ipAddress"]);
  assert.deepEqual(addresses, [address]);
  await faults.clear();
  await rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": "5" });
  await gone;
  assert.deepEqual(await rig.list("publicIPAddresses"), []);
});
