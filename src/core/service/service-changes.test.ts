/** A Service that changes after it was served, round by round. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, type CoreWorld } from "../../../test/support/core-world.ts";
import type { Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import { destinationsOf, withDestinations } from "../resources/security-group/security-rules.ts";
import { isApplied } from "./applied-state.ts";
import {
  INTERNAL,
  NO_LONGER_INTERNAL,
  web,
  roundsOf,
  lastSteps,
  worldWith,
  ingressOf,
  pinned,
  pipOf,
  pips,
  loadBalancers,
} from "../../../test/support/service-rounds.ts";

describe("a Service changes", () => {
  test("a change is announced, applied and marked; nothing else is written", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { sessionAffinity: "ClientIP" });
    assert.deepEqual(roundsOf(world, "web"), ["updateStatus", "loadBalancer kubernetes", "updateStatus", "settled"]);
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("a change back in the middle is not taken for drift", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { sessionAffinity: "ClientIP" });
    const service = world.service("web");
    world.write(service, lastSteps(world.decide(service)));
    world.respec("web", { sessionAffinity: "None" });
    assert.ok(!isApplied(world.service("web"), world.config));
    assert.deepEqual(roundsOf(world, "web"), ["updateStatus", "settled"]);
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("an address that was opened but never told is closed before the frontend moves to another", () => {
    const world = worldWith({
      metadata: { name: "web", annotations: INTERNAL },
      spec: { ports: [{ port: 80 }], loadBalancerSourceRanges: ["10.0.0.0/8"] },
    });
    for (const told of ["addFinalizer", "loadBalancer", "securityGroup"]) {
      const service = world.service("web");
      const steps = lastSteps(world.decide(service)).filter(({ kind }) => kind === told);
      assert.equal(steps.length, 1, told);
      world.write(service, steps);
    }
    assert.equal(world.securityGroup?.properties.securityRules?.length, 2);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.6" });
    assert.equal(roundsOf(world, "web").at(-1), "settled");
    const opened = (world.securityGroup?.properties.securityRules ?? []).slice(1).flatMap(destinationsOf);
    assert.deepEqual(opened, ["10.240.200.6"]);
  });

  test("retyped at any point of a change of its internal address, nothing stays open, and nothing foreign is closed", () => {
    const annotations = { ...INTERNAL, [`${PREFIX}azure-allowed-ip-ranges`]: "10.1.0.0/16" };
    const pin = { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.6" };
    const foreign = "10.99.0.1";
    const changed = (rounds: number): CoreWorld => {
      const world = worldWith({ ...web, metadata: { name: "web", annotations } });
      world.settle();
      addForeignDestination(world, foreign);
      world.annotate("web", pin);
      for (let round = 0; round < rounds; round++) {
        const service = world.service("web");
        world.write(service, lastSteps(world.decide(service)));
      }
      return world;
    };
    const all = roundsOf(changed(0), "web").length;
    assert.ok(all >= 5, String(all));
    for (let rounds = 0; rounds < all; rounds++) {
      const world = changed(rounds);
      retype(world, "web");
      assert.equal(roundsOf(world, "web").at(-1), "settled");
      const opened = (world.securityGroup?.properties.securityRules ?? []).slice(1).flatMap(destinationsOf);
      assert.deepEqual(opened, [foreign], `after ${rounds} rounds`);
    }
  });

  test("the rules of an address that the Service leaves stay open until its frontend has another", () => {
    const annotations = { ...INTERNAL, [`${PREFIX}azure-allowed-ip-ranges`]: "10.1.0.0/16" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    world.settle();
    const [{ ip: former = "" } = {}] = ingressOf(world);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.6" });
    const service = (): Service => world.service("web");
    world.write(service(), lastSteps(world.decide(service())));
    world.write(service(), lastSteps(world.decide(service())));
    const [, rule] = world.securityGroup?.properties.securityRules ?? [];
    const base = baseName(service().metadata.uid);
    assert.match(rule?.name ?? "", new RegExp(`^k8s-azure-lb_${base}_allow_IPv4_`));
    assert.deepEqual(rule && [destinationsOf(rule), rule.properties.destinationPortRanges], [[former], ["80"]]);
    assert.deepEqual(
      lastSteps(world.decide(service())).map(({ kind }) => kind),
      ["loadBalancer"],
    );
    assert.equal(roundsOf(world, "web").at(-1), "settled");
    const rules = (world.securityGroup?.properties.securityRules ?? []).slice(1);
    assert.deepEqual(rules.map(destinationsOf), [["10.240.200.6"]]);
    assert.match(rules[0]?.name ?? "", /^k8s-azure-lb_allow_IPv4_/);
  });

  test("a Service that leaves an address that it shares is closed there, retyped or not; the other stays open", () => {
    const ranges = { [`${PREFIX}azure-allowed-ip-ranges`]: "10.1.0.0/16" };
    for (let rounds = 0; rounds < 8; rounds++) {
      const world = worldWith({ ...web, metadata: { name: "web", annotations: { ...INTERNAL, ...ranges } } });
      world.settle();
      const annotations = { ...INTERNAL, ...ranges, ...pinned(world, "web") };
      world.apply({ metadata: { name: "shop", annotations }, spec: { ports: [{ port: 81 }] } });
      world.settle();
      world.annotate("shop", { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.6" });
      for (let round = 0; round < rounds; round++) {
        const service = world.service("shop");
        world.write(service, lastSteps(world.decide(service)));
      }
      retype(world, "shop");
      assert.equal(roundsOf(world, "shop").at(-1), "settled");
      const rules = (world.securityGroup?.properties.securityRules ?? []).slice(1);
      const opened = rules.map((rule) => [destinationsOf(rule), rule.properties.destinationPortRanges]);
      assert.deepEqual(opened, [[[ingressOf(world)[0]?.ip], ["80"]]], `after ${rounds} rounds`);
    }
  });

  test("external to internal: the new side is published before the old one goes, and nothing stays", () => {
    const world = worldWith();
    world.settle();
    const pip = pipOf(world);
    world.annotate("web", INTERNAL);
    assert.deepEqual(roundsOf(world, "web"), [
      "updateStatus",
      "loadBalancer kubernetes-internal",
      "backendPool kubernetes-internal",
      "updateStatus",
      "securityGroup nsg",
      "loadBalancer kubernetes",
      `publicIP ${pip}`,
      "updateStatus",
      "settled",
    ]);
    assert.deepEqual([loadBalancers(world), pips(world)], [["kubernetes-internal"], []]);
    assert.equal(world.securityGroup?.properties.securityRules?.length, 1);
  });

  test("and back again", () => {
    const world = worldWith({ ...web, metadata: { name: "web", annotations: INTERNAL } });
    world.settle();
    world.annotate("web", NO_LONGER_INTERNAL);
    const rounds = roundsOf(world, "web");
    assert.ok(rounds.indexOf("loadBalancer kubernetes") < rounds.indexOf("loadBalancer kubernetes-internal"));
    assert.deepEqual(loadBalancers(world), ["kubernetes"]);
  });

  test("from two families to one: the public IP of the other goes too", () => {
    const world = worldWith({ ...web, spec: { ...web.spec, ipFamilies: ["IPv4", "IPv6"] } });
    world.settle();
    assert.equal(pips(world).length, 2);
    world.respec("web", { ipFamilies: ["IPv4"] });
    world.settle();
    assert.deepEqual(pips(world), [pipOf(world)]);
  });

  test("other IP tags: the public IP is replaced, closed and detached first", () => {
    const world = worldWith();
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-pip-ip-tags`]: "RoutingPreference=Internet" });
    const pip = `publicIP ${pipOf(world)}`;
    assert.deepEqual(roundsOf(world, "web").slice(0, 5), [
      "updateStatus",
      "securityGroup nsg",
      "loadBalancer kubernetes",
      pip,
      pip,
    ]);
    assert.deepEqual([...world.publicIPs.values()].flat()[0]?.properties.ipTags, [
      { ipTagType: "RoutingPreference", tag: "Internet" },
    ]);
  });

  test("public IPs move to another resource group, and back, and none is left behind even after a crash", () => {
    const world = worldWith({
      ...web,
      metadata: { name: "web", annotations: { [`${PREFIX}azure-load-balancer-resource-group`]: "far" } },
    });
    world.settle();
    assert.equal(world.publicIPs.get("far")?.length, 1);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-resource-group`]: "further" });
    for (let round = 0; round < 4; round++)
      world.write(world.service("web"), lastSteps(world.decide(world.service("web"))));
    // The controller starts anew and has not looked anywhere but where the Service itself leads it.
    world.forget();
    world.settle();
    assert.deepEqual([world.publicIPs.get("far")?.length, world.publicIPs.get("further")?.length], [0, 1]);
  });

  test("Basic: to another VM set's load balancer, with its address: the old one is left first", () => {
    const providerID = (set: string): string =>
      `azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/0`;
    const world = worldWith(web, { sku: "basic", poolType: "nodeIPConfiguration", primaryVmSet: "as-1" });
    world.nodes = ["as-1", "as-2"].map((set, at) =>
      aNode(`node-${at}`, [`10.240.0.${at + 4}`], { providerID: providerID(set) }),
    );
    world.settle();
    const address = ingressOf(world);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-mode`]: "as-2" });
    const rounds = roundsOf(world, "web");
    assert.ok(rounds.indexOf("loadBalancer kubernetes") < rounds.indexOf("loadBalancer as-2"));
    assert.deepEqual([loadBalancers(world), ingressOf(world)], [["as-2"], address]);
  });
});

/** Annotations that share the other Service's address. */

/** As the API server does it: a Service that is no LoadBalancer has no addresses in its status. */
function retype(world: CoreWorld, name: string): void {
  const service = world.respec(name, { type: "ClusterIP" });
  world.services.set(`default/${name}`, { ...service, status: { loadBalancer: {} } });
}

/** Another cluster shares the rule. */
function addForeignDestination(world: CoreWorld, address: string): void {
  const group = world.securityGroup ?? assert.fail();
  const [first, ...rules] = group.properties.securityRules ?? [];
  const shared = rules.map((rule) => withDestinations(rule, [...destinationsOf(rule), address]));
  world.securityGroup = {
    ...group,
    properties: { ...group.properties, securityRules: [...(first === undefined ? [] : [first]), ...shared] },
  };
}
