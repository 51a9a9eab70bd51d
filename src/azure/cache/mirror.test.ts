import assert from "node:assert/strict";
import { test } from "node:test";

import { armRig } from "../../../test/support/arm-rig.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import type { LoadBalancer } from "../../core/model/arm.ts";
import { READS_LAG_MS } from "../../core/freshness.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import { Mirror } from "./mirror.ts";

const GROUP = "/subscriptions/net/resourceGroups/lbs/providers/Microsoft.Network";
const LB = `${GROUP}/loadBalancers/lb`;
const PIP = `${GROUP}/publicIPAddresses/pip`;
const NSG = "/subscriptions/net/resourceGroups/sgs/providers/Microsoft.Network/networkSecurityGroups/nsg";
const COMPUTE = "/subscriptions/sub/resourceGroups/rg/providers";

function rig() {
  const rigged = armRig({ replyMs: 50 });
  const config = {
    networkSubscriptionId: "net",
    subscriptionId: "sub",
    resourceGroup: "rg",
    loadBalancerResourceGroup: "lbs",
    securityGroupResourceGroup: "sgs",
    securityGroupName: "nsg",
    vnetResourceGroup: "vnets",
    vnetName: "vnet",
    location: "westus2",
    azureStack: false,
  } as ClusterConfig;
  const gone: string[] = [];
  const onPoolsGone = (): void => void gone.push("pools");
  return { ...rigged, gone, mirror: new Mirror({ client: rigged.client, config, clock: rigged.clock, onPoolsGone }) };
}

const names = (bodies: readonly { name: string }[]): string[] => bodies.map(({ name }) => name);

function loadBalancer(...publicIPs: string[]): LoadBalancer {
  const frontends = publicIPs.map((id, at) => {
    return { id: `${LB}/frontendIPConfigurations/f${at}`, name: `f${at}`, properties: { publicIPAddress: { id } } };
  });
  return { id: LB, name: "lb", etag: "seen", properties: { frontendIPConfigurations: frontends } };
}

test("many readers share one request, later ones its result", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  const [one, other] = await run(Promise.all([mirror.loadBalancers(), mirror.loadBalancers()]));
  assert.deepEqual(names(one), ["lb"]);
  assert.equal(one, other, "the very same list, as long as nothing changed");
  assert.equal(await run(mirror.loadBalancers()), one);
  assert.equal(arm.count("GET"), 1);
});

test("a read that fails throws to every reader that waits and is not remembered", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  arm.interpose = () => error(403, "AuthorizationFailed");
  const both = [mirror.loadBalancers(), mirror.loadBalancers()];
  const results = await run(Promise.allSettled(both));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  arm.interpose = () => undefined;
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
});

test("what a writer has seen is shown without another read", async () => {
  const { arm, mirror, run } = rig();
  await run(mirror.loadBalancers());
  mirror.seen(LB, loadBalancer());
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
  assert.equal((mirror.lastSeen(LB.toUpperCase()) as LoadBalancer).etag, "seen");
  mirror.seen(LB, null);
  assert.deepEqual(await run(mirror.loadBalancers()), []);
  assert.equal(mirror.lastSeen(LB), null);
  assert.equal(arm.count("GET"), 1);
});

test("a writer's result wins over a list that was asked for before it", async () => {
  const { clock, arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  const listing = mirror.loadBalancers();
  await clock.advance(10);
  mirror.seen(LB, { ...loadBalancer(), etag: "newer" });
  assert.deepEqual(
    (await run(listing)).map(({ etag }) => etag),
    ["newer"],
  );
});

test("what was not read is unknown, what was listed without it is absent", async () => {
  const { mirror, run } = rig();
  assert.equal(mirror.lastSeen(LB), undefined);
  await run(mirror.loadBalancers());
  assert.equal(mirror.lastSeen(LB), null);
});

test("what holds no more is unknown, and the next reader looks", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  await run(mirror.loadBalancers());
  mirror.seen(LB, undefined);
  assert.equal(mirror.lastSeen(LB), undefined);
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
  assert.equal(arm.count("GET"), 2);
});

test("after expiry everything is read anew, also for a reader that waits for an older read", async () => {
  const { clock, arm, mirror, run } = rig();
  const early = mirror.loadBalancers();
  await clock.advance(10);
  arm.write(LB, { properties: {} });
  mirror.expire();
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
  assert.deepEqual(names(await run(early)), ["lb"]);
  assert.equal(arm.count("GET"), 2);
});

test("a list that expires whenever it is read keeps no reader for more than two reads, and shows what was listed", async () => {
  const { clock, arm, mirror } = rig();
  arm.write(LB, { properties: {} });
  arm.interpose = () => {
    mirror.seen(LB, undefined); // the failed write of another Service
    return undefined;
  };
  const read = mirror.loadBalancers();
  await clock.advance(60_000);
  assert.equal(arm.count("GET"), 2);
  assert.deepEqual(names(await read), ["lb"]);
});

