import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { withListed } from "../resources/observed-azure.ts";
import { planCluster } from "./plan-cluster.ts";
import type { Observed } from "../observed.ts";

const PORTS = { ports: [{ port: 80, protocol: "TCP" }] };
const INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal";

/** What the world shows of a Service that has looked at these subnets only. */
function seen(world: CoreWorld, name: string, subnets: readonly string[]): Observed {
  const { config, nodes, loadBalancers, listed, securityGroup, zones, members, services } = world;
  const looked = new Map(subnets.map((subnet) => [subnet, world.subnets.get(subnet)]));
  const shared = { config, nodes, loadBalancers, listed, securityGroup, zones, members };
  return { ...shared, service: world.service(name), otherServices: [...services.values()], subnets: looked };
}

test("each Service's story is told to its end, whatever the others had to look at", () => {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "public" }, spec: PORTS });
  world.apply({ metadata: { name: "inside", annotations: { [INTERNAL]: "true" } }, spec: PORTS });
  const lost = { [INTERNAL]: "true", [`${INTERNAL}-subnet`]: "nowhere" };
  world.apply({ metadata: { name: "lost", annotations: lost }, spec: PORTS });
  const { ends } = planCluster([
    seen(world, "public", []),
    seen(world, "inside", ["subnet"]),
    seen(world, "lost", ["nowhere"]),
  ]);
  assert.deepEqual(
    [...ends].map(([key, { kind }]) => [key, kind]),
    [
      ["default/public", "settled"],
      ["default/inside", "settled"],
      ["default/lost", "reject"],
    ],
  );
});

test("a Service in a resource group that does not exist is refused to the end; the others are planned", () => {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "public" }, spec: PORTS });
  const annotations = { "service.beta.kubernetes.io/azure-load-balancer-resource-group": "nowhere" };
  world.apply({ metadata: { name: "lost", annotations }, spec: PORTS });
  const lost = seen(world, "lost", []);
  const { ends, steps } = planCluster([
    seen(world, "public", []),
    { ...lost, listed: withListed(lost.listed, "publicIP", "nowhere", []), missingGroups: new Set(["nowhere"]) },
  ]);
  assert.deepEqual(
    [...ends].map(([key, { kind }]) => [key, kind]),
    [
      ["default/public", "settled"],
      ["default/lost", "reject"],
    ],
  );
  assert.ok(steps.length > 0);
});
