import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { repeatable } from "../testing/model-api.ts";
import { contains, nthAddress, parseAddress, parseBlock } from "../../shared/cidr.ts";
import { randomAddress } from "./service-ranges.ts";

test("drawn addresses are in the range, never taken, never the network's or the broadcast", () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom("10.1.0.0/29", "fd00::/125"), (seed, text) => {
      const block = parseBlock(text) ?? assert.fail(`${text} is a block`);
      const draws = repeatable(seed);
      const taken = new Set<string>();
      for (let count = 0; count < 6; count++) {
        const ip = randomAddress(block, (other) => taken.has(other), draws) ?? assert.fail("the range is not full yet");
        const address = parseAddress(ip) ?? assert.fail(`${ip} is an address`);
        assert.ok(contains(block, address) && !taken.has(ip));
        assert.ok(ip !== nthAddress(block, 0) && ip !== nthAddress(block, 7));
        taken.add(ip);
      }
      assert.equal(
        randomAddress(block, (other) => taken.has(other), draws),
        undefined,
      );
    }),
  );
});
