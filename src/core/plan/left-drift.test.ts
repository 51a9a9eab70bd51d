import assert from "node:assert/strict";
import { test } from "node:test";

import type { CoreWorld } from "../../../test/support/core-world.ts";
import { pinned, worldWith } from "../../../test/support/service-rounds.ts";
import { isLeftDrift } from "./left-drift.ts";

/** `web` and `shop`, served at one address. */
function sharers(): CoreWorld {
  const world = worldWith();
  world.settle();
  world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 81 }] } });
  world.settle();
  return world;
}

function isLeft(world: CoreWorld): boolean {
  return isLeftDrift(world.observe(world.service("web")), "report");
}

test("what a Service still has at a shared address while it is being deleted is no drift of the other", () => {
  const world = sharers();
  world.delete("shop");
  assert.equal(world.decide(world.service("web")).kind, "act", "its own next write would remove it");
  assert.equal(isLeft(world), false);
});

test("what differs besides is", () => {
  const world = sharers();
  world.delete("shop");
  const { securityGroup } = world;
  assert.ok(securityGroup !== undefined);
  world.securityGroup = { ...securityGroup, properties: { ...securityGroup.properties, securityRules: [] } };
  assert.equal(isLeft(world), true);
});
