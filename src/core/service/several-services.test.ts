/** Services that share an address. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import type { CoreWorld } from "../../../test/support/core-world.ts";
import { baseName, baseOf } from "../model/names.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import { destinationsOf } from "../resources/security-group/security-rules.ts";
import {
  lastSteps,
  web,
  roundsOf,
  rejectionOf,
  worldWith,
  ingressOf,
  pips,
  loadBalancers,
  pinned,
  INTERNAL,
  NO_LONGER_INTERNAL,
} from "../../../test/support/service-rounds.ts";

describe("several Services", () => {
  test("share an address; the frontend and the public IP live as long as the last of them", () => {
    const world = worldWith();
    world.settle();
    world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    assert.deepEqual(ingressOf(world, "shop"), ingressOf(world));
    world.delete("web");
    world.settle();
    assert.equal(world.loadBalancers[0]?.properties.frontendIPConfigurations?.length, 1);
    assert.equal(pips(world).length, 1);
    world.delete("shop");
    world.settle();
    assert.deepEqual([loadBalancers(world), pips(world)], [[], []]);
  });

  test("one that leaves a shared frontend is not told that it stays: the other may leave in the same write", () => {
    const world = worldWith();
    world.annotate("web", { [`${PREFIX}azure-load-balancer-internal`]: "true" });
    world.settle();
    const annotations = { [`${PREFIX}azure-load-balancer-internal`]: "true", ...pinned(world, "web") };
    world.apply({ metadata: { name: "shop", annotations }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-load-balancer-internal-subnet`]: "subnet2" });
    const told: string[] = [];
    let decision = world.decide(world.service("web"));
    assert.equal(decision.kind, "act");
    for (; decision.kind === "act"; decision = world.decide(world.service("web"))) {
      told.push(...decision.warnings.map(({ reason }) => reason));
      world.write(world.service("web"), decision.steps);
    }
    assert.deepEqual(told, []);
    assert.equal(world.loadBalancers[0]?.properties.frontendIPConfigurations?.length, 2, "the old one stays");
  });

  test("one that leaves its frontend to another keeps what it has open elsewhere, and settles", () => {
    const additional = { [`${PREFIX}azure-additional-public-ips`]: "7.7.7.7" };
    const internal = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
    const world = worldWith();
    world.respec("web", { loadBalancerSourceRanges: ["10.0.0.0/8"] });
    world.annotate("web", { ...internal, ...additional });
    world.settle();
    world.apply({
      metadata: { name: "shop", annotations: { ...internal, ...pinned(world, "web") } },
      spec: { ports: [{ port: 81 }] },
    });
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-load-balancer-internal-subnet`]: "subnet2" });
    assert.equal(roundsOf(world, "web").at(-1), "settled");
    const isOpened = world.securityGroup?.properties.securityRules?.some((rule) =>
      destinationsOf(rule).includes("7.7.7.7"),
    );
    assert.equal(isOpened, true);
  });

  test("one that asks for a taken port is rejected with the reason, and opens nothing", () => {
    const world = worldWith();
    world.settle();
    const before = world.securityGroup;
    world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 80 }] } });
    assert.equal(roundsOf(world, "shop").at(-1), "PortConflict");
    assert.equal(world.securityGroup, before);
    assert.equal(
      rejectionOf(world, "shop").message,
      "TCP port 80 is taken on the address that it shares by Service default/web: use another port in spec.ports, or another address",
    );
  });
});

describe("ports of a shared address", () => {
  const noRule = { [`${PREFIX}port_5432_no_lb_rule`]: "true" };
  const ranges = { loadBalancerSourceRanges: ["203.0.113.0/24"] };
  const tcp = (port: number) => ({ name: `p${port}`, port, protocol: "TCP" as const });

  test("a port without a rule opens nothing that another Service there restricts", () => {
    const world = worldWith({ ...web, spec: { ports: [{ port: 5432 }], ...ranges } });
    world.settle();
    const before = world.securityGroup;
    const spec = { ports: [{ port: 9999 }, { port: 5432 }] };
    world.apply({ metadata: { name: "thief", annotations: { ...pinned(world, "web"), ...noRule } }, spec });
    assert.equal(roundsOf(world, "thief").at(-1), "PortConflict");
    assert.equal(world.securityGroup, before);
    assert.deepEqual(ingressOf(world, "thief"), []);
  });

  test("a restricted port does not join an address where another Service opens it without a rule", () => {
    const opener = { ...web, metadata: { name: "web", annotations: noRule } };
    const world = worldWith({ ...opener, spec: { ports: [{ port: 80 }, { port: 5432 }] } });
    world.settle();
    world.apply({
      metadata: { name: "shop", annotations: pinned(world, "web") },
      spec: { ports: [{ port: 5432 }], ...ranges },
    });
    assert.equal(roundsOf(world, "shop").at(-1), "PortConflict");
    assert.equal(world.decide(world.service("web")).kind, "settled", "the one that was there first is served on");
  });

  test("a Service that has its port without a rule is not refused because an older one asks for it later, whether or not that gets it", () => {
    for (const isRefused of [false, true]) {
      const world = worldWith();
      world.settle();
      const guest = { name: "guest", annotations: { ...pinned(world, "web"), ...noRule } };
      world.apply({ metadata: guest, spec: { ports: [{ port: 5432 }], ...ranges } });
      world.settle();
      world.respec("web", { ports: [80, 5432].map(tcp) });
      if (isRefused) world.annotate("web", { [`${PREFIX}azure-pip-name`]: "nobody-made-it" });
      assert.equal(roundsOf(world, "web").at(-1), isRefused ? "PublicIPNotFound" : "settled");
      assert.equal(world.decide(world.service("guest")).kind, "settled");
      world.annotate("guest", { [`${PREFIX}port_9000_no_lb_rule`]: "true" });
      world.respec("guest", { ports: [5432, 9000].map(tcp) });
      assert.equal(rejectionOf(world, "guest").reason, "PortConflict", "nothing more is opened for it");
    }
  });

  test("nor does one that is served elsewhere with a rule for that port", () => {
    const opener = { ...web, metadata: { name: "web", annotations: noRule } };
    const world = worldWith({ ...opener, spec: { ports: [{ port: 80 }, { port: 5432 }] } });
    world.apply({ metadata: { name: "shop" }, spec: { ports: [{ port: 5432 }], ...ranges } });
    world.settle();
    const before = ingressOf(world, "shop");
    world.annotate("shop", pinned(world, "web"));
    assert.equal(roundsOf(world, "shop").at(-1), "PortConflict");
    assert.deepEqual(ingressOf(world, "shop"), before, "it keeps its address");
    assert.equal(world.decide(world.service("web")).kind, "settled", "the one that was there first is served on");
  });
});

test("a Service that asks for an address and has not got it keeps nothing open there when the holder goes", () => {
  const world = worldWith();
  const opened = (): string[] => (world.securityGroup?.properties.securityRules ?? []).flatMap(destinationsOf);
  world.settle();
  const [{ ip = "" } = {}] = ingressOf(world);
  const annotations = pinned(world, "web");
  assert.ok(opened().includes(ip));
  world.delete("web");
  const asker = world.apply({ metadata: { name: "asker", annotations }, spec: { ports: [{ port: 80 }] } });
  const steps = lastSteps(world.decide(asker));
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ["addFinalizer"],
  );
  world.write(asker, steps);
  assert.equal(roundsOf(world, "web").at(-1), "gone");
  assert.ok(!opened().includes(ip), opened().join(", "));
});

describe("a Service whose rules another client removed from the address that it shares", () => {
  function sharedWorld(annotations: Readonly<Record<string, string>>): CoreWorld {
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    world.settle();
    world.apply({
      metadata: { name: "shop", annotations: { ...annotations, ...pinned(world, "web") } },
      spec: { ports: [{ port: 81 }] },
    });
    world.settle();
    return world;
  }

  function worldWithoutRules(annotations: Readonly<Record<string, string>>): CoreWorld {
    const world = sharedWorld(annotations);
    const { uid } = world.service("shop").metadata;
    world.loadBalancers = world.loadBalancers.map((seen) => {
      const isLeft = ({ name }: { readonly name: string }): boolean => baseOf(name) !== baseName(uid).toLowerCase();
      const { loadBalancingRules = [], probes = [] } = seen.properties;
      const left = { loadBalancingRules: loadBalancingRules.filter(isLeft), probes: probes.filter(isLeft) };
      return { ...seen, properties: { ...seen.properties, ...left } };
    });
    return world;
  }
  const frontends = (world: CoreWorld): string[] =>
    world.loadBalancers.flatMap(({ properties }) =>
      (properties.frontendIPConfigurations ?? []).map(({ name }) => name),
    );
  /** What the Service's next rounds write to its load balancer, decided now. */
  const fragmentOf = (world: CoreWorld, name: string): LoadBalancerFragment => {
    for (let round = 0; round < 5; round++) {
      const service = world.service(name);
      const steps = lastSteps(world.decide(service));
      const found = steps.find((step) => step.kind === "loadBalancer");
      if (found !== undefined) return found.fragment;
      world.write(service, steps);
    }
    return assert.fail(`${name} writes no load balancer`);
  };
  const shopsOnly = (world: CoreWorld): string[] => [roundsOf(world, "shop").at(-1) ?? "", ...frontends(world)];

  for (const [kind, annotations] of [
    ["public", {}],
    ["internal", INTERNAL],
  ] as const) {
    test(`keeps its ${kind} address when the Service that it shares it with goes, and takes it along when it goes itself`, () => {
      const world = worldWithoutRules(annotations);
      const before = frontends(world);
      const ingress = ingressOf(world);
      world.delete("web");
      assert.equal(roundsOf(world, "web").at(-1), "gone");
      assert.deepEqual(frontends(world), before);
      assert.equal(roundsOf(world, "shop").at(-1), "settled");
      assert.deepEqual(ingressOf(world, "shop"), ingress);
      world.delete("shop");
      world.settle();
      assert.deepEqual([loadBalancers(world), pips(world)], [[], []]);
    });

    test(`keeps its ${kind} address in the same write in which the other leaves`, () => {
      const world = sharedWorld(annotations);
      const before = frontends(world);
      world.annotate("shop", { [`${PREFIX}port_81_no_lb_rule`]: "true" });
      world.delete("web");
      const leave = fragmentOf(world, "web");
      const stay = fragmentOf(world, "shop");
      const [seen] = world.loadBalancers;
      const { outcome } = mergeLoadBalancer(seen, [leave, stay]);
      const body = outcome.kind === "put" ? outcome.body : assert.fail(outcome.kind);
      assert.deepEqual(
        (body.properties.frontendIPConfigurations ?? []).map(({ name }) => name),
        before,
      );
    });
  }

  test("is deleted before its rules are back: nothing is left", () => {
    const world = worldWithoutRules(INTERNAL);
    world.delete("web");
    assert.equal(roundsOf(world, "web").at(-1), "gone");
    assert.equal(frontends(world).length, 1);
    world.delete("shop");
    assert.equal(roundsOf(world, "shop").at(-1), "gone");
    assert.deepEqual(loadBalancers(world), []);
  });

  test("and moves to the other kind: nothing is left", () => {
    const world = worldWithoutRules(INTERNAL);
    world.delete("web");
    assert.equal(roundsOf(world, "web").at(-1), "gone");
    world.annotate("shop", { ...NO_LONGER_INTERNAL, [`${PREFIX}azure-load-balancer-ipv4`]: null });
    assert.equal(roundsOf(world, "shop").at(-1), "settled");
    assert.deepEqual(loadBalancers(world), ["kubernetes"]);
  });

  test("keeps its address when the other asks for another one", () => {
    const world = worldWithoutRules(INTERNAL);
    const before = frontends(world);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.5" });
    assert.equal(roundsOf(world, "web").at(-1), "FrontendShared");
    assert.match(rejectionOf(world, "web").message, /because Service default\/shop uses frontend/);
    assert.deepEqual(shopsOnly(world), ["settled", ...before]);
    assert.deepEqual(ingressOf(world, "shop"), ingressOf(world));
  });

  test("asks for no rule at all: the address stays too", () => {
    const world = worldWithoutRules(INTERNAL);
    world.annotate("shop", { [`${PREFIX}port_81_no_lb_rule`]: "true" });
    world.settle();
    const before = frontends(world);
    world.delete("web");
    assert.equal(roundsOf(world, "web").at(-1), "gone");
    assert.deepEqual(shopsOnly(world), ["settled", ...before]);
  });
});
