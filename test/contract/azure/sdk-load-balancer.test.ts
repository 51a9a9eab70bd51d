/** Load balancers through the official SDK, both majors: the same code, the same outcomes. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { BackendAddressPool, LoadBalancer } from "arm-network-36";

import { armHttp } from "./arm-http.ts";
import { azureUnderTest, listed, type NetworkClient } from "./azure-under-test.ts";

const azure = await azureUnderTest({ topology: { nodes: 0 } });
const arm = await armHttp(azure);
const group = azure.resourceGroup;
const location = azure.account.location;
const network = `/subscriptions/${azure.subscriptionId}/resourceGroups/${group}/providers/Microsoft.Network`;
const vnet = { id: `${network}/virtualNetworks/vnet` };

/** A load balancer with a public frontend, a pool, a probe and a rule. */
async function createBalancer(client: NetworkClient, name: string): Promise<LoadBalancer> {
  const address = await client.publicIPAddresses.beginCreateOrUpdateAndWait(group, `${name}-ip`, {
    location,
    sku: { name: "Standard" },
    publicIPAllocationMethod: "Static",
  });
  const child = (collection: string, item: string) => ({
    id: `${network}/loadBalancers/${name}/${collection}/${item}`,
  });
  return client.loadBalancers.beginCreateOrUpdateAndWait(group, name, {
    location,
    sku: { name: "Standard" },
    frontendIPConfigurations: [{ name: "front", publicIPAddress: { id: address.id ?? "" } }],
    backendAddressPools: [{ name: "pool" }],
    probes: [{ name: "probe", protocol: "Tcp", port: 80, intervalInSeconds: 5 }],
    loadBalancingRules: [
      {
        name: "rule",
        protocol: "Tcp",
        frontendPort: 80,
        backendPort: 8080,
        frontendIPConfiguration: child("frontendIPConfigurations", "front"),
        backendAddressPool: child("backendAddressPools", "pool"),
        probe: child("probes", "probe"),
      },
    ],
  });
}

const members = (...hosts: number[]): BackendAddressPool => ({
  virtualNetwork: vnet,
  loadBalancerBackendAddresses: hosts.map((host) => ({ name: `node-${host}`, ipAddress: `10.240.0.${host}` })),
});

/** The later major spells the option that adds headers differently; each reads its own. */
const ifMatch = (etag: string) => ({
  requestOptions: { customHeaders: { "if-match": etag }, headers: { "if-match": etag } },
});

async function refusal(attempt: Promise<unknown>): Promise<{ status: number | undefined; code: string | undefined }> {
  try {
    await attempt;
  } catch (error) {
    const { statusCode, code } = error as { statusCode?: number; code?: string };
    return { status: statusCode, code };
  }
  assert.fail("it was not refused");
}

