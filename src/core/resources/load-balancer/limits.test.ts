import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../../test/support/core-world.ts";
import { aFragment, aFrontend, aLoadBalancer, anOwner, aRule } from "../../../../test/support/fragments.ts";
import type { LoadBalancerLimits } from "../../config/cluster-config.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { limitsOf } from "./limits.ts";
import { mergeLoadBalancer } from "./merge-load-balancer.ts";

const FEW: LoadBalancerLimits = { ...CONFIG.loadBalancerLimits, frontends: 3, rules: 4 };
const [one, two, three, four] = [anOwner("one"), anOwner("two"), anOwner("three"), anOwner("four")];

function fragment(owner: typeof one, ports: readonly number[], limits = FEW): LoadBalancerFragment {
  return { ...aFragment(owner, { ports }), limits };
}

function answers(seen: Parameters<typeof mergeLoadBalancer>[0], ...fragments: LoadBalancerFragment[]) {
  return mergeLoadBalancer(seen, fragments).answers.map((answer) =>
    answer.kind === "refused" ? answer.rejection.message : answer.kind,
  );
}

function merged(seen: Parameters<typeof mergeLoadBalancer>[0], ...fragments: LoadBalancerFragment[]) {
  const { outcome } = mergeLoadBalancer(seen, fragments);
  return outcome.kind === "put" ? outcome.body : assert.fail(outcome.kind);
}

describe("the fragments of a batch are counted together", () => {
  test("frontends: the first that fit are served, the next is told which limit, and the setting", () => {
    const batch = [one, two, three, four].map((owner) => fragment(owner, [80]));
    const told = answers(undefined, ...batch);
    assert.deepEqual(told.filter((answer) => answer === "accepted").length, 3);
    assert.match(
      told.join(),
      /load balancer "kubernetes" has no room: it would have more than the 3 frontends that Azure allows: remove Services, or share an address\. If Azure allows you more, set frontends in loadBalancerLimits/,
    );
    assert.deepEqual(answers(undefined, ...batch.toReversed()), told.toReversed());
    assert.equal(merged(undefined, ...batch).properties.frontendIPConfigurations?.length, 3);
  });

  test("rules: a Service with many ports is refused as a whole, and smaller ones find room", () => {
    const seen = merged(undefined, fragment(one, [80, 81]));
    const told = answers(seen, fragment(two, [80, 81, 82]), fragment(three, [80]));
    assert.match(told[0] ?? "", /it would have more than the 4 rules that Azure allows: remove Services or ports/);
    assert.equal(told[1], "accepted");
  });

  test("NAT rules count, and a Service that grows on a full load balancer keeps what it has", () => {
    const seen = merged(undefined, fragment(one, [80, 81]), fragment(two, [80]));
    const nat = { name: "ssh", properties: {} };
    const full = { ...seen, properties: { ...seen.properties, inboundNatRules: [nat] } };
    const grown = fragment(two, [80, 443]);
    assert.match(answers(full, grown)[0] ?? "", /more than the 4 rules/);
    assert.equal(mergeLoadBalancer(full, [grown]).outcome.kind, "unchanged");
    assert.deepEqual(answers(full, fragment(two, [443]), fragment(one, [81])), ["accepted", "accepted"]);
  });

  test("room that one gives back in the same write is there for another; beyond the limit all but growth goes on", () => {
    const seen = merged(undefined, fragment(one, [80, 81, 82, 83]));
    assert.deepEqual(answers(seen, fragment(two, [80]), fragment(one, [80])), ["accepted", "accepted"]);
    const less = { ...FEW, rules: 2 };
    assert.deepEqual(answers(seen, fragment(one, [80, 81, 82], less)), ["accepted"]);
    assert.deepEqual(answers(seen, fragment(one, [80, 81, 82, 84], less)), ["accepted"]);
  });

  test("one that may go elsewhere is placed anew instead of being refused, and takes no room from others", () => {
    const seen = merged(undefined, fragment(one, [80, 81]));
    const large = { ...fragment(two, [80, 81, 82]), mayGoElsewhere: true };
    assert.deepEqual(answers(seen, large, fragment(three, [80, 81])), ["stale", "accepted"]);
  });

  test("one that is refused for another reason takes no room", () => {
    const seen = aLoadBalancer({
      frontends: [aFrontend("office"), aFrontend("desk")],
      rules: [aRule("office-rule", "office", 80)],
      pools: ["kubernetes"],
    });
    const clash = { ...aFragment(one, { ports: [80], frontend: "office" }), limits: { ...FEW, rules: 2 } };
    const told = answers(seen, clash, fragment(two, [80], { ...FEW, rules: 2 }));
    assert.match(told[0] ?? "", /port 80 is taken/);
    assert.equal(told[1], "accepted");
  });
});

