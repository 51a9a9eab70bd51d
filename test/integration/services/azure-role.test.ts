/**
 * The custom role in `deploy/azure-role.json`, enforced by the emulator: the controller can do all its work with it, and
 * each action is needed for some of that work. A tour creates what Services may ask for, dooms a node, and deletes it all
 * again; with one action missing, some call of the tour is refused. `npm test` tries every fourth action, `.ci/run` all.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { SERVICES } from "../../../src/kube/client/resources.ts";
import { AdminStateRig, OUT_OF_SERVICE, type AuditEntry } from "../../suites/admin-state/admin-state-rig.ts";
import { campaign } from "../../support/campaign.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { addresses, onlyLeft, startDeleting } from "../../support/many-services.ts";
import { ServiceRig, WITHIN_MS, type Manifest } from "../../support/service-rig.ts";

const ROLE_FILE = resolve(import.meta.dirname, "../../../deploy/azure-role.json");
const ACTIONS = (JSON.parse(readFileSync(ROLE_FILE, "utf8")) as { Actions: string[] }).Actions;

/** Of these actions, those that are tried one by one. */
function tried(actions: readonly string[]): string[] {
  const every = campaign({ sample: 4, long: 1 });
  return actions.filter((_, at) => at % every === 0);
}

/** Only needed where a drain comes while a load balancer is being written. */
const READ_POOLS = "Microsoft.Network/loadBalancers/backendAddressPools/read";

/** Needed for private link services, which have a tour of their own. */
const LINKS = /privateLink|frontendIPConfigurations|subnets\/write|networkSecurityGroups\/join/;

/** Needed once, for a migration of pools. */
const MIGRATION = "Microsoft.Network/loadBalancers/migrateToIpBased/action";

/** Each action is tried in the shape of cluster that is likely to need it; the last one tries all that are left. */
const SHAPES = [
  {
    topology: { vmType: "vmss", backendPool: "nodeIP" },
    tries: /Microsoft\.(Network|Resources)/,
    except: /Interfaces|Pools/,
  },
  { topology: { vmType: "vmss", backendPool: "nodeIPConfiguration" }, tries: /ScaleSets|Pools/, except: /^$/ },
  { topology: { vmType: "standard", backendPool: "nodeIPConfiguration" }, tries: /./, except: /^$/ },
] as const;

const TOUR: readonly Manifest[] = [
  { name: "outer" },
  {
    name: "inner",
    annotations: { "azure-load-balancer-internal": "true", "azure-load-balancer-internal-subnet": "subnet2" },
  },
  { name: "prefixed", annotations: { "azure-pip-prefix-id": "" } },
];

const LINKED: Manifest = {
  name: "linked",
  annotations: {
    "azure-load-balancer-internal": "true",
    "azure-pls-create": "true",
    "azure-pls-name": "link",
    "azure-pls-ip-configuration-subnet": "links",
  },
};

test("the role is enough for everything, and each of its actions is needed", async () => {
  let unneeded = tried(ACTIONS.filter((action) => !LINKS.test(action) && action !== MIGRATION));
  for (const { topology, tries, except } of SHAPES) {
    const rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 2, ...topology } } });
    try {
      await rig.services.put("publicIPPrefixes/prefix", {
        location: "westus2",
        sku: { name: "Standard" },
        properties: { prefixLength: 30 },
      });
      assert.deepEqual(await refusals(rig, ACTIONS), [], `with the whole role, ${JSON.stringify(topology)}`);
      const left: string[] = [];
      for (const action of unneeded) {
        const isTried = tries.test(action) && !except.test(action);
        const others = ACTIONS.filter((other) => other !== action);
        if (!isTried || (await refusals(rig, others)).length === 0) left.push(action);
      }
      unneeded = left;
    } finally {
      await rig.close();
    }
  }
  assert.deepEqual(unneeded, []);
});