test("what has not changed stays the same object, however often it is read", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  arm.write(`${LB}-2`, { properties: {} });
  const first = await run(mirror.loadBalancers());
  mirror.expire();
  assert.equal(await run(mirror.loadBalancers()), first);
  arm.write(`${LB}-2`, { properties: { changed: true } });
  mirror.expire();
  const later = await run(mirror.loadBalancers());
  assert.equal(later[0], first[0]);
  assert.notEqual(later[1], first[1]);
  arm.write(LB, undefined);
  mirror.expire();
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb-2"]);
});

test("what came garbled is not shown", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: { probes: [] } });
  const body = arm.read(LB);
  for (const garble of [
    { ...body, properties: 7 },
    { ...body, properties: { probes: [null] } },
    { ...body, id: 3 },
    {},
    null,
  ]) {
    arm.interpose = () => json(200, { value: [garble] });
    mirror.expire();
    await assert.rejects(run(mirror.loadBalancers()), /makes no sense/);
  }
  arm.interpose = () => undefined;
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
});

test("what was told wrongly is put right by the next read, although its ETag is the same", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: { probes: [] } });
  arm.interpose = () => json(200, { value: [{ ...arm.read(LB), properties: { probes: [{ name: "none such" }] } }] });
  assert.equal((await run(mirror.loadBalancers()))[0]?.properties.probes?.length, 1);
  arm.interpose = () => undefined;
  mirror.expire();
  assert.deepEqual((await run(mirror.loadBalancers()))[0]?.properties.probes, []);
});

test("public IPs follow what their load balancer holds, and must be read before they are written", async () => {
  const { arm, mirror, run } = rig();
  arm.write(PIP, { properties: { ipAddress: "1.2.3.4" } });
  await run(mirror.list("publicIP", "lbs"));
  mirror.seen(LB, loadBalancer(PIP.toUpperCase()));
  const held = (await run(mirror.list("publicIP", "LBS")))[0];
  assert.equal(held?.properties.ipConfiguration?.id, `${LB}/frontendIPConfigurations/f0`);
  assert.equal(mirror.lastSeen(PIP), undefined);
  mirror.seen(LB, undefined);
  mirror.seen(LB, null);
  const free = (await run(mirror.list("publicIP", "lbs")))[0];
  assert.equal(free?.properties.ipConfiguration, undefined);
  assert.equal(free?.properties.ipAddress, "1.2.3.4");
  assert.equal(arm.count("GET", "publicIPAddresses"), 1);
});

test("a public IP that another resource holds is left alone", async () => {
  const { arm, mirror, run } = rig();
  const elsewhere = { id: `${LB}-2/frontendIPConfigurations/x` };
  arm.write(PIP, { properties: { ipConfiguration: elsewhere } });
  const before = await run(mirror.list("publicIP", "lbs"));
  mirror.seen(LB, loadBalancer());
  assert.equal(await run(mirror.list("publicIP", "lbs")), before);
});

test("the security group and subnets are read by themselves; absent is undefined", async () => {
  const { arm, mirror, run } = rig();
  assert.equal(await run(mirror.securityGroup()), undefined);
  mirror.expire();
  arm.write(NSG, { properties: {} });
  assert.equal((await run(mirror.securityGroup()))?.name, "nsg");
  mirror.seen(NSG, null);
  assert.equal(await run(mirror.securityGroup()), undefined);
  assert.equal(await run(mirror.subnet("none")), undefined);
  assert.equal(arm.count("GET", "subnets/none"), 1);
});

test("machines come with their scale sets' instances, made into an index once", async () => {
  const { arm, mirror, run } = rig();
  const set = `${COMPUTE}/Microsoft.Compute/virtualMachineScaleSets/s`;
  arm.write(set, { properties: { orchestrationMode: "Uniform" } });
  arm.write(`${COMPUTE}/Microsoft.Compute/virtualMachineScaleSets/flex`, {
    properties: { orchestrationMode: "Flexible" },
  });
  arm.write(`${set}/virtualMachines/0`, { properties: {} });
  arm.write(`${COMPUTE}/Microsoft.Compute/virtualMachines/vm`, { properties: {} });
  arm.write(`${COMPUTE}/Microsoft.Network/networkInterfaces/nic`, { properties: {} });
  const compute = await run(mirror.compute());
  assert.deepEqual([...compute.instances.keys()], [`${set}/virtualMachines/0`.toLowerCase()]);
  assert.equal(compute.scaleSets.size, 2);
  assert.equal(await run(mirror.compute()), compute);
  const nic = `${COMPUTE}/Microsoft.Network/networkInterfaces/nic`;
  mirror.seen(nic, { ...arm.read(nic), etag: "2" });
  assert.notEqual(await run(mirror.compute()), compute);
  assert.ok(arm.requests.some(({ url }) => url.includes("$expand=instanceView")));
  assert.equal(arm.count("GET"), 4);
});

