/** Services that are created anew under the same names, with other UIDs: from a backup, or after a protected deletion. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { pinned } from "../../../test/support/service-rounds.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { OURS } from "../intent/annotations/ours.ts";
import type { Service } from "../model/kubernetes.ts";
import { keptFor, servicesOf } from "../model/tags.ts";
import { APPLIED_ANNOTATION } from "./applied-state.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const PROTECTED = { [OURS.deletionProtection.key]: "true" };
const DUAL = { ipFamilies: ["IPv4", "IPv6"], ports: [{ port: 80 }] };

function addressesIn(world: CoreWorld): Record<string, string[]> {
  return Object.fromEntries(
    [...world.services.values()].map(({ metadata, status }) => [
      metadata.name,
      (status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []),
    ]),
  );
}

/** As a backup has them: without status and finalizers, and each with a new UID; `marks`: with the controller's. */
function restore(world: CoreWorld, { marks = true, age = 1 } = {}): void {
  const restored = [...world.services].map(([key, service], at): [string, Service] => {
    const { [APPLIED_ANNOTATION]: mark, ...others } = service.metadata.annotations ?? {};
    const annotations = marks && mark !== undefined ? { ...others, [APPLIED_ANNOTATION]: mark } : others;
    const uid = `${String(age).padStart(8, "9")}-0000-4000-8000-${String(at).padStart(11, "0")}0`;
    const { name, namespace = "default" } = service.metadata;
    return [key, { ...service, metadata: { name, namespace, uid, annotations }, status: { loadBalancer: {} } }];
  });
  world.services = new Map(restored);
}

function publicIPNames(world: CoreWorld): string[] {
  return [...world.publicIPs.values()]
    .flat()
    .map(({ name }) => name)
    .sort();
}

function parts(world: CoreWorld): Record<string, [frontends: number, rules: number, probes: number]> {
  return Object.fromEntries(
    world.loadBalancers.map(({ name, properties }) => [
      name,
      [
        properties.frontendIPConfigurations?.length ?? 0,
        properties.loadBalancingRules?.length ?? 0,
        properties.probes?.length ?? 0,
      ],
    ]),
  );
}

