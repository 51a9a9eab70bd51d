/** Ranges that stand for the nodes in security rules, over the life of a Service: nothing is left open of what they were before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode, CoreWorld } from "../../../../test/support/core-world.ts";
import { ownerOf } from "../../intent/ownership.ts";
import { ownRulesOf } from "./desired-security-group.ts";
import { destinationsOf } from "./security-rules.ts";

const FLOATING = "service.beta.kubernetes.io/azure-disable-load-balancer-floating-ip";
const RANGES = "service.beta.kubernetes.io/azure-allowed-destination-ip-ranges";
const NODES = ["10.240.0.4", "10.240.0.5", "10.240.0.6"];

class World extends CoreWorld {
  ask(ranges: string | undefined, name = "web"): void {
    if (!this.services.has(`default/${name}`)) this.apply({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
    this.annotate(name, { [FLOATING]: "true", [RANGES]: ranges ?? null });
    assert.deepEqual(this.settle(), new Map());
  }

  /** Destinations by rule of the controller. */
  get opened(): string[][] {
    const rules = this.securityGroup?.properties.securityRules ?? [];
    const ours = rules.filter(({ name }) => name.startsWith("k8s-azure-lb"));
    return ours.map((rule) => [...destinationsOf(rule)].sort());
  }
}

test("from nodes to a range, to another one, and back: always that alone; and nothing once it is gone", () => {
  const world = new World();
  for (const [ranges, opened] of [
    [undefined, NODES],
    ["10.240.0.0/16", ["10.240.0.0/16"]],
    ["10.240.0.0/24,10.241.0.0/16", ["10.240.0.0/24", "10.241.0.0/16"]],
    [undefined, NODES],
    ["10.240.0.0/16", ["10.240.0.0/16"]],
  ] as const) {
    world.ask(ranges);
    assert.deepEqual(world.opened, [opened]);
  }
  world.delete("default/web");
  assert.deepEqual(world.settle(), new Map());
  assert.deepEqual(world.opened, []);
});

test("a node that comes changes nothing in the security group, and another Service keeps the nodes' addresses", () => {
  const world = new World();
  world.ask("10.240.0.0/16");
  const before = world.securityGroup;
  world.nodes = [...world.nodes, aNode("late", ["10.240.0.99"])];
  assert.deepEqual(world.settle(), new Map());
  assert.equal(world.securityGroup, before);
  world.ask(undefined, "other");
  assert.deepEqual(world.opened, [["10.240.0.0/16"], [...NODES, "10.240.0.99"].sort()]);
  world.delete("default/web");
  assert.deepEqual(world.settle(), new Map());
  assert.deepEqual(world.opened, [[...NODES, "10.240.0.99"].sort()]);
});

test("a Service that leaves an address keeps what it has open at its ranges", () => {
  const world = new World();
  world.ask("10.240.0.0/16");
  const standing = ownRulesOf(world, ownerOf(world.service("web")), () => true);
  assert.deepEqual(
    standing.map(({ family, destinations }) => [family, destinations]),
    [["IPv4", ["10.240.0.0/16"]]],
  );
  const internal = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
  const access = { "service.beta.kubernetes.io/azure-allowed-ip-ranges": "10.0.0.0/8" };
  world.annotate("web", { ...internal, ...access });
  assert.deepEqual(world.settle(), new Map());
  assert.deepEqual(world.opened, [["10.240.0.0/16"]]);
});