test("with pools of addresses no write to machines is needed", async () => {
  const topology = { nodes: 2, vmType: "vmss", backendPool: "nodeIP" } as const;
  const rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology } });
  try {
    await rig.services.put("publicIPPrefixes/prefix", {
      location: "westus2",
      sku: { name: "Standard" },
      properties: { prefixLength: 30 },
    });
    const rest = ACTIONS.filter((action) => !/(ScaleSets|virtualMachines|networkInterfaces)\/write$/i.test(action));
    assert.equal(ACTIONS.length - rest.length, 3);
    assert.deepEqual(await refusals(rig, rest), []);
  } finally {
    await rig.close();
  }
});

test("each action for private link services is needed for one", async () => {
  const topology = { nodes: 1, vmType: "vmss", backendPool: "nodeIPConfiguration" } as const;
  const rig = await ServiceRig.open(openEmbeddedCluster, { azure: { topology } });
  try {
    const isRefused = async (): Promise<boolean> => (await auditOf(rig)).some(({ status }) => status === 403);
    for (const without of [undefined, ...tried(ACTIONS.filter((action) => LINKS.test(action)))]) {
      await rig.azure.control("DELETE", "/audit");
      await limit(
        rig,
        ACTIONS.filter((action) => action !== without),
      );
      await linkTour(rig, isRefused);
      assert.equal(await isRefused(), without !== undefined, without);
      if (without === undefined) continue;
      await limit(rig, ["*"]);
      await rig.delete(LINKED.name);
      await onlyLeft(rig, []);
    }
  } finally {
    await rig.close();
  }
});

test("the action that migrates pools is needed for that", async () => {
  const topology = { nodes: 1, vmType: "vmss", backendPool: "nodeIPConfiguration" } as const;
  const rig = await ServiceRig.open(openEmbeddedCluster, { azure: { topology } });
  const calls = async (): Promise<number[]> =>
    (await auditOf(rig)).filter(({ path }) => /migrateToIpBased$/i.test(path)).map(({ status }) => status);
  try {
    await rig.apply({ name: "web" });
    await rig.served("web");
    await rig.stop();
    rig.reconfigure({ loadBalancerBackendPoolConfigurationType: "nodeIP", enableMigrateToIPBasedBackendPoolAPI: true });
    for (const actions of [ACTIONS.filter((action) => action !== MIGRATION), ACTIONS]) {
      await rig.stop(); // its last refused call would stand in the new audit
      await rig.azure.control("DELETE", "/audit");
      await limit(rig, actions, { acceptedChange: "pool-type" });
      const expected = actions === ACTIONS ? 200 : 403;
      await eventually(async () => assert.ok((await calls()).includes(expected)), WITHIN_MS);
    }
    await eventually(async () => assert.deepEqual((await rig.plan()).steps, []), WITHIN_MS);
    assert.ok((await auditOf(rig)).every(({ status }) => status !== 403));
  } finally {
    await rig.close();
  }
});

/** A private link service in a subnet whose policies are on; it has a connection when its Service goes. */
async function linkTour(rig: ServiceRig, isOver: () => Promise<boolean>): Promise<void> {
  const reaches: Reaches = (assertion) =>
    eventually(async () => {
      if (!(await isOver())) await assertion();
    }, WITHIN_MS);
  await rig.put("virtualNetworks/vnet/subnets/links", {
    properties: {
      addressPrefix: "10.242.0.0/16",
      privateLinkServiceNetworkPolicies: "Enabled",
      networkSecurityGroup: { id: rig.networkPath("networkSecurityGroups/nsg") },
    },
  });
  await rig.apply(LINKED);
  const isThere = async (): Promise<boolean> => (await rig.list("privateLinkServices")).length === 1;
  await reaches(async () => assert.ok(await isThere()));
  if (!(await isThere())) return;
  await rig.put("privateLinkServices/link/privateEndpointConnections/pe", { properties: {} });
  await startDeleting(rig, [LINKED.name]);
  await reaches(async () => assert.equal((await addresses(rig)).size, 0));
}

async function auditOf(rig: ServiceRig): Promise<readonly AuditEntry[]> {
  const { entries } = (await rig.azure.control("GET", "/audit")) as { entries: AuditEntry[] };
  return entries;
}

