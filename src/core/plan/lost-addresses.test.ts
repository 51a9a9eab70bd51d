import assert from "node:assert/strict";
import { test } from "node:test";

import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import * as fc from "../../../test/support/laws.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { ownerOf } from "../intent/ownership.ts";
import type { Observed } from "../observed.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "../service/service-parts.ts";
import type { Step } from "../steps.ts";
import { lostAddresses } from "./lost-addresses.ts";
import { predict } from "./predict.ts";

/** By a prediction of everything that is seen. */
function lostOfAll(observed: Observed, steps: readonly Step[]): string[] {
  const { base } = ownerOf(observed.service);
  const served = (one: Observed): Set<string> =>
    new Set(one.loadBalancers.flatMap((each) => addressesOn(one, frontendsOf(each, base))));
  const after = served(predict(observed, steps));
  return publishedAddresses(observed)
    .filter((address) => served(observed).has(address) && !after.has(address))
    .sort();
}

test("law: what a Service loses is told by what the steps concern as by all that is seen, in every round", () => {
  const annotations = [
    {},
    { [`${PREFIX}azure-load-balancer-internal`]: "true" },
    { [`${PREFIX}azure-pip-name`]: "shared" },
  ];
  const shape = fc.record({
    of: fc.constantFrom(...annotations),
    families: fc.constantFrom(["IPv4"], ["IPv4", "IPv6"]),
  });
  const change = fc.constantFrom<Partial<ClusterConfig>>(
    { loadBalancerName: "other" },
    { clusterName: "other", loadBalancerName: "other" },
    { tags: { team: "a" } },
  );
  let losses = 0;
  fc.assert(
    fc.property(fc.array(shape, { minLength: 1, maxLength: 5 }), change, (shapes, config) => {
      const first = new CoreWorld();
      first.putPublicIP("shared", { sku: { name: "Standard" }, properties: { publicIPAddressVersion: "IPv4" } });
      shapes.forEach(({ of, families }, at) => {
        const ipFamilies = Object.keys(of).some((key) => key.endsWith("pip-name")) ? ["IPv4"] : families;
        first.apply({
          metadata: { name: `s${at}`, annotations: of },
          spec: { ports: [{ port: 80 + at }], ipFamilies },
        });
      });
      first.settle();
      const { nodes, services, loadBalancers, publicIPs, securityGroup, members } = first;
      const world = new CoreWorld({ ...first.config, ...config });
      Object.assign(world, { nodes, services, loadBalancers, publicIPs, securityGroup, members });
      for (let round = 0; round < 12; round++) {
        for (const service of world.services.values()) {
          const decision = world.decide(service);
          if (decision.kind !== "act") continue;
          const observed = world.observe(service);
          const lost = lostAddresses(observed, decision.steps);
          assert.deepEqual(lost, lostOfAll(observed, decision.steps));
          losses += lost.length;
          world.write(service, decision.steps);
        }
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(losses > 20, `only ${losses} addresses were lost`);
});
