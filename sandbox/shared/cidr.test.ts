import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../test/support/laws.ts";
import { firstOverlap, formatAddress, nthAddress, overlaps, parseAddress, parseBlock, type Block } from "./cidr.ts";

test("an address that is written is read again, in both families", () => {
  const ipv4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n });
  const ipv6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
  fc.assert(
    fc.property(ipv4, (value) => assert.deepEqual(parseAddress(formatAddress(4, value)), { family: 4, value })),
  );
  fc.assert(
    fc.property(ipv6, (value) => assert.deepEqual(parseAddress(formatAddress(6, value)), { family: 6, value })),
  );
});

test("IPv6 is written short", () => {
  const cases = ["::", "::1", "2603:1030::2", "fd00:1:2:3:4:5:6:7", "1::2:0:0:3"];
  for (const text of cases) assert.equal(formatAddress(6, parseAddress(text)?.value ?? -1n), text);
});

test("what is no address is none", () => {
  for (const text of [
    "",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.1.2",
    "1::2::3",
    "12345::",
    ":::",
    "x",
    "1.2.3",
    "fe80::1%eth0",
    "010.0.0.1",
  ]) {
    assert.equal(parseAddress(text), undefined, text);
  }
  const wrong = ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/x", "/8", "fd00::/129", "10.0.0/8", "x/8", "10.0.0.0/8/8"];
  for (const text of [...wrong, "10.0.0.0/-1"]) assert.equal(parseBlock(text), undefined, text);
});

test("addresses and blocks of both families are read", () => {
  for (const text of ["1.2.3.4", "::1", "fd00::1"]) assert.ok(parseAddress(text), text);
  for (const text of ["10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/112", "10.1.2.3/8"]) assert.ok(parseBlock(text), text);
});

test("an IPv6 address may end in a dotted IPv4 address", () => {
  assert.equal(parseAddress("::ffff:1.2.3.4")?.value, 0xffff_0102_0304n);
  assert.equal(parseAddress("1:2:3:4:5:6:1.2.3.4")?.value, parseAddress("1:2:3:4:5:6:102:304")?.value);
});

test("the n-th address is in the block and written in its shortest form", () => {
  const block = (text: string): Block => parseBlock(text) ?? assert.fail(`${text} is a block`);
  assert.equal(nthAddress(block("10.0.0.0/16"), 257), "10.0.1.1");
  assert.equal(nthAddress(block("fd00:10::/112"), 1), "fd00:10::1");
  assert.equal(nthAddress(block("fd00:10:0:0:5::/112"), 0), "fd00:10:0:0:5::");
});

test("a block knows its ends and whether its text names the first address", () => {
  const block = parseBlock("10.0.0.1/24");
  assert.equal(block?.aligned, false);
  assert.equal(formatAddress(4, block?.first ?? 0n), "10.0.0.0");
  assert.equal(formatAddress(4, block?.last ?? 0n), "10.0.0.255");
});

test("an overlap is found exactly when some pair overlaps", () => {
  const block = fc.record({ octet: fc.integer({ min: 0, max: 7 }), length: fc.integer({ min: 21, max: 26 }) });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), (items) => {
      const blocks = items
        .map(({ octet, length }) => parseBlock(`10.0.${octet}.0/${length}`))
        .filter((item) => item !== undefined);
      const naive = blocks.some((left, index) => blocks.slice(index + 1).some((right) => overlaps(left, right)));
      assert.equal(firstOverlap(blocks) !== undefined, naive);
    }),
  );
});