test("zones are those of the region, read once", async () => {
  const { arm, mirror, run } = rig();
  const zoneMappings = [
    { location: "East US", zones: ["9"] },
    { location: "West US 2", zones: ["3", "1", "2"] },
  ];
  arm.interpose = () => json(200, { resourceTypes: [{ resourceType: "virtualMachines", zoneMappings }] });
  assert.deepEqual(await run(mirror.zones()), ["1", "2", "3"]);
  mirror.expire();
  await run(mirror.zones());
  assert.equal(arm.requests.length, 1);
});

test("a reader that gives up leaves the others' request alone", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  const abort = new AbortController();
  const impatient = mirror.loadBalancers(abort.signal);
  const patient = mirror.loadBalancers();
  abort.abort(new Error("enough"));
  await assert.rejects(impatient, /enough/);
  assert.deepEqual(names(await run(patient)), ["lb"]);
  assert.equal(arm.count("GET"), 1);
});

test("a reader that must not wait gets what was last read, however old; but never a list with a hole", async () => {
  const { arm, mirror, run } = rig();
  arm.write(LB, { properties: {} });
  assert.deepEqual(names(await run(mirror.loadBalancers(undefined, "known"))), ["lb"], "nothing was read before");
  mirror.expire();
  arm.write(`${GROUP}/loadBalancers/new`, { properties: {} });
  assert.deepEqual(names(await mirror.loadBalancers(undefined, "known")), ["lb"]);
  mirror.seen(LB, undefined);
  assert.deepEqual(names(await run(mirror.loadBalancers(undefined, "known"))).sort(), ["lb", "new"]);
  mirror.seen(LB, undefined);
  mirror.seen(LB, loadBalancer());
  const calls = arm.count("GET");
  assert.deepEqual(names(await mirror.loadBalancers(undefined, "known")).sort(), ["lb", "new"], "the hole is filled");
  assert.equal(arm.count("GET"), calls);
});

test("a reader that has given up already asks for nothing, and fails no other", async () => {
  const { arm, mirror } = rig();
  const gone = AbortSignal.abort(new Error("enough"));
  await assert.rejects(mirror.loadBalancers(gone), /enough/);
  await assert.rejects(mirror.zones(gone), /enough/);
  assert.equal(arm.requests.length, 0);
});

test("a load balancer that went, or lost a pool, is told; one that has changed otherwise is not", () => {
  const { mirror, gone } = rig();
  const withPools = (...pools: string[]): LoadBalancer => ({
    ...loadBalancer(),
    properties: { backendAddressPools: pools.map((name) => ({ name, properties: {} })) },
  });
  mirror.seen(LB, withPools("one", "two"));
  mirror.seen(LB, { ...withPools("one", "two"), etag: "later" });
  assert.equal(gone.length, 0);
  mirror.seen(LB, withPools("one"));
  assert.equal(gone.length, 1);
  mirror.seen(LB, null);
  assert.equal(gone.length, 2);
});

test("a list that lags behind a write takes nothing away; once it could not any more, it is read again and believed", async () => {
  const { arm, mirror, run, clock } = rig();
  await run(mirror.loadBalancers());
  mirror.seen(LB, loadBalancer());
  mirror.expire();
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
  assert.equal(mirror.lastSeen(LB), undefined, "it is read before it is written");
  assert.equal(arm.count("GET"), 2);
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"]);
  assert.equal(arm.count("GET"), 2, "there is nothing new to read yet");
  await clock.advance(READS_LAG_MS);
  assert.deepEqual(names(await run(mirror.loadBalancers())), []);
  assert.equal(arm.count("GET"), 3);
});

test("a version that a later write has replaced is not shown again, in a list or to a writer; one that is new is", async () => {
  const { arm, mirror, run } = rig();
  const [old] = await (async () => {
    arm.write(LB, { properties: {} });
    return run(mirror.loadBalancers());
  })();
  assert.ok(old !== undefined);
  const written = { ...loadBalancer(PIP), etag: "newer" };
  mirror.seen(LB, written);
  mirror.expire();
  assert.deepEqual(await run(mirror.loadBalancers()), [written]);
  mirror.seen(LB, old);
  assert.equal(mirror.lastSeen(LB), written);
  mirror.seen(LB, null);
  mirror.expire();
  assert.deepEqual(await run(mirror.loadBalancers()), [], "what was deleted is not there again");
  arm.write(LB, { properties: {} });
  mirror.expire();
  assert.deepEqual(names(await run(mirror.loadBalancers())), ["lb"], "another client made it anew");
});

test("what a writer saw is just written for as long as reads lag; what it saw is not there is not, also once that holds no more", async () => {
  const { mirror, run, clock } = rig();
  await run(mirror.loadBalancers());
  mirror.seen(LB, null);
  mirror.seen(LB, undefined);
  assert.equal(mirror.isJustWritten(LB), false);
  mirror.seen(LB, loadBalancer());
  assert.equal(mirror.isJustWritten(LB), true);
  mirror.seen(LB, undefined);
  assert.equal(mirror.isJustWritten(LB), true);
  await clock.advance(READS_LAG_MS);
  assert.equal(mirror.isJustWritten(LB), false);
});
