import assert from "node:assert/strict";
import { test } from "node:test";

import { CoreWorld } from "../../../test/support/core-world.ts";
import * as fc from "../../../test/support/laws.ts";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { BackendPool, LoadBalancer, PublicIP } from "../model/arm.ts";
import { configurationChanges, type Change, type ConfigurationChange } from "./configuration-changes.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };

/** A settled cluster with `web` at a public and `inside` at a private address. */
function aWorld(config: Partial<ClusterConfig> = {}): CoreWorld {
  const world = new CoreWorld(config);
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.apply({ metadata: { name: "inside", annotations: INTERNAL }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  return world;
}

function changes(world: CoreWorld, change: Partial<ClusterConfig> = {}, accepted?: Change): ConfigurationChange[] {
  const { services, loadBalancers, publicIPs, config } = world;
  const cluster = { services: [...services.values()], classFilter: undefined, loadBalancers, publicIPs };
  return configurationChanges(cluster, { ...config, ...change }, accepted);
}

function facts(found: readonly ConfigurationChange[]): unknown[] {
  return found.map(({ change, configured, found: values, services }) => ({
    change,
    configured,
    found: values,
    services,
  }));
}

function editPublicIPs(world: CoreWorld, edit: (publicIP: PublicIP) => PublicIP): void {
  world.publicIPs = new Map([...world.publicIPs].map(([group, list]) => [group, list.map(edit)]));
}

const PROD = { clusterName: "prod", loadBalancerName: "prod" };
const RENAMED = {
  change: "cluster-name",
  configured: "prod",
  found: ["kubernetes"],
  services: ["default/inside", "default/web"],
};

test("another cluster name is refused with both names, the Services and what to do", () => {
  const found = changes(aWorld(), PROD);
  assert.deepEqual(facts(found), [RENAMED]);
  assert.equal(
    found[0]?.message,
    'the cluster name is "prod", but 2 published Services (default/inside, default/web) have "kubernetes" in Azure: ' +
      "nothing is written, neither to Azure nor to Services. To keep what is there, start with " +
      "--cluster-name=kubernetes; to change it, which may move addresses, start with --accept-change=cluster-name",
  );
});

test("the message names three Services and counts all", () => {
  const world = new CoreWorld();
  for (const name of ["a", "b", "c", "d"]) world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  assert.match(
    changes(world, PROD)[0]?.message ?? "",
    /4 published Services \(default\/a, default\/b, default\/c, …\) have/,
  );
});

test("the names of clusters differ by more than case", () => {
  assert.deepEqual(changes(aWorld(), { clusterName: "Kubernetes" }), []);
});

test("without a cluster tag the name of the pool tells, unless the load balancer has a pool of the configured name", () => {
  const world = aWorld();
  editPublicIPs(world, (publicIP) => ({ ...publicIP, tags: { "k8s-azure-service": "default/web" } }));
  assert.deepEqual(facts(changes(world, PROD)), [RENAMED]);
  const withPool = (body: LoadBalancer): LoadBalancer => ({
    ...body,
    properties: {
      ...body.properties,
      backendAddressPools: [...(body.properties.backendAddressPools ?? []), { name: "prod", properties: {} }],
    },
  });
  world.loadBalancers = world.loadBalancers.map(withPool);
  assert.deepEqual(changes(world, PROD), []);
});

test("the older tag tells as well, and a public IP that does not list the Service tells nothing", () => {
  const world = aWorld();
  editPublicIPs(world, ({ tags: { "k8s-azure-cluster-name": name = "", ...tags } = {}, ...rest }) => ({
    ...rest,
    tags: { ...tags, "kubernetes-cluster-name": `${name}-old` },
  }));
  assert.deepEqual(facts(changes(world)), [
    { ...RENAMED, configured: "kubernetes", found: ["kubernetes-old"], services: ["default/web"] },
  ]);
  editPublicIPs(world, (publicIP) => ({ ...publicIP, tags: { "k8s-azure-cluster-name": "theirs" } }));
  assert.deepEqual(changes(world), []);
});

test("a cluster without published Services passes, and so does what could not be read", () => {
  assert.deepEqual(changes(new CoreWorld(), PROD), []);
  const unpublished = new CoreWorld();
  unpublished.apply({ metadata: { name: "new" }, spec: { ports: [{ port: 80 }] } });
  assert.deepEqual(changes(unpublished, PROD), []);
  const unread = aWorld();
  unread.services.delete("default/inside");
  unread.publicIPs = new Map();
  assert.deepEqual(changes(unread, PROD), []);
});

test("what is left at an address that the Service no longer publishes does not count", () => {
  const world = aWorld();
  for (const [key, service] of world.services) {
    const ingress = [{ ip: "20.7.7.7" }];
    world.services.set(key, { ...service, status: { loadBalancer: { ingress } } });
  }
  assert.deepEqual(changes(world, PROD), []);
});

test("another cluster with Services of the same names in the same resource group does not count", () => {
  const theirs = aWorld();
  const ours = aWorld(PROD);
  for (const [key, service] of ours.services) {
    const { uid } = service.metadata;
    ours.services.set(key, { ...service, metadata: { ...service.metadata, uid: uid.replace(/^0/, "1") } });
  }
  theirs.services = ours.services;
  assert.deepEqual(changes(theirs, PROD), []);
});

test("another SKU is refused; a SKU that cannot be configured tells nothing", () => {
  const world = aWorld();
  const found = changes(world, { sku: "basic" });
  assert.deepEqual(facts(found), [{ ...RENAMED, change: "sku", configured: "basic", found: ["standard"] }]);
  assert.match(found[0]?.message ?? "", /set loadBalancerSku: standard in the cloud config; .*--accept-change=sku$/);
  world.loadBalancers = world.loadBalancers.map((body) => ({ ...body, sku: { name: "Gateway" } }));
  assert.deepEqual(changes(world, { sku: "basic" }), []);
});

test("another pool type is refused, unless the pools are empty or another tool fills them", () => {
  const world = aWorld();
  const interfaces = { poolType: "nodeIPConfiguration" } as const;
  const { change, configured, found } = { change: "pool-type", configured: "nodeIPConfiguration", found: ["nodeIP"] };
  assert.deepEqual(facts(changes(world, interfaces)), [{ ...RENAMED, change, configured, found }]);
  assert.deepEqual(changes(world, { ...interfaces, preConfiguredPools: "all" }), []);
  setPools(world, { backendIPConfigurations: [{ id: "nic" }] });
  assert.deepEqual(changes(world, interfaces), []);
  assert.deepEqual(facts(changes(world)), [{ ...RENAMED, change, configured: "nodeIP", found: [configured] }]);
  setPools(world, {});
  assert.deepEqual([changes(world), changes(world, interfaces)], [[], []]);
});

test("addresses under a private link service cannot be accepted", () => {
  const world = aWorld();
  setPools(world, { backendIPConfigurations: [{ id: "nic" }] });
  assert.deepEqual(changes(world, {}, "pool-type"), []);
  const link = { id: "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/privateLinkServices/pls" };
  world.loadBalancers = world.loadBalancers.map((body) => ({
    ...body,
    properties: {
      ...body.properties,
      frontendIPConfigurations: (body.properties.frontendIPConfigurations ?? []).map((frontend) => ({
        ...frontend,
        properties: { ...frontend.properties, ...(body.name.endsWith("-internal") && { privateLinkServices: [link] }) },
      })),
    },
  }));
  const found = changes(world, {}, "pool-type");
  assert.deepEqual(facts(found), [
    { change: "pool-type", configured: "nodeIP", found: ["nodeIPConfiguration"], services: ["default/inside"] },
  ]);
  assert.match(found[0]?.message ?? "", /private link service "pls" stands on .* Delete it first/);
  assert.deepEqual(changes(world, { poolType: "nodeIPConfiguration" }, "pool-type"), []);
});

test("rules on the second pool of a migration: it is not over, whichever type is configured", () => {
  const world = aWorld();
  world.loadBalancers = world.loadBalancers.map((body) => {
    const { loadBalancingRules = [], backendAddressPools = [] } = body.properties;
    const id = `${body.id}/backendAddressPools/kubernetes-migration`;
    const properties = {
      ...body.properties,
      backendAddressPools: [...backendAddressPools, { name: "kubernetes-migration", properties: {} }],
      loadBalancingRules: loadBalancingRules.map((rule) => ({
        ...rule,
        properties: { ...rule.properties, backendAddressPool: { id } },
      })),
    };
    return { ...body, properties };
  });
  for (const poolType of ["nodeIP", "nodeIPConfiguration"] as const) {
    assert.deepEqual(
      changes(world, { poolType }).map(({ change, configured }) => [change, configured]),
      [["pool-type", poolType]],
    );
    assert.deepEqual(changes(world, { poolType }, "pool-type"), []);
  }
});

const GROUP = "/subscriptions/sub/resourceGroups/old/providers/Microsoft.Network/loadBalancers/kubernetes";

test("another resource group is refused: the public IP tells on which load balancer it is", () => {
  const world = aWorld();
  world.services.delete("default/inside");
  const frontend = { id: `${GROUP}/frontendIPConfigurations/a` };
  editPublicIPs(world, (each) => ({ ...each, properties: { ...each.properties, ipConfiguration: frontend } }));
  assert.deepEqual(changes(world, { loadBalancerResourceGroup: "rg" }), [], "what is there counts first");
  world.loadBalancers = [];
  const found = changes(world, { loadBalancerResourceGroup: "new" });
  const { services, ...facts } = {
    change: "resource-group",
    configured: "new",
    found: ["old"],
    services: ["default/web"],
  };
  assert.deepEqual(
    found.map((each) => [each.change, each.configured, each.found, each.services]),
    [[facts.change, facts.configured, facts.found, services]],
  );
  assert.match(found[0]?.message ?? "", /set loadBalancerResourceGroup: old in the cloud config; .*=resource-group$/);
  assert.deepEqual(changes(world, { loadBalancerResourceGroup: "OLD" }), []);
  assert.deepEqual(changes(world, { loadBalancerResourceGroup: "new" }, "resource-group"), []);
});

test("another resource group is told by the member lists, unless something stands in the configured one", () => {
  const world = aWorld();
  const cluster = { services: [...world.services.values()], classFilter: undefined, publicIPs: new Map() };
  const inGroup = (loadBalancers: readonly LoadBalancer[], ...listedLoadBalancers: string[]) =>
    configurationChanges({ ...cluster, loadBalancers, listedLoadBalancers }, world.config, undefined);
  assert.deepEqual(
    inGroup([], GROUP).map(({ change, found, services }) => [change, found, services]),
    [["resource-group", ["old"], ["default/inside", "default/web"]]],
  );
  assert.deepEqual(inGroup(world.loadBalancers, GROUP), []);
  assert.deepEqual(inGroup([], GROUP, GROUP.replace("old", world.config.resourceGroup)), []);
  assert.deepEqual(inGroup([]), [], "nothing tells");
});

test("another VM type is refused where all members are scale-set instances", () => {
  const world = aWorld({ poolType: "nodeIPConfiguration" });
  const member = {
    id: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0",
  };
  setPools(world, { backendIPConfigurations: [member] });
  assert.deepEqual(facts(changes(world, { vmType: "standard" })), [
    { ...RENAMED, change: "vm-type", configured: "standard", found: ["vmss"] },
  ]);
  assert.deepEqual(changes(world), []);
  setPools(world, { backendIPConfigurations: [member, { id: "nic" }] });
  assert.deepEqual(changes(world, { vmType: "standard" }), []);
});

test("one accepted change does not let another through", () => {
  const both = { ...PROD, sku: "basic" } as const;
  assert.deepEqual(
    changes(aWorld(), both, "sku").map(({ change }) => change),
    ["cluster-name"],
  );
});

function setPools(world: CoreWorld, properties: BackendPool["properties"]): void {
  world.loadBalancers = world.loadBalancers.map((body) => ({
    ...body,
    properties: {
      ...body.properties,
      backendAddressPools: (body.properties.backendAddressPools ?? []).map((pool) => ({ ...pool, properties })),
    },
  }));
}

const service = fc.record({
  internal: fc.boolean(),
  families: fc.constantFrom(["IPv4"], ["IPv6"], ["IPv4", "IPv6"]),
  port: fc.constantFrom(80, 443),
  group: fc.constantFrom(undefined, "other"),
});

test("law: what was published with a configuration passes with it; any other cluster name is refused for all, unless accepted", () => {
  fc.assert(
    fc.property(
      fc.array(service, { maxLength: 4 }),
      fc.constantFrom("kubernetes", "prod", "a-IPv6"),
      fc.constantFrom("other", "kube", "kubernetes-2"),
      (shapes, clusterName, otherName) => {
        const world = new CoreWorld({ clusterName, loadBalancerName: clusterName });
        for (const [at, { internal, families, port, group }] of shapes.entries()) {
          const annotations = {
            ...(internal && INTERNAL),
            ...(group !== undefined && { [`${PREFIX}azure-load-balancer-resource-group`]: group }),
          };
          const spec = { ports: [{ port }], ipFamilies: families };
          world.apply({ metadata: { name: `s${at}`, annotations }, spec });
        }
        world.settle();
        const published = [...world.services].filter(([, { status }]) => status.loadBalancer.ingress?.length);
        assert.deepEqual(changes(world), []);
        const renamed = { clusterName: otherName, loadBalancerName: otherName };
        assert.deepEqual(
          changes(world, renamed).flatMap(({ services }) => services),
          published.map(([key]) => key).sort(),
        );
        assert.deepEqual(changes(world, renamed, "cluster-name"), []);
      },
    ),
    { numRuns: 100 },
  );
});
