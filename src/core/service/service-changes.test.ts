/** A Service that changes after it was served, round by round. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode } from "../../../test/support/core-world.ts";
import { destinationsOf } from "../resources/security-group/security-rules.ts";
import { isApplied } from "./applied-state.ts";
import {
  INTERNAL,
  NO_LONGER_INTERNAL,
  web,
  roundsOf,
  lastSteps,
  worldWith,
  ingressOf,
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
