import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CoreWorld } from "../../../test/support/core-world.ts";
import { INTERNAL, lastSteps, web, worldWith } from "../../../test/support/service-rounds.ts";
import { isTotalLoss } from "./total-loss.ts";

function isLost(world: CoreWorld): boolean {
  const service = world.service("web");
  return isTotalLoss(world.observe(service), lastSteps(world.decide(service)));
}

describe("everything of a Service is lost", () => {
  for (const [kind, annotations] of Object.entries({ external: {}, internal: INTERNAL })) {
    test(`where its load balancer is gone (${kind})`, () => {
      const world = worldWith({ ...web, metadata: { name: "web", annotations } });
      world.settle();
      assert.equal(isLost(world), false, "nothing is missing");
      world.loadBalancers = [];
      assert.equal(isLost(world), true);
    });
  }

  test("where the load balancer is there for others", () => {
    const world = worldWith();
    world.settle();
    const { loadBalancers } = world;
    world.apply({ metadata: { name: "other" }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    world.loadBalancers = world.loadBalancers.map((body) => ({
      ...body,
      properties: {
        ...body.properties,
        frontendIPConfigurations: without(body.properties.frontendIPConfigurations, loadBalancers),
        loadBalancingRules: without(body.properties.loadBalancingRules, loadBalancers),
        probes: without(body.properties.probes, loadBalancers),
      },
    }));
    assert.equal(isLost(world), true);
  });

  test("not where a part of it is left: that was changed by hand", () => {
    const world = worldWith();
    world.settle();
    world.loadBalancers = world.loadBalancers.map((body) => ({
      ...body,
      properties: { ...body.properties, loadBalancingRules: [] },
    }));
    assert.equal(isLost(world), false);
  });

  test("not where its public IP is gone as well: it would come back at another address", () => {
    const world = worldWith();
    world.settle();
    world.loadBalancers = [];
    world.publicIPs = new Map([...world.publicIPs.keys()].map((group) => [group, []]));
    assert.equal(isLost(world), false);
  });
});

/** What was on no load balancer before. */
function without<Part extends { readonly name: string }>(
  parts: readonly Part[] | undefined,
  before: CoreWorld["loadBalancers"],
): readonly Part[] {
  const names = JSON.stringify(before);
  return (parts ?? []).filter(({ name }) => !names.includes(`"${name}"`));
}
