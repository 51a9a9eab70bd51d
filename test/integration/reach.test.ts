/**
 * `azlb reach` and `azlb get` beside real connections: what reach says of a source and a Service is what a client at that
 * source meets in the emulator's data plane, which knows nothing of the controller.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { INVENTORY_TABLES, type Row } from "../../src/core/inventory/inventory.ts";
import { renderReach } from "../../src/core/reach/render-reach.ts";
import type { Reach } from "../../src/core/reach/reach-service.ts";
import { parseAddress } from "../../src/core/util/cidr.ts";
import { ENDPOINT_SLICES, type KubeObject, NODES, SERVICES } from "../../src/kube/client/resources.ts";
import { CLUSTER_NAME } from "../../src/main/cluster-name.ts";
import { type ClusterView, withClusterView } from "../../src/main/cluster-view.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { readReach } from "../../src/main/reach-service.ts";
import { startSandbox } from "../../src/main/sandbox.ts";
import { clientsOf } from "../contract/azure/azure-under-test.ts";
import { balancersOf } from "../contract/azure/balancers.ts";
import { dataPlaneAt, PATIENCE_MS, visit } from "../support/data-plane.ts";
import { eventually } from "../support/eventually.ts";
import { echoBackend } from "../support/loopback-backends.ts";

const sandbox = await startSandbox({
  azure: { topology: { nodes: 2 }, dataPlane: true },
  withController: true,
  log: SILENT_LOG,
});
const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
const echo = await echoBackend("echo");
after(async () => {
  await close();
  await sandbox.close();
  await echo.close();
});
const plane = dataPlaneAt(sandbox.azure.controlUrl);
const balancers = await balancersOf(clientsOf(sandbox.azure));
const nodes = sandbox.azure.nodes;
await plane.map(Object.fromEntries(nodes.map(({ ip }) => [ip, { "*": echo.port }])));
await plane.settings({ probeIntervalFactor: 0.02, sources: { "127.0.0.2": "198.51.100.7" } });

/** The client at 127.0.0.1 has the first source, the one at 127.0.0.2 the second. */
const SOURCES = { "127.0.0.1": "203.0.113.1", "127.0.0.2": "198.51.100.7" } as const;

type Served = KubeObject & { status?: { loadBalancer?: { ingress?: { ip: string }[] } } };

async function serve(name: string, spec: object): Promise<string> {
  const metadata = { namespace: "default", name };
  await client.create(SERVICES, { metadata, spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec } });
  await client.create(ENDPOINT_SLICES, {
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready: true }, nodeName: nodes[0]?.name }],
    ports: [{ port: 80 }],
  });
  let address: string | undefined;
  await eventually(async () => {
    const { status } = await client.get<Served>(SERVICES, metadata);
    address = status?.loadBalancer?.ingress?.[0]?.ip;
    assert.ok(address, `${name} has no address yet`);
  }, PATIENCE_MS);
  return address ?? assert.fail();
}

function view<R>(read: (view: ClusterView) => Promise<R>): Promise<R> {
  const cloudConfig = { kind: "object", value: sandbox.azure.cloudConfig } as const;
  const options = { kubeconfig: sandbox.kubeconfig, cloudConfig, clusterName: CLUSTER_NAME, env: {}, log: SILENT_LOG };
  return withClusterView(options, read);
}

async function reach(name: string, from: string): Promise<Reach> {
  const source = parseAddress(from) ?? assert.fail(from);
  const [answer, ...more] = await view((one) => readReach(one, `default/${name}`, { from: source }));
  assert.deepEqual(more, []);
  return answer ?? assert.fail("no answer");
}

async function connects(address: string, localAddress: string): Promise<boolean> {
  const { listener } = await plane.frontend(address, 80);
  return visit(listener.port, localAddress).then(
    () => true,
    () => false,
  );
}

/** What reach says for both sources; and the clients there meet just that, once the data plane has all of it. */
async function agree(name: string, address: string): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const [client_, source] of Object.entries(SOURCES)) {
    const { verdict, why } = await reach(name, source);
    await eventually(
      async () => assert.equal(await connects(address, client_), verdict === "reaches", why),
      PATIENCE_MS,
    );
    const { connection } = await reach(name, source);
    assert.equal(connection?.isForwarded, verdict === "reaches", `tried by itself: ${connection?.met}`);
    answers[source] = `${verdict}: ${why}`;
  }
  return answers;
}

