import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { repeatable } from "../testing/model-api.ts";
import { contains, isAddress, isCidr, nthAddress, parseCidr, randomAddress, type Cidr } from "./cidr.ts";

const range = (text: string): Cidr => parseCidr(text) ?? assert.fail(`${text} is a range`);

test("ranges and addresses of both families are told from what is none", () => {
  for (const text of ["10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/112", "10.1.2.3/8"]) assert.ok(isCidr(text), text);
  for (const text of ["10.0.0.0", "10.0.0.0/33", "fd00::/129", "10.0.0/8", "x/8", "10.0.0.0/8/8", "10.0.0.0/-1"]) {
    assert.ok(!isCidr(text), text);
  }
  for (const text of ["1.2.3.4", "::1", "fd00::1"]) assert.ok(isAddress(text), text);
  for (const text of ["1.2.3", "1.2.3.256", "fe80::1%eth0", ""]) assert.ok(!isAddress(text), text);
});

test("the n-th address is in the range and written in its shortest form", () => {
  assert.equal(nthAddress(range("10.0.0.0/16"), 257), "10.0.1.1");
  assert.equal(nthAddress(range("fd00:10::/112"), 1), "fd00:10::1");
  assert.equal(nthAddress(range("fd00:10:0:0:5::/112"), 0), "fd00:10:0:0:5::");
});

test("drawn addresses are in the range, never taken, never the network's or the broadcast", () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom("10.1.0.0/29", "fd00::/125"), (seed, text) => {
      const cidr = range(text);
      const draws = repeatable(seed);
      const taken = new Set<string>();
      for (let count = 0; count < 6; count++) {
        const ip = randomAddress(cidr, (other) => taken.has(other), draws) ?? assert.fail("the range is not full yet");
        assert.ok(contains(cidr, ip) && !taken.has(ip));
        assert.ok(ip !== nthAddress(cidr, 0) && ip !== nthAddress(cidr, 7));
        taken.add(ip);
      }
      assert.equal(
        randomAddress(cidr, (other) => taken.has(other), draws),
        undefined,
      );
    }),
  );
});