/** External, internal, dual stack of both kinds, two that share an address, one at a user's public IP. */
function aCluster(config: Partial<ClusterConfig> = {}): CoreWorld {
  const world = new CoreWorld(config);
  world.putPublicIP("mine", { sku: { name: "Standard" } });
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.apply({ metadata: { name: "inside", annotations: INTERNAL }, spec: { ports: [{ port: 80 }] } });
  world.apply({ metadata: { name: "dual" }, spec: DUAL });
  world.apply({ metadata: { name: "dual-inside", annotations: INTERNAL }, spec: DUAL });
  world.apply({
    metadata: { name: "named", annotations: { [`${PREFIX}azure-pip-name`]: "mine" } },
    spec: { ports: [{ port: 80 }] },
  });
  world.apply({ metadata: { name: "first" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  const [shared = ""] = addressesIn(world)["first"] ?? [];
  world.apply({
    metadata: { name: "second", annotations: { [`${PREFIX}azure-load-balancer-ipv4`]: shared } },
    spec: { ports: [{ port: 443 }] },
  });
  assert.deepEqual(world.settle(), new Map());
  return world;
}

function isSettled(world: CoreWorld): void {
  for (const service of world.services.values()) assert.equal(world.decide(service).kind, "settled");
  assert.deepEqual(world.poolSteps(), []);
}

describe("a cluster that is restored with new UIDs", () => {
  test("no address changes, external and internal, shared, dual stack; nothing is left of the former rules", () => {
    const world = aCluster();
    const before = { addresses: addressesIn(world), names: publicIPNames(world), parts: parts(world) };
    restore(world);
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual({ addresses: addressesIn(world), names: publicIPNames(world), parts: parts(world) }, before);
    isSettled(world);
  });

  test("in whatever order they come", () => {
    const world = aCluster();
    const before = addressesIn(world);
    restore(world);
    world.services = new Map([...world.services].toReversed());
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual(addressesIn(world), before);
    isSettled(world);
  });

  test("twice", () => {
    const world = aCluster();
    const before = { addresses: addressesIn(world), names: publicIPNames(world), parts: parts(world) };
    restore(world, { age: 1 });
    world.settle();
    restore(world, { age: 2 });
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual({ addresses: addressesIn(world), names: publicIPNames(world), parts: parts(world) }, before);
    isSettled(world);
  });

  test("without the controller's marks, public addresses are found by their tags", () => {
    const world = aCluster();
    const before = addressesIn(world);
    restore(world, { marks: false });
    world.settle();
    const after = addressesIn(world);
    for (const name of ["web", "dual", "first", "second"]) assert.deepEqual(after[name], before[name], name);
  });

  test("a mark that is lost afterwards changes nothing", () => {
    const world = aCluster();
    const before = addressesIn(world);
    restore(world);
    world.settle();
    for (const name of Object.keys(before)) world.annotate(name, { [APPLIED_ANNOTATION]: null });
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual(addressesIn(world), before);
  });

  test("what they had goes with them when they are deleted afterwards", () => {
    const world = aCluster();
    restore(world);
    world.settle();
    for (const name of Object.keys(addressesIn(world))) world.delete(name);
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual([world.loadBalancers, publicIPNames(world)], [[], ["mine"]]);
  });

  test("a public IP of another cluster, of another Service, or made for a Service that exists is not taken", () => {
    for (const tags of [
      { "k8s-azure-service": "default/web", "k8s-azure-cluster-name": "other" },
      { "k8s-azure-service": "default/web" },
      { "k8s-azure-service": "default/api,default/web", "k8s-azure-cluster-name": "kubernetes" },
    ]) {
      const world = new CoreWorld();
      world.putPublicIP(`kubernetes-a${"0".repeat(30)}1`, { sku: { name: "Standard" }, tags });
      world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
      world.settle();
      assert.notDeepEqual(addressesIn(world)["web"], ["20.9.9.1"], JSON.stringify(tags));
    }
  });

  test("a public IP that was made for a Service which is no load balancer at present is not taken: it may become one again", () => {
    const world = new CoreWorld();
    world.apply({ metadata: { name: "maker" }, spec: { ports: [{ port: 80 }] } });
    world.settle();
    world.apply({ metadata: { name: "guest", annotations: pinned(world, "maker") }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    world.respec("maker", { type: "ClusterIP" });
    world.settle();
    world.annotate("guest", { [`${PREFIX}azure-load-balancer-ipv4`]: null });
    world.settle();
    const before = addressesIn(world)["guest"];
    world.respec("maker", { type: "LoadBalancer" });
    assert.equal(world.decide(world.service("guest")).kind, "settled");
    world.settle();
    assert.deepEqual(addressesIn(world)["guest"], before);
    assert.equal(new Set(Object.values(addressesIn(world)).flat()).size, 2, "each has an address of its own");
  });

  test("a Service that notes the UID of one that exists gets nothing of it", () => {
    const world = new CoreWorld();
    const victim = world.apply({
      metadata: { name: "victim", annotations: INTERNAL },
      spec: { ports: [{ port: 80 }] },
    });
    world.settle();
    const before = addressesIn(world)["victim"];
    const mark = { [APPLIED_ANNOTATION]: `changing uids=${victim.metadata.uid}` };
    world.apply({
      metadata: { name: "thief", annotations: { ...INTERNAL, ...mark } },
      spec: { ports: [{ port: 80 }] },
    });
    world.settle();
    assert.deepEqual(addressesIn(world)["victim"], before);
    assert.notDeepEqual(addressesIn(world)["thief"], before);
    isSettled(world);
  });
});

describe("deletion protection", () => {
  function aProtected(spec: object = { ports: [{ port: 80 }] }): CoreWorld {
    const world = new CoreWorld();
    world.apply({ metadata: { name: "web", annotations: PROTECTED }, spec });
    world.settle();
    return world;
  }

  test("the address stays when the Service goes, and the next of its name gets it back, also dual stack", () => {
    for (const spec of [{ ports: [{ port: 80 }] }, DUAL]) {
      const world = aProtected(spec);
      const before = addressesIn(world)["web"];
      world.delete("web");
      assert.deepEqual(world.settle(), new Map());
      const kept = [...world.publicIPs.values()].flat();
      assert.equal(world.services.size, 0);
      assert.deepEqual(world.loadBalancers, []);
      assert.deepEqual(new Set(kept.map((one) => keptFor(one))), new Set(["default/web"]));
      world.apply({ metadata: { name: "web" }, spec });
      world.settle();
      assert.deepEqual(addressesIn(world)["web"], before);
      assert.deepEqual(new Set([...world.publicIPs.values()].flat().map((one) => keptFor(one))), new Set([undefined]));
      isSettled(world);
      world.delete("web");
      world.settle();
      assert.deepEqual(publicIPNames(world), [], "it is not protected any more");
    }
  });

  test("a Service that only shares an address does not hold it", () => {
    const world = new CoreWorld();
    world.apply({ metadata: { name: "owner" }, spec: { ports: [{ port: 80 }] } });
    world.settle();
    const [shared = ""] = addressesIn(world)["owner"] ?? [];
    const annotations = { ...PROTECTED, [`${PREFIX}azure-load-balancer-ipv4`]: shared };
    world.apply({ metadata: { name: "guest", annotations }, spec: { ports: [{ port: 443 }] } });
    world.settle();
    world.delete("guest");
    world.settle();
    world.delete("owner");
    world.settle();
    assert.deepEqual(publicIPNames(world), []);
  });

  test("while it is kept, only Services of its namespace may name it; one that was there before stays", () => {
    const world = aProtected();
    const [address = ""] = addressesIn(world)["web"] ?? [];
    const [name = ""] = publicIPNames(world);
    const pinned = { [`${PREFIX}azure-load-balancer-ipv4`]: address };
    const ways = { pinned, named: { [`${PREFIX}azure-pip-name`]: name } };
    world.apply({
      metadata: { name: "guest", namespace: "early", annotations: pinned },
      spec: { ports: [{ port: 443 }] },
    });
    world.settle();
    world.delete("web");
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual(world.service("early/guest").status.loadBalancer.ingress?.[0]?.ip, address);
    world.delete("early/guest");
    world.settle();
    for (const [way, annotations] of Object.entries({
      ...ways,
      additional: { [`${PREFIX}azure-additional-public-ips`]: address },
    }))
      world.apply({ metadata: { name: way, namespace: "evil", annotations }, spec: { ports: [{ port: 9000 }] } });
    const rejected = world.settle();
    assert.deepEqual([...rejected.keys()].sort(), ["evil/additional", "evil/named", "evil/pinned"]);
    for (const { reason, message } of rejected.values()) {
      assert.equal(reason, "AddressTaken");
      assert.match(message, /default\/web/);
    }
    for (const way of ["pinned", "named", "additional"]) world.delete(`evil/${way}`);
    for (const [way, annotations] of Object.entries(ways))
      world.apply({
        metadata: { name: way, annotations },
        spec: { ports: [{ port: way === "pinned" ? 8000 : 8001 }] },
      });
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual(addressesIn(world)["named"], [address]);
  });

  test("the owner's protection holds while a guest comes and goes", () => {
    const world = aProtected();
    const [shared = ""] = addressesIn(world)["web"] ?? [];
    const annotations = { [`${PREFIX}azure-load-balancer-ipv4`]: shared };
    world.apply({ metadata: { name: "guest", annotations }, spec: { ports: [{ port: 443 }] } });
    world.settle();
    world.delete("web");
    world.settle();
    assert.deepEqual(addressesIn(world), { guest: [shared] });
    world.delete("guest");
    world.settle();
    const [kept] = [...world.publicIPs.values()].flat();
    assert.deepEqual([kept?.properties.ipAddress, kept && servicesOf(kept)], [shared, ["default/web"]]);
  });
});

test("another cluster name, which was accepted: internal Services leave the former load balancer, at the same addresses", () => {
  const first = new CoreWorld();
  for (const name of ["a", "b"])
    first.apply({ metadata: { name, annotations: INTERNAL }, spec: { ports: [{ port: 80 }] } });
  first.settle();
  const before = addressesIn(first);
  const { nodes, services, loadBalancers, publicIPs, securityGroup, members } = first;
  const world = new CoreWorld({ clusterName: "prod", loadBalancerName: "prod" });
  Object.assign(world, { nodes, services, loadBalancers, publicIPs, securityGroup, members });
  assert.deepEqual(world.settle(), new Map());
  assert.deepEqual(addressesIn(world), before);
  assert.deepEqual(Object.keys(parts(world)), ["prod-internal"]);
});