const rows = (table: keyof typeof INVENTORY_TABLES): Promise<Row[]> =>
  view(async (one) => INVENTORY_TABLES[table].rows(await one.inventory()));

const open = await serve("open", {});
const narrow = await serve("narrow", { loadBalancerSourceRanges: ["198.51.100.0/24"] });

test("a Service without ranges is reached from everywhere", async () => {
  const answers = await agree("open", open);
  for (const answer of Object.values(answers)) assert.match(answer, /^reaches: reaches vmss/);
});

test("one with source ranges is reached from these alone, and the rule that keeps others out is named", async () => {
  const { [SOURCES["127.0.0.1"]]: outside, [SOURCES["127.0.0.2"]]: inside } = await agree("narrow", narrow);
  assert.match(inside ?? "", /^reaches/);
  assert.match(outside ?? "", /^blocked: security rule \S+ \(priority \d+\) denies it/);
});

test("a rule of another client that comes first decides, and get tells it from the controller's", async () => {
  const rule = { priority: 200, access: "Deny", destinationAddressPrefix: open, destinationPortRange: "80" };
  await balancers.securityRule("by-hand", { ...rule, sourceAddressPrefix: "198.51.100.0/24" });
  const { [SOURCES["127.0.0.1"]]: others, [SOURCES["127.0.0.2"]]: shut } = await agree("open", open);
  assert.match(others ?? "", /^reaches/);
  assert.equal(shut, "blocked: security rule by-hand (priority 200) denies it");
  const owners = (await rows("nsg")).map(({ name, owner }) => [name === "by-hand" ? name : "rule", owner]);
  assert.deepEqual(owners[0], ["by-hand", "foreign"]);
  assert.ok(
    owners.some(([, owner]) => owner === "default/narrow"),
    JSON.stringify(owners),
  );
  await balancers.remove(`${balancers.network}/networkSecurityGroups/nsg/securityRules/by-hand`);
  await agree("open", open);
});

test("nodes that are drained take no connection: reach, get and the client agree", async () => {
  const taints = [{ key: "azlb.io/drain", value: "manual", effect: "NoSchedule" }];
  for (const { name } of nodes) await client.patch(NODES, { name }, { merge: { spec: { taints } } });
  await eventually(async () => {
    const states = (await rows("members")).map(({ adminState, owner }) => `${adminState} ${owner}`);
    assert.deepEqual(states, ["Down azlb", "Down azlb"]);
  }, PATIENCE_MS);
  for (const answer of Object.values(await agree("open", open))) {
    assert.equal(answer, "blocked: every member of the pool is Down: azlb get members lists them");
  }
  assert.deepEqual(
    (await rows("pool")).map(({ members, down, owner }) => [members, down, owner]),
    [[2, 2, "azlb"]],
  );
});

test("what it has tried is told, and the sources of other clients are as before", async () => {
  const from = parseAddress("192.0.2.1") ?? assert.fail();
  const reaches = await view((one) => readReach(one, "default/narrow", { from }));
  assert.match(renderReach(reaches), /^ {2}tried {10}a connection was refused: \w+/m);
  const { settings } = (await (await fetch(`${sandbox.azure.controlUrl}/data-plane`)).json()) as {
    settings: { sources: unknown };
  };
  assert.deepEqual(settings.sources, { "127.0.0.2": "198.51.100.7" });
});

test("get tells public IPs of Services from those of other clients", async () => {
  await balancers.put(`${balancers.network}/publicIPAddresses/by-hand`, {
    location: "westus2",
    sku: { name: "Standard" },
    properties: { publicIPAllocationMethod: "Static" },
  });
  const found = (await rows("pip")).map(
    ({ name, services, owner }) => `${name === "by-hand" ? name : services} ${owner}`,
  );
  assert.deepEqual(found.sort(), ["by-hand foreign", "default/narrow azlb", "default/open azlb"]);
});
