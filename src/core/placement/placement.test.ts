/** Which load balancer a Service is placed on, and which nodes each has. */
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { LoadBalancerConfig } from "../config/cluster-config.ts";
import { parseLabelSelector } from "../util/label-selector.ts";
import { arrangeNodes, type ArrangedNode } from "./arrange-nodes.ts";
import { chooseLoadBalancer, Occupancy } from "./choose-load-balancer.ts";
import { type Applicant, eligibleLoadBalancers } from "./eligible-load-balancers.ts";

interface Wanted {
  readonly closed?: boolean;
  readonly labels?: Record<string, string>;
  readonly namespace?: Record<string, string>;
  readonly nodes?: Record<string, string>;
}

function lb(
  name: string,
  primaryVmSet: string,
  { closed = false, labels, namespace, nodes }: Wanted = {},
): LoadBalancerConfig {
  const selector = (matchLabels: Record<string, string> | undefined) =>
    matchLabels && parseLabelSelector({ matchLabels }).selector;
  return {
    name,
    primaryVmSet,
    allowServicePlacement: !closed,
    serviceSelector: selector(labels),
    namespaceSelector: selector(namespace),
    nodeSelector: selector(nodes),
  };
}

function eligible(loadBalancers: readonly LoadBalancerConfig[], applicant: Partial<Applicant>): string[] | string {
  const whole = { labels: {}, namespaceLabels: {}, named: undefined, current: undefined, ...applicant };
  const found = eligibleLoadBalancers(loadBalancers, whole);
  return "kind" in found ? found.message : found.map(({ name }) => name);
}

test("the annotation limits the choice, without case; unknown names are left out", () => {
  const both = [lb("kubernetes", "a"), lb("lb2", "b")];
  assert.deepEqual(eligible(both, {}), ["kubernetes", "lb2"]);
  assert.deepEqual(eligible(both, { named: ["LB2", "lb9"] }), ["lb2"]);
  assert.match(String(eligible(both, { named: ["lb9"] })), /names "lb9", but the cloud config has "kubernetes", "lb2"/);
});

test("a closed load balancer takes no new Service, and keeps those that it has", () => {
  const both = [lb("kubernetes", "a"), lb("lb2", "b", { closed: true })];
  assert.deepEqual(eligible(both, {}), ["kubernetes"]);
  assert.deepEqual(eligible(both, { current: "lb2" }), ["kubernetes", "lb2"]);
  assert.match(
    String(eligible(both, { named: ["lb2"] })),
    /"lb2" \(allowServicePlacement is false\).*change annotation/,
  );
});

test("a selector that matches keeps the Service from load balancers without one", () => {
  const both = [lb("kubernetes", "a"), lb("lb2", "b", { labels: { tier: "gold" } })];
  assert.deepEqual(eligible(both, { labels: { tier: "gold" } }), ["lb2"]);
  assert.deepEqual(eligible(both, {}), ["kubernetes"]);
});

test("both selectors of a load balancer must match, else it counts as none", () => {
  const both = [lb("kubernetes", "a"), lb("lb2", "b", { labels: { tier: "gold" }, namespace: { team: "b" } })];
  assert.deepEqual(eligible(both, { labels: { tier: "gold" } }), ["kubernetes"]);
  assert.deepEqual(eligible(both, { labels: { tier: "gold" }, namespaceLabels: { team: "b" } }), ["lb2"]);
});

test("a Service stays; else the first without rules, the first that is missing, the fewest rules", () => {
  const names = ["kubernetes", "lb2", "lb3"];
  const choose = (current: string | undefined, rules: readonly (readonly [string, number])[]) =>
    chooseLoadBalancer(names, current, () => new Occupancy(rules)).name;
  assert.equal(choose("LB3", []), "lb3");
  assert.equal(
    choose(undefined, [
      ["kubernetes", 1],
      ["lb3", 0],
    ]),
    "lb3",
  );
  assert.equal(
    choose(undefined, [
      ["kubernetes", 1],
      ["lb3", 9],
    ]),
    "lb2",
  );
  assert.equal(
    choose(undefined, [
      ["kubernetes", 2],
      ["LB2", 1],
      ["lb3", 1],
    ]),
    "lb2",
  );
  assert.equal(
    choose("lb9", [
      ["kubernetes", 2],
      ["lb2", 3],
      ["lb3", 4],
    ]),
    "kubernetes",
  );
});

function node(name: string, more: Partial<ArrangedNode> = {}): ArrangedNode {
  return { name, labels: {}, vmSet: undefined, isOn: new Set(), ...more };
}

test("nodes go to the load balancer of their VM set while it exists, else to any without a selector", () => {
  const [first, second] = [lb("kubernetes", "vmss"), lb("lb2", "vmss2")];
  const nodes = [node("a", { vmSet: "VMSS" }), node("b", { vmSet: "vmss2" })];
  assert.deepEqual(
    [...arrangeNodes([first, second], nodes)],
    [
      ["a", "kubernetes"],
      ["b", "lb2"],
    ],
  );
  assert.deepEqual(
    [...arrangeNodes([second], nodes)],
    [
      ["a", "lb2"],
      ["b", "lb2"],
    ],
  );
  assert.deepEqual([...arrangeNodes([], nodes)], []);
});

test("a node selector takes the nodes that no primary VM set claims, and only those", () => {
  const both = [lb("kubernetes", "vmss"), lb("lb2", "vmss9", { nodes: { pool: "b" } })];
  const nodes = [node("a", { vmSet: "vmss", labels: { pool: "b" } }), node("b", { labels: { pool: "b" } }), node("c")];
  assert.deepEqual(
    [...arrangeNodes(both, nodes)],
    [
      ["a", "kubernetes"],
      ["b", "lb2"],
      ["c", "kubernetes"],
    ],
  );
});

test("a node stays where it is, and new ones even the counts out", () => {
  const both = [lb("kubernetes", "x"), lb("lb2", "y")];
  const nodes = [
    node("a", { isOn: new Set(["lb2"]) }),
    node("b", { isOn: new Set(["lb2"]) }),
    node("d"),
    node("c"),
    node("e"),
  ];
  const places = arrangeNodes(both, nodes);
  assert.deepEqual(
    ["a", "b", "c", "d", "e"].map((name) => places.get(name)),
    ["lb2", "lb2", "kubernetes", "kubernetes", "kubernetes"],
  );
});

test("law: the order of the nodes does not matter, and arranging again moves none", () => {
  const configs = [lb("kubernetes", "v1"), lb("lb2", "v2"), lb("lb3", "v3", { nodes: { pool: "b" } })];
  const anyNode = fc.record({
    vmSet: fc.constantFrom("v1", "v2", "v3", "v4"),
    pool: fc.constantFrom("a", "b"),
    on: fc.constantFrom("kubernetes", "lb2", "lb3", "none"),
  });
  fc.assert(
    fc.property(fc.array(anyNode, { maxLength: 12 }), fc.subarray(configs), (drawn, existing) => {
      const nodes = drawn.map(({ vmSet, pool, on }, at) =>
        node(`n${at}`, { vmSet, labels: { pool }, isOn: new Set([on]) }),
      );
      const places = arrangeNodes(existing, nodes);
      assert.deepEqual(Object.fromEntries(arrangeNodes(existing, nodes.toReversed())), Object.fromEntries(places));
      const settled = nodes.map((one) => ({ ...one, isOn: new Set([places.get(one.name) ?? ""]) }));
      assert.deepEqual(arrangeNodes(existing, settled), places);
    }),
  );
});
