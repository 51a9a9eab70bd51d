/** The pool that a Service with `externalTrafficPolicy: Local` has for itself comes and goes with its rules. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { CoreWorld } from "../../../test/support/core-world.ts";
import type { LoadBalancerConfig } from "../config/cluster-config.ts";

const SELECTORS = { serviceSelector: undefined, namespaceSelector: undefined, nodeSelector: undefined };
const ONE: LoadBalancerConfig = { name: "kubernetes", primaryVmSet: "vmss", allowServicePlacement: true, ...SELECTORS };

function poolsOf(world: CoreWorld): string[] {
  return world.loadBalancers.flatMap(({ properties }) =>
    (properties.backendAddressPools ?? []).map(({ name }) => name),
  );
}

test("Local to Cluster: the rule names the cluster's pool and the own one goes, in one write", () => {
  const world = new CoreWorld({ loadBalancers: [ONE] });
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" } });
  world.settle();
  assert.deepEqual(poolsOf(world), ["default-web"]);
  world.respec("web", { externalTrafficPolicy: "Cluster" });
  assert.equal(world.settle().size, 0);
  assert.deepEqual(poolsOf(world), ["kubernetes"]);
});

test("a Local Service that is deleted beside others takes its pool with it", () => {
  const world = new CoreWorld({ loadBalancers: [ONE] });
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" } });
  world.apply({ metadata: { name: "other" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  assert.deepEqual(
    poolsOf(world).sort((one, other) => one.localeCompare(other)),
    ["default-web", "kubernetes"],
  );
  world.delete("web");
  world.settle();
  assert.deepEqual(poolsOf(world), ["kubernetes"]);
});

test("a Local Service whose ports have no rule has no pool, so that none is left when it goes", () => {
  const noRule = "service.beta.kubernetes.io/port_80_no_lb_rule";
  const world = new CoreWorld({ loadBalancers: [ONE] });
  world.apply({
    metadata: { name: "web", annotations: { [noRule]: "true" } },
    spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" },
  });
  world.apply({ metadata: { name: "other" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  assert.deepEqual(poolsOf(world), ["kubernetes"]);
  world.annotate("web", { [noRule]: null });
  world.settle();
  assert.deepEqual(poolsOf(world), ["kubernetes", "default-web"]);
  world.annotate("web", { [noRule]: "true" });
  world.settle();
  assert.deepEqual(poolsOf(world), ["kubernetes"]);
  world.delete("web");
  world.settle();
  assert.deepEqual(poolsOf(world), ["kubernetes"]);
});
