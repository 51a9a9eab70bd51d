/**
 * `clusterServiceLoadBalancerHealthProbeMode` is switched on and off under Services that are served: after each single write,
 * every rule of each load balancer names a probe that is there.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../../test/support/core-world.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { nameOfId } from "../../model/ids.ts";
import { SHARED_PROBE_NAME } from "../../model/names.ts";

const SHARED = { port: 10_300, path: "/ready" };
const TWO: ClusterConfig["loadBalancers"] = ["kubernetes", "lb2"].map((name) => ({
  name,
  primaryVmSet: name,
  allowServicePlacement: true,
  serviceSelector: undefined,
  namespaceSelector: undefined,
  nodeSelector: undefined,
}));

class Watched extends CoreWorld {
  writes = 0;

  override write(...given: Parameters<CoreWorld["write"]>): void {
    super.write(...given);
    this.writes++;
    for (const { name, properties } of this.loadBalancers) {
      const probes = new Set((properties.probes ?? []).map((probe) => probe.name));
      for (const rule of properties.loadBalancingRules ?? [])
        assert.ok(probes.has(nameOfId(rule.properties.probe?.id ?? "")), `${rule.name} on ${name} has no probe`);
    }
  }

  switchTo(sharedProbe: ClusterConfig["sharedProbe"]): void {
    Object.assign(this, { config: { ...this.config, sharedProbe } });
    assert.deepEqual(this.settle(), new Map());
  }

  /** Names of all probes; those of Services by their kind. */
  get probes(): string[] {
    const all = this.loadBalancers.flatMap(({ properties }) => properties.probes ?? []);
    const kind = (name: string): string =>
      name === SHARED_PROBE_NAME
        ? "shared"
        : all.some((probe) => probe.name === name && probe.properties.requestPath === "/healthz")
          ? "local"
          : "own";
    return all.map(({ name }) => kind(name)).sort();
  }
}

function filled(config: Partial<ClusterConfig>): Watched {
  const world = new Watched(config);
  for (const name of ["a", "b", "c"])
    world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }, { port: 443 }] } });
  for (const name of ["near", "nearer"])
    world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" } });
  assert.deepEqual(world.settle(), new Map());
  return world;
}

for (const [where, config] of [
  ["on one load balancer", {}],
  ["on several", { loadBalancers: TWO }],
  ["in a fleet", { fleetMax: 3, loadBalancerLimits: { ...CONFIG.loadBalancerLimits, frontends: 2 } }],
] as const) {
  test(`${where}: on and off, custom port and path, beside Local Services, and never a rule without a probe`, () => {
    const world = filled(config);
    const places = world.loadBalancers.length;
    const own = [...Array<string>(2).fill("local"), ...Array<string>(6).fill("own")];
    assert.deepEqual(world.probes, own);
    world.switchTo(SHARED);
    const clusters = world.loadBalancers.flatMap(({ properties }) =>
      (properties.probes ?? []).filter(({ name }) => name === SHARED_PROBE_NAME),
    );
    assert.ok(clusters.length > 0 && clusters.length <= places);
    for (const { properties } of clusters)
      assert.deepEqual([properties.port, properties.requestPath, properties.protocol], [10_300, "/ready", "Http"]);
    assert.deepEqual(world.probes, ["local", "local", ...clusters.map(() => "shared")]);
    world.switchTo({ port: 10_301, path: "/ready" });
    for (const { properties } of world.loadBalancers)
      for (const probe of (properties.probes ?? []).filter(({ name }) => name === SHARED_PROBE_NAME))
        assert.equal(probe.properties.port, 10_301);
    world.switchTo(undefined);
    assert.deepEqual(world.probes, own);
    assert.ok(world.writes > 20);
  });
}
