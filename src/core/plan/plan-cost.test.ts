/** What a plan costs, counted in entries of lists that it reads: twice the Services may cost twice as much, and hardly more. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { DEFAULT_BRAKE_LIMITS } from "../brake/brake-limits.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Observed } from "../observed.ts";
import { planCluster } from "./plan-cluster.ts";

const INTERNAL = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
const BRAKE = {
  limits: DEFAULT_BRAKE_LIMITS,
  recent: new Map(),
  departed: new Set<string>(),
  released: new Set<string>(),
};

/** Every list in the value counts what is read of it. */
class Reads {
  count = 0;
  readonly #counted = new Map<object, object>();

  of<Value>(value: Value): Value {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#counted.get(value);
    if (known !== undefined) return known as Value;
    const counted = this.#wrap(value);
    this.#counted.set(value, counted);
    return counted as Value;
  }

  #wrap(value: object): object {
    if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, this.of(one)]));
    if (value instanceof Set) return value;
    if (!Array.isArray(value))
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.of(one)]));
    return new Proxy(
      value.map((one: unknown) => this.of(one)),
      {
        get: (list, key) => {
          if (typeof key === "string" && /^\d+$/.test(key)) this.count++;
          return Reflect.get(list, key) as unknown;
        },
      },
    );
  }
}

/** All are served, half of them inside. */
function served(services: number): readonly Observed[] {
  const world = new CoreWorld();
  for (let at = 0; at < services; at++) {
    const metadata = { name: `s${at}`, annotations: at % 2 === 0 ? {} : INTERNAL };
    world.apply({ metadata, spec: { ports: [{ port: 80, protocol: "TCP" }] } });
  }
  const { after } = planCluster([...world.services.values()].map((service) => world.observe(service)));
  const otherServices = after.map(({ service }) => service);
  return after.map((observed) => ({ ...observed, otherServices }));
}

function readsOf(services: number, change: Partial<ClusterConfig>, brake: Pick<Observed, "brake">): number {
  const reads = new Reads();
  const all = served(services);
  const config = { ...all[0]!.config, ...change };
  const observations = all.map((observed) => reads.of({ ...observed, config }));
  const { losses } = planCluster(observations.map((observed) => ({ ...observed, ...brake })));
  assert.equal(losses.length > 0, Object.keys(change).length > 0);
  return reads.count;
}

const CHANGES: readonly [string, Partial<ClusterConfig>][] = [
  ["settled Services", {}],
  ["another load balancer for all", { loadBalancerName: "other" }],
  ["another cluster name", { clusterName: "prod", loadBalancerName: "prod" }],
];

describe("twice the Services cost twice as much, and hardly more", () => {
  for (const [what, change] of CHANGES) {
    test(what, () => {
      const [few, many] = [readsOf(20, change, {}), readsOf(40, change, {})];
      assert.ok(many < 2.1 * few, `${few} reads for 20 Services, ${many} for 40`);
    });
  }
  test("another load balancer for all, withheld", () => {
    const change = { loadBalancerName: "other" };
    const [few, many] = [readsOf(20, change, { brake: BRAKE }), readsOf(40, change, { brake: BRAKE })];
    assert.ok(many < 2.1 * few, `${few} reads for 20 Services, ${many} for 40`);
  });
});