/** The refused calls of a tour with these rights: none, or those until the first was seen. */
async function refusals(rig: AdminStateRig, actions: readonly string[]): Promise<readonly AuditEntry[]> {
  const since = await rig.sequence();
  await restart(rig, actions);
  const refused = async (): Promise<readonly AuditEntry[]> =>
    (await rig.audit(since)).filter(({ status }) => status === 403);
  const isDoomedBesideWrites = actions === ACTIONS || !actions.includes(READ_POOLS);
  await tour(rig, isDoomedBesideWrites, async () => (await refused()).length > 0);
  const found = await refused();
  if (found.length > 0) {
    await restart(rig, ["*"]);
    await cleanUp(rig);
  }
  return found;
}

function restart({ services }: AdminStateRig, actions: readonly string[]): Promise<void> {
  return limit(services, actions);
}

async function limit(
  rig: ServiceRig,
  actions: readonly string[],
  change: Parameters<ServiceRig["restart"]>[1] = {},
): Promise<void> {
  await rig.stop();
  const { clientId } = rig.azure.account;
  await rig.azure.control("PATCH", "/settings", { roles: { [clientId]: { actions } } });
  await rig.restart({}, change);
}

type Reaches = (assertion: () => Promise<void>) => Promise<void>;

/** Ends early when told that it is over. */
async function tour(rig: AdminStateRig, isDoomedBesideWrites: boolean, isOver: () => Promise<boolean>): Promise<void> {
  const { services, nodes } = rig;
  const reaches: Reaches = (assertion) =>
    eventually(async () => {
      if (!(await isOver())) await assertion();
    }, WITHIN_MS);
  const prefixId = services.networkPath("publicIPPrefixes/prefix");
  for (const { annotations = {}, ...manifest } of TOUR) {
    const known = "azure-pip-prefix-id" in annotations ? { "azure-pip-prefix-id": prefixId } : annotations;
    await services.apply({ ...manifest, annotations: known });
  }
  await reaches(async () => {
    const found = await addresses(services);
    for (const [name, ips] of found) assert.equal(ips.length, 1, `${name} has no address`);
  });
  if (isDoomedBesideWrites) await startWrites(rig, reaches);
  await rig.taint(nodes[0] ?? "", OUT_OF_SERVICE);
  await reaches(async () => {
    const states = Object.values(await rig.states()).flatMap((pool) => Object.values(pool));
    assert.equal(states.filter((state) => state === "Down").length, 2);
  });
  await services.azure.control("PATCH", "/settings", { latency: "none" });
  if (await isOver()) return;
  await startDeleting(
    services,
    TOUR.map(({ name }) => name),
  );
  await reaches(async () => assert.equal((await addresses(services)).size, 0));
  await rig.untaint(nodes[0] ?? "", OUT_OF_SERVICE);
}

/** Both load balancers are being written, and that takes a while: a drain that comes now reads pools by themselves. */
async function startWrites(rig: AdminStateRig, reaches: Reaches): Promise<void> {
  await rig.services.azure.control("PATCH", "/settings", { latency: "realistic" });
  const since = await rig.sequence();
  for (const { name } of TOUR.slice(0, 2)) await rig.services.patch(name, { spec: { ports: [{ port: 81 }] } });
  await reaches(async () => {
    const puts = (await rig.audit(since)).filter(
      ({ verb, path }) => verb === "PUT" && /loadBalancers\/[^/]+$/i.test(path),
    );
    assert.equal(new Set(puts.map(({ path }) => path)).size, 2);
  });
}

async function cleanUp(rig: AdminStateRig): Promise<void> {
  await rig.untaint(rig.nodes[0] ?? "", OUT_OF_SERVICE);
  const { items } = await rig.services.kube.list(SERVICES, { namespace: "default" });
  const there = new Set(items.map(({ metadata }) => metadata.name));
  await startDeleting(
    rig.services,
    TOUR.map(({ name }) => name).filter((name) => there.has(name)),
  );
  await onlyLeft(rig.services, []);
}