for (const [index, { label, client }] of azure.networks.entries()) {
  const name = (what: string): string => `${what}-${index}`;

  test(`${label}: a created load balancer comes back whole, with Azure's defaults and back-references`, async () => {
    const created = await createBalancer(client, name("whole"));
    const seen = await client.loadBalancers.get(group, name("whole"));
    assert.equal(seen.provisioningState, "Succeeded");
    assert.equal(created.id, `${network}/loadBalancers/${name("whole")}`);
    const [rule] = seen.loadBalancingRules ?? [];
    assert.deepEqual(
      [
        rule?.enableFloatingIP,
        rule?.idleTimeoutInMinutes,
        rule?.enableTcpReset,
        rule?.disableOutboundSnat,
        rule?.loadDistribution,
      ],
      [false, 4, false, false, "Default"],
    );
    assert.equal(rule?.backendAddressPools?.[0]?.id, seen.backendAddressPools?.[0]?.id);
    assert.equal(seen.frontendIPConfigurations?.[0]?.loadBalancingRules?.[0]?.id, rule?.id);
    assert.equal(seen.backendAddressPools?.[0]?.loadBalancingRules?.[0]?.id, rule?.id);
    assert.equal(seen.probes?.[0]?.loadBalancingRules?.[0]?.id, rule?.id);
    assert.equal(seen.probes?.[0]?.probeThreshold, 1);
    assert.equal(seen.sku?.tier, "Regional");
    const address = await client.publicIPAddresses.get(group, `${name("whole")}-ip`);
    assert.equal(address.ipConfiguration?.id, seen.frontendIPConfigurations?.[0]?.id);
    assert.match(address.ipAddress ?? "", /^\d+(\.\d+){3}$/);
  });

  test(`${label}: children are read one by one and listed; lists find it in group and subscription`, async () => {
    const lb = name("children");
    await createBalancer(client, lb);
    assert.equal((await client.loadBalancerProbes.get(group, lb, "probe")).port, 80);
    assert.equal((await client.loadBalancerLoadBalancingRules.get(group, lb, "rule")).backendPort, 8080);
    assert.equal((await client.loadBalancerFrontendIPConfigurations.get(group, lb, "front")).name, "front");
    const pools = await listed(client.loadBalancerBackendAddressPools.list(group, lb));
    assert.deepEqual(
      pools.map((pool) => pool.name),
      ["pool"],
    );
    const names = async (list: AsyncIterable<LoadBalancer>) => (await listed(list)).map((item) => item.name);
    assert.ok((await names(client.loadBalancers.list(group))).includes(lb));
    assert.ok((await names(client.loadBalancers.listAll())).includes(lb));
  });

  test(`${label}: a pool PUT replaces its members and changes the load balancer's ETag twice`, async () => {
    const lb = name("pool");
    const before = await createBalancer(client, lb);
    const written = await client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(
      group,
      lb,
      "pool",
      members(4, 5),
    );
    assert.deepEqual(
      written.loadBalancerBackendAddresses?.map((member) => member.name),
      ["node-4", "node-5"],
    );
    const after = await client.loadBalancers.get(group, lb);
    assert.notEqual(after.etag, before.etag);
    assert.equal(after.etag, written.etag, "one ETag covers the whole load balancer");
    assert.equal(after.backendAddressPools?.[0]?.loadBalancerBackendAddresses?.length, 2);
    await client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", members(5));
    const last = await client.loadBalancerBackendAddressPools.get(group, lb, "pool");
    assert.deepEqual(
      last.loadBalancerBackendAddresses?.map((member) => member.ipAddress),
      ["10.240.0.5"],
    );
  });

  test(`${label}: adminState is kept as Down and Up, and None is not echoed`, async () => {
    const lb = name("admin");
    await createBalancer(client, lb);
    const states = ["Down", "Up", "None"] as const;
    const pool = members(4, 5, 6);
    pool.loadBalancerBackendAddresses?.forEach((member, at) => (member.adminState = states[at] ?? "None"));
    await client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", pool);
    const seen = await client.loadBalancerBackendAddressPools.get(group, lb, "pool");
    assert.deepEqual(
      seen.loadBalancerBackendAddresses?.map((member) => member.adminState),
      ["Down", "Up", undefined],
    );
  });

  test(`${label}: If-Match guards a write; a stale one is refused and changes nothing`, async () => {
    const lb = name("match");
    await createBalancer(client, lb);
    const seen = await client.loadBalancers.get(group, lb);
    const tagged = { ...seen, tags: { writer: "first" } };
    await client.loadBalancers.beginCreateOrUpdateAndWait(group, lb, tagged, ifMatch(seen.etag ?? ""));
    const second = client.loadBalancers.beginCreateOrUpdateAndWait(
      group,
      lb,
      { ...seen, tags: { writer: "second" } },
      ifMatch(seen.etag ?? ""),
    );
    assert.deepEqual(await refusal(second), { status: 412, code: "PreconditionFailed" });
    assert.deepEqual((await client.loadBalancers.get(group, lb)).tags, { writer: "first" });
  });

  test(`${label}: tags are patched alone`, async () => {
    const lb = name("tags");
    await createBalancer(client, lb);
    const patched = await client.loadBalancers.updateTags(group, lb, { tags: { a: "1" } });
    assert.deepEqual(patched.tags, { a: "1" });
    assert.equal((await client.loadBalancers.get(group, lb)).loadBalancingRules?.length, 1);
  });

  test(`${label}: what is left out of a PUT is gone; deletion ends in 404; deleting nothing is fine`, async () => {
    const lb = name("gone");
    const created = await createBalancer(client, lb);
    await client.loadBalancers.beginCreateOrUpdateAndWait(group, lb, {
      ...created,
      loadBalancingRules: [],
      probes: [],
    });
    const seen = await client.loadBalancers.get(group, lb);
    assert.deepEqual([seen.loadBalancingRules, seen.probes], [[], []]);
    await client.loadBalancers.beginDeleteAndWait(group, lb);
    assert.deepEqual(await refusal(client.loadBalancers.get(group, lb)), { status: 404, code: "ResourceNotFound" });
    await client.loadBalancers.beginDeleteAndWait(group, lb);
    await client.publicIPAddresses.beginDeleteAndWait(group, `${lb}-ip`);
  });

  test(`${label}: refusals carry status and code`, async () => {
    const lb = name("refused");
    const created = await createBalancer(client, lb);
    const [rule] = created.loadBalancingRules ?? [];
    const twice = { ...created, loadBalancingRules: [rule ?? {}, { ...rule, name: "again", frontendPort: 81 }] };
    assert.deepEqual(await refusal(client.loadBalancers.beginCreateOrUpdateAndWait(group, lb, twice)), {
      status: 400,
      code: "RulesUseSameBackendPortProtocolAndPool",
    });
    assert.deepEqual(await refusal(client.publicIPAddresses.beginDeleteAndWait(group, `${lb}-ip`)), {
      status: 400,
      code: "PublicIPAddressCannotBeDeleted",
    });
    assert.deepEqual(await refusal(client.loadBalancers.get("nowhere", lb)), {
      status: 404,
      code: "ResourceGroupNotFound",
    });
    assert.equal((await client.loadBalancers.get(group, lb)).etag, created.etag, "a refused request changes nothing");
  });

  test(`${label}: an operation that takes its time is waited for`, async () => {
    const lb = name("slow");
    await createBalancer(client, lb);
    await azure.control("POST", "/faults", {
      method: "PUT",
      path: `**/${lb}/backendAddressPools/*`,
      effect: { kind: "operation", outcome: "Succeeded", tailMs: 300 },
    });
    const started = performance.now();
    const pool = await client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", members(4));
    assert.ok(performance.now() - started >= 300);
    assert.equal(pool.provisioningState, "Succeeded");
  });

  test(`${label}: an operation that fails says why`, async () => {
    const lb = name("fails");
    await createBalancer(client, lb);
    await azure.control("POST", "/faults", {
      method: "PUT",
      path: `**/${lb}/backendAddressPools/*`,
      effect: { kind: "operation", outcome: "Failed", code: "SomeCode", message: "Some reason." },
    });
    const write = client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", members(4));
    await assert.rejects(write, /SomeCode/);
    assert.equal((await client.loadBalancers.get(group, lb)).provisioningState, "Failed");
    await client.loadBalancers.beginCreateOrUpdateAndWait(group, lb, await client.loadBalancers.get(group, lb));
    assert.equal((await client.loadBalancers.get(group, lb)).provisioningState, "Succeeded", "a PUT repairs it");
  });

  test(`${label}: a newer write cancels the older one`, async () => {
    const lb = name("superseded");
    await createBalancer(client, lb);
    await azure.control("POST", "/faults", {
      method: "PUT",
      path: `**/${lb}/backendAddressPools/*`,
      effect: { kind: "operation", outcome: "Succeeded", tailMs: 60_000 },
    });
    const older = client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", members(4), {
      updateIntervalInMs: 50,
    });
    const outcome = older.then(
      () => "succeeded",
      (error: Error) => error.message,
    );
    await untilState(client, lb, "Updating");
    await client.loadBalancerBackendAddressPools.beginCreateOrUpdateAndWait(group, lb, "pool", members(5));
    assert.match(await outcome, /cancel/i);
    const pool = await client.loadBalancerBackendAddressPools.get(group, lb, "pool");
    assert.deepEqual(
      pool.loadBalancerBackendAddresses?.map((member) => member.name),
      ["node-5"],
    );
  });
}

