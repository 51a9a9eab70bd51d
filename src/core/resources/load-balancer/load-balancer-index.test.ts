import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreWorld } from "../../../../test/support/core-world.ts";
import { baseName } from "../../model/names.ts";
import { loadBalancerIndex, poolsOf } from "./load-balancer-index.ts";

test("a Service of one family uses the pool of that family alone", () => {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "four" }, spec: { ports: [{ port: 80 }] } });
  world.apply({ metadata: { name: "both" }, spec: { ports: [{ port: 81 }], ipFamilies: ["IPv4", "IPv6"] } });
  assert.deepEqual([...world.settle()], []);
  const [loadBalancer] = world.loadBalancers;
  assert.ok(loadBalancer !== undefined);
  const used = (name: string): string[] =>
    [...poolsOf(loadBalancerIndex(loadBalancer), baseName(world.service(name).metadata.uid))].toSorted();
  assert.deepEqual(used("four"), ["kubernetes"]);
  assert.deepEqual(used("both"), ["kubernetes", "kubernetes-ipv6"]);
});
