import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { CONFIG, PREFIX } from "../../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../../test/support/core-world.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { explain } from "../../plan/explain.ts";
import { parseService } from "../../intent/parse-service.ts";
import { loadBalancersWith } from "./load-balancer-index.ts";
import { requestBody } from "../request-body.ts";
import { demandOf } from "./limits.ts";
import { LOAD_BALANCER_OMITS } from "./omitted-fields.ts";
import { requestBytesFor } from "./request-bytes.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const PINNED = `${PREFIX}azure-load-balancer-ipv4`;
const FEW = { ...CONFIG.loadBalancerLimits, frontends: 2 };

interface Shape {
  readonly ports?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

function apply(world: CoreWorld, name: string, { ports = 1, annotations = {} }: Shape = {}): void {
  const spec = { ports: Array.from({ length: ports }, (_, at) => ({ port: 80 + at })) };
  world.apply({ metadata: { name, annotations }, spec });
}

/** By Service, the load balancers that it is on. */
function places(world: CoreWorld): Record<string, string> {
  const named = [...world.services.values()].map(({ metadata: { name, uid } }) => {
    const { base = "" } = world.known.get(uid) ?? {};
    return [
      name,
      loadBalancersWith(world.loadBalancers, base)
        .map((one) => one.name)
        .join(),
    ] as const;
  });
  return Object.fromEntries(named);
}

const namesOf = ({ loadBalancers }: CoreWorld): string[] => loadBalancers.map(({ name }) => name).sort();

function membersOf(world: CoreWorld, name: string): string[] {
  const pools = world.loadBalancers.find((one) => one.name === name)?.properties.backendAddressPools ?? [];
  return pools.flatMap(({ properties }) => (properties.loadBalancerBackendAddresses ?? []).map((entry) => entry.name));
}

function rejections(world: CoreWorld): Record<string, string> {
  return Object.fromEntries([...world.settle()].map(([name, { message }]) => [name, message]));
}

describe("a fleet grows where a load balancer is full", () => {
  test("by frontends: the oldest on the first, all nodes on each, both kinds apart", () => {
    const world = new CoreWorld({ fleetMax: 3, loadBalancerLimits: FEW });
    for (const name of ["a", "b", "c", "d", "e"]) apply(world, name);
    apply(world, "i", { annotations: INTERNAL });
    assert.deepEqual(rejections(world), {});
    assert.deepEqual(places(world), {
      a: "kubernetes",
      b: "kubernetes",
      c: "kubernetes-fleet-2",
      d: "kubernetes-fleet-2",
      e: "kubernetes-fleet-3",
      i: "kubernetes-internal",
    });
    for (const { name } of world.loadBalancers)
      assert.deepEqual(membersOf(world, name).sort(), ["vmss000000", "vmss000001", "vmss000002"], name);
  });

  test("whichever Service is looked at first: the older ones have their room kept", () => {
    const world = new CoreWorld({ fleetMax: 2, loadBalancerLimits: FEW });
    for (const name of ["a", "b", "c"]) apply(world, name);
    const text = explain(world.observe(world.service("c"))).lines.join("\n");
    assert.match(
      text,
      /placed on {3}load balancer "kubernetes-fleet-2": made for it; "kubernetes" is full \(at most 2 frontends\)/,
    );
  });

  test("by rules; by rules times nodes", () => {
    const ofPorts = (loadBalancerLimits: typeof FEW): Record<string, string> => {
      const world = new CoreWorld({ fleetMax: 9, loadBalancerLimits });
      apply(world, "large", { ports: 3 });
      apply(world, "medium", { ports: 2 });
      apply(world, "small");
      assert.deepEqual(rejections(world), {});
      return places(world);
    };
    const split = { large: "kubernetes", medium: "kubernetes-fleet-2", small: "kubernetes" };
    assert.deepEqual(ofPorts({ ...CONFIG.loadBalancerLimits, rules: 4 }), split);
    assert.deepEqual(ofPorts({ ...CONFIG.loadBalancerLimits, backends: 4 * 3 }), split);
  });

  test("by the bytes of a request: each can be written whole", () => {
    const requestBytes = 14_000;
    const world = new CoreWorld({ fleetMax: 9, loadBalancerLimits: { ...CONFIG.loadBalancerLimits, requestBytes } });
    for (let number = 0; number < 12; number++) apply(world, `s${number}`);
    assert.deepEqual(rejections(world), {});
    assert.ok(world.loadBalancers.length > 1);
    for (const seen of world.loadBalancers) {
      const bytes = JSON.stringify(requestBody(seen, LOAD_BALANCER_OMITS)).length;
      assert.ok(bytes <= requestBytes, `${seen.name}: ${bytes}`);
    }
  });

  test("to its max: the next is refused with each limit and the key, and nothing is made for it", () => {
    const world = new CoreWorld({ fleetMax: 2, loadBalancerLimits: { ...FEW, frontends: 1 } });
    for (const name of ["a", "b", "c"]) apply(world, name);
    assert.deepEqual(rejections(world), {
      c:
        'no load balancer of the fleet has room: "kubernetes" is full (at most 1 frontends), "kubernetes-fleet-2" is full ' +
        "(at most 1 frontends). Remove Services or ports, or raise loadBalancerFleet.max in the cloud config, which is 2",
    });
    assert.equal(world.publicIPs.get("rg")?.length, 2);
    world.delete("a");
    assert.deepEqual(rejections(world), {});
    assert.equal(places(world)["c"], "kubernetes");
  });

  test("a Service that no load balancer could hold makes none", () => {
    const world = new CoreWorld({ fleetMax: 5, loadBalancerLimits: { ...CONFIG.loadBalancerLimits, rules: 2 } });
    apply(world, "huge", { ports: 3 });
    assert.match(rejections(world)["huge"] ?? "", /"kubernetes" is full \(at most 2 rules\)/);
    assert.deepEqual(namesOf(world), []);
  });
});

describe("no Service moves because of the fleet", () => {
  test("room on an earlier one is for new Services; an empty one goes, and its number is used again", () => {
    const world = new CoreWorld({ fleetMax: 3, loadBalancerLimits: FEW });
    for (const name of ["a", "b", "c", "d", "e"]) apply(world, name);
    world.settle();
    world.delete("a");
    world.delete("c");
    world.settle();
    world.delete("d");
    world.settle();
    assert.deepEqual(namesOf(world), ["kubernetes", "kubernetes-fleet-3"]);
    assert.deepEqual(places(world), { b: "kubernetes", e: "kubernetes-fleet-3" });
    for (const name of ["f", "g", "h"]) apply(world, name);
    world.settle();
    assert.deepEqual(places(world), {
      b: "kubernetes",
      e: "kubernetes-fleet-3",
      f: "kubernetes",
      g: "kubernetes-fleet-3",
      h: "kubernetes-fleet-2",
    });
  });

  test("nor where max becomes smaller, or the key goes: those that are there stay and are served on", () => {
    const world = new CoreWorld({ fleetMax: 3, loadBalancerLimits: FEW });
    for (const name of ["a", "b", "c", "d", "e"]) apply(world, name);
    world.settle();
    const before = places(world);
    const later = continued(world, { fleetMax: 1, loadBalancerLimits: FEW });
    later.nodes = [...world.nodes, aNode("late", ["10.240.0.9"])];
    assert.deepEqual(rejections(later), {});
    assert.deepEqual(places(later), before);
    assert.ok(membersOf(later, "kubernetes-fleet-3").includes("late"), "its pools are filled on");
    later.delete("e");
    assert.deepEqual(rejections(later), {});
    assert.deepEqual(namesOf(later), ["kubernetes", "kubernetes-fleet-2"]);
    apply(later, "f");
    assert.match(rejections(later)["f"] ?? "", /load balancer "kubernetes" has no room/);
  });

  test("a Service that outgrows a full load balancer is refused there and keeps what it has", () => {
    const world = new CoreWorld({ fleetMax: 2, loadBalancerLimits: { ...CONFIG.loadBalancerLimits, rules: 2 } });
    for (const name of ["a", "b"]) apply(world, name);
    world.settle();
    world.respec("a", { ports: [80, 81].map((port) => ({ port, protocol: "TCP" as const })) });
    assert.match(rejections(world)["a"] ?? "", /load balancer "kubernetes" has no room/);
    assert.equal(places(world)["a"], "kubernetes");
  });

  test("one that shares an address goes where the address is, also while both are new", () => {
    const world = new CoreWorld({ fleetMax: 3, loadBalancerLimits: FEW });
    for (const name of ["a", "b", "c"]) apply(world, name, { annotations: INTERNAL });
    apply(world, "own", { annotations: { ...INTERNAL, [PINNED]: "10.240.0.77" } });
    apply(world, "x", { annotations: INTERNAL });
    world.apply({
      metadata: { name: "shares", annotations: { ...INTERNAL, [PINNED]: "10.240.0.77" } },
      spec: { ports: [{ port: 443 }] },
    });
    assert.match(
      explain(world.observe(world.service("shares"))).lines.join("\n"),
      /a Service with the same address goes there/,
    );
    assert.deepEqual(rejections(world), {});
    assert.equal(places(world)["own"], "kubernetes-fleet-2-internal");
    assert.equal(places(world)["shares"], "kubernetes-fleet-2-internal");
    assert.equal(places(world)["x"], "kubernetes-fleet-3-internal");
  });
});

test("a load balancer that bears a name of the fleet and is another's is left alone", () => {
  const world = new CoreWorld({ fleetMax: 3, loadBalancerLimits: { ...FEW, frontends: 1 } });
  const id = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes-fleet-2";
  const foreign: LoadBalancer = {
    id,
    name: "kubernetes-fleet-2",
    location: "westus2",
    sku: { name: "Standard" },
    properties: { backendAddressPools: [{ name: "theirs", properties: {} }] },
  };
  world.loadBalancers = [foreign];
  for (const name of ["a", "b", "c"]) apply(world, name);
  assert.match(rejections(world)["c"] ?? "", /"kubernetes-fleet-2" is not the cluster's/);
  assert.deepEqual(places(world), { a: "kubernetes", b: "kubernetes-fleet-3", c: "" });
  assert.equal(
    world.loadBalancers.find(({ name }) => name === foreign.name),
    foreign,
  );
});

test("what a Service is reckoned to add to a request is more than it adds", () => {
  const world = new CoreWorld({ clusterName: "c".repeat(60), loadBalancerName: "l".repeat(60) });
  apply(world, "many", { ports: 20 });
  world.settle();
  const [loadBalancer] = world.loadBalancers;
  const { frontendIPConfigurations, loadBalancingRules, probes } = loadBalancer?.properties ?? {};
  const parsed = parseService(world.service("many"), world.config);
  const added = JSON.stringify([frontendIPConfigurations, loadBalancingRules, probes]).length;
  const reckoned = "intent" in parsed ? requestBytesFor(demandOf(parsed.intent)) : 0;
  assert.ok(added < reckoned && reckoned < 4 * added, `${added} bytes, reckoned with ${reckoned}`);
});

test("law: whatever comes and goes, each is served within the limits, none moves, and no load balancer stays empty", () => {
  const step = fc.record({
    kind: fc.constantFrom("add", "add", "remove"),
    ports: fc.integer({ min: 1, max: 3 }),
    internal: fc.boolean(),
    at: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
      const limits = { ...CONFIG.loadBalancerLimits, frontends: 3, rules: 5 };
      const world = new CoreWorld({ fleetMax: 14, loadBalancerLimits: limits });
      const former: Record<string, string> = {};
      for (const [number, { kind, ports, internal, at }] of steps.entries()) {
        const there = [...world.services.keys()];
        if (kind === "add") apply(world, `s${number}`, { ports, annotations: internal ? INTERNAL : {} });
        else if (there.length > 0) world.delete(there[at % there.length] ?? "");
        continued(world, {});
        assert.deepEqual(rejections(world), {});
        for (const [name, place] of Object.entries(places(world))) {
          assert.notEqual(place, "", `${name} is served`);
          assert.equal(place, (former[name] ??= place), `${name} moved`);
        }
        for (const { name, properties } of world.loadBalancers) {
          const { frontendIPConfigurations: frontends = [], loadBalancingRules: rules = [] } = properties;
          assert.ok(frontends.length >= 1 && frontends.length <= 3 && rules.length <= 5, name);
        }
      }
    }),
    { numRuns: 15 },
  );
});

/** The same cluster under another controller, which remembers nothing. */
function continued(world: CoreWorld, config: ConstructorParameters<typeof CoreWorld>[0]): CoreWorld {
  world.forget();
  return Object.assign(world, { config: { ...world.config, ...config } });
}
