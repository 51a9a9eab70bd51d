/** Laws of the rollout's arithmetic: it ends, and on its way it keeps its bounds. */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../../../test/support/laws.ts";
import { newSetSize, oldSetSizes, rolloutLimits } from "./rollout.ts";

const MOST_ROUNDS = 1_000;
const limit = fc.oneof(
  fc.nat(20),
  fc.nat(100).map((percent) => `${percent}%`),
);

test("every rollout ends with the new pods alone, and never has too many or too few", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      limit,
      limit,
      fc.array(fc.nat(20), { maxLength: 4 }),
      (replicas, maxSurge, maxUnavailable, given) => {
        const limits = rolloutLimits(replicas, { maxSurge, maxUnavailable });
        // the old sets are those of a Deployment that had settled
        let rest = replicas;
        let old = given.map((size) => {
          const part = Math.min(size, rest);
          rest -= part;
          return part;
        });
        const few = Math.min(
          replicas - limits.maxUnavailable,
          old.reduce((sum, size) => sum + size, 0),
        );
        let fresh = 0;
        let rounds = 0;
        for (; rounds < MOST_ROUNDS; rounds++) {
          const all = fresh + old.reduce((sum, size) => sum + size, 0);
          const grown = newSetSize(limits, fresh, all);
          const shrunk = oldSetSizes(
            limits,
            { wanted: grown, available: fresh },
            old.map((wanted) => ({ wanted, available: wanted })),
          );
          const available = fresh + shrunk.reduce((sum, size) => sum + size, 0);
          assert.ok(grown + shrunk.reduce((sum, size) => sum + size, 0) <= replicas + limits.maxSurge);
          assert.ok(available >= few, `${available} of ${replicas} are available`);
          if (grown === fresh && shrunk.every((size, at) => size === old[at])) break;
          [fresh, old] = [grown, shrunk];
        }
        assert.ok(rounds < MOST_ROUNDS);
        assert.equal(fresh, replicas);
        assert.ok(old.every((size) => size === 0));
      },
    ),
  );
});