async function untilState(client: NetworkClient, lb: string, state: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if ((await client.loadBalancers.get(group, lb)).provisioningState === state) return;
  }
  assert.fail(`${lb} did not become ${state}`);
}

test("unknown fields are stored and returned, everywhere in the body", async () => {
  const lb = "unknown-fields";
  await createBalancer(azure.network, lb);
  const path = `${network}/loadBalancers/${lb}?api-version=2025-05-01`;
  type Part = { properties: Record<string, unknown> };
  type Body = Part & { newTopLevel?: unknown; properties: { probes: [Part]; backendAddressPools: [Part] } };
  const marked = (await arm.send("GET", path)).body as Body;
  marked.newTopLevel = { deep: [1, { x: "y" }] };
  marked.properties["newProperty"] = "kept";
  marked.properties.probes[0].properties["newProbeField"] = { a: 1 };
  marked.properties.backendAddressPools[0].properties["newPoolField"] = [true];
  assert.equal((await arm.send("PUT", path, { body: marked })).status, 200);
  const seen = (await arm.send("GET", path)).body as Body;
  assert.deepEqual(seen.newTopLevel, { deep: [1, { x: "y" }] });
  assert.equal(seen.properties["newProperty"], "kept");
  assert.deepEqual(seen.properties.probes[0].properties["newProbeField"], { a: 1 });
  assert.deepEqual(seen.properties.backendAddressPools[0].properties["newPoolField"], [true]);
});

test("a list is paged when asked to, and clients follow the links", async () => {
  const paged = await azureUnderTest({ topology: { nodes: 0 }, model: { pageSize: 2 } });
  for (let count = 0; count < 5; count++) {
    await paged.network.publicIPAddresses.beginCreateOrUpdateAndWait(group, `ip-${count}`, {
      location,
      sku: { name: "Standard" },
      publicIPAllocationMethod: "Static",
    });
  }
  for (const { client } of paged.networks) {
    const names = (await listed(client.publicIPAddresses.list(group))).map((item) => item.name);
    assert.deepEqual(names, ["ip-0", "ip-1", "ip-2", "ip-3", "ip-4"]);
  }
});