test("rules per interface: pools of interfaces only, together with the twin", () => {
  const twin = { ...merged(undefined, fragment(one, [80, 81])), name: "kubernetes-internal" };
  const config = { ...CONFIG, loadBalancerLimits: { ...FEW, rulesPerInterface: 3 } };
  const of = (poolType: typeof CONFIG.poolType): number =>
    limitsOf({ config: { ...config, poolType }, nodes: [], loadBalancers: [twin] }, "kubernetes").rulesPerInterface;
  assert.equal(of("nodeIP"), Number.POSITIVE_INFINITY);
  assert.equal(of("nodeIPConfiguration"), 1);
  const interfaces = { ...config, poolType: "nodeIPConfiguration" } as const;
  const limits = limitsOf({ config: interfaces, nodes: [], loadBalancers: [twin] }, "kubernetes");
  assert.match(
    answers(undefined, fragment(two, [80, 81], limits))[0] ?? "",
    /more than the 1 rules for each network interface/,
  );
});

test("rules times members: so many rules as the nodes leave room for; none is counted where another tool fills the pools", () => {
  const nodes = [aNode("one", ["10.0.0.4"]), aNode("two", ["10.0.0.5"])];
  const config = { ...CONFIG, loadBalancerLimits: { ...FEW, backends: 5 } };
  const limits = limitsOf({ config, nodes, loadBalancers: [] }, "kubernetes");
  assert.match(
    answers(undefined, fragment(one, [80, 81, 82], limits))[0] ?? "",
    /more than the 2 rules with so many nodes that Azure allows: remove Services, ports or nodes/,
  );
  const filledByOthers = { ...config, preConfiguredPools: "all" } as const;
  const free = limitsOf({ config: filledByOthers, nodes, loadBalancers: [] }, "kubernetes");
  assert.deepEqual(answers(undefined, fragment(one, [80, 81, 82], free)), ["accepted"]);
});

test("a Service that will find no room gets no public IP, also while the older ones are still to come", () => {
  const world = new CoreWorld({ loadBalancerLimits: FEW });
  for (const name of ["a", "b", "c", "d"]) world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
  const last = world.service("d");
  world.write(
    last,
    stepsOf(world.decide(last)).filter(({ kind }) => kind === "addFinalizer"),
  );
  const decision = world.decide(world.service("d"));
  assert.ok(decision.kind === "reject", decision.kind);
  assert.equal(decision.rejection.reason, "LoadBalancerFull");
  assert.deepEqual(
    [...world.settle()].map(([name, { reason }]) => [name, reason]),
    [["d", "LoadBalancerFull"]],
  );
  assert.equal(world.publicIPs.get("rg")?.length, 3);
  world.delete("a");
  assert.deepEqual(world.settle(), new Map());
});

test("Services of a class that another controller serves take no room here", () => {
  for (const fleetMax of [1, 2]) {
    const world = new CoreWorld({ fleetMax, loadBalancerLimits: { ...FEW, frontends: 1 } });
    const spec = { ports: [{ port: 80 }], loadBalancerClass: "example.com/other" };
    for (const name of ["x", "y", "z"]) world.apply({ metadata: { name }, spec });
    world.apply({ metadata: { name: "ours" }, spec: { ports: [{ port: 80 }] } });
    assert.deepEqual(world.settle(), new Map());
    assert.deepEqual(
      world.loadBalancers.map(({ name }) => name),
      ["kubernetes"],
    );
  }
});

function stepsOf(decision: ReturnType<CoreWorld["decide"]>) {
  return decision.kind === "act" ? decision.steps : assert.fail(decision.kind);
}
