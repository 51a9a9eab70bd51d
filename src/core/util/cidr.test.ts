import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import {
  type Address,
  aggregate,
  bitsOf,
  canonicalAddress,
  type Cidr,
  contains,
  formatAddress,
  formatCidr,
  mayBePublic,
  parseAddress,
  parseCidr,
} from "./cidr.ts";

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(!("problem" in parsed), text);
  return parsed;
}

const spellings: readonly (readonly [string, string])[] = [
  ["10.0.0.1", "10.0.0.1"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["::", "::"],
  ["::1", "::1"],
  ["1::", "1::"],
  ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
  ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
  ["0:0:1:0:0:1:0:0", "::1:0:0:1:0:0"],
  ["::ffff:1.2.3.4", "::ffff:1.2.3.4"],
  ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
];
for (const [written, canonical] of spellings) {
  test(`${written} is spelt ${canonical}`, () => {
    const address = parseAddress(written);
    assert.equal(address && formatAddress(address), canonical);
    assert.equal(canonicalAddress(written), canonical);
  });
}

for (const text of ["", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", " 1.2.3.4", "1.2.3.4/32", "1:2:3", "::1::"]) {
  test(`${JSON.stringify(text)} is no address`, () => assert.equal(parseAddress(text), undefined));
}
for (const text of ["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "fe80::1%eth0", "12345::", "1.2.3.4::", ":1"]) {
  test(`${JSON.stringify(text)} is no address either`, () => assert.equal(parseAddress(text), undefined));
}

test("a mask of all bits is the address, any other mask and any word stays", () => {
  assert.deepEqual(["1.2.3.4/32", "FD00::1/128", "1.2.3.0/24", "fd00::/32", "*", "Internet"].map(canonicalAddress), [
    "1.2.3.4",
    "fd00::1",
    "1.2.3.0/24",
    "fd00::/32",
    "*",
    "Internet",
  ]);
});

const badBlocks: readonly (readonly [string, RegExp])[] = [
  ["10.0.0.1/8", /has host bits set: write 10\.0\.0\.0\/8/],
  ["10.0.0.0", /is no CIDR/],
  ["10.0.0.0/33", /beyond 32 bits/],
  ["::/129", /beyond 128 bits/],
  ["10.0.0.0/08", /is no CIDR/],
  ["10.0.0.0/8/9", /is no CIDR/],
  ["", /is no CIDR/],
  ["Internet", /is no CIDR/],
];
for (const [text, problem] of badBlocks) {
  test(`${JSON.stringify(text)} is refused in words that help`, () => {
    const parsed = parseCidr(text);
    assert.match("problem" in parsed ? parsed.problem : "", problem);
  });
}

const aggregates: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["10.0.0.0/8", "10.1.0.0/16"], ["10.0.0.0/8"]],
  [["10.0.1.0/24", "10.0.0.0/24"], ["10.0.0.0/23"]],
  [
    ["10.0.1.0/24", "10.0.2.0/24"],
    ["10.0.1.0/24", "10.0.2.0/24"],
  ],
  [["0.0.0.0/1", "128.0.0.0/1"], ["0.0.0.0/0"]],
  [["10.0.0.0/24", "10.0.1.0/25", "10.0.1.128/25"], ["10.0.0.0/23"]],
  [["fd00::/17", "fd00:8000::/17", "fd00::/16"], ["fd00::/16"]],
  [["1.2.3.4/32", "1.2.3.4/32"], ["1.2.3.4/32"]],
];
for (const [given, expected] of aggregates) {
  test(`${given.join(", ")} come to ${expected.join(", ")}`, () => {
    assert.deepEqual(aggregate(given.map(cidr)).map(formatCidr), expected);
  });
}

const never = ["10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "168.63.129.16", "127.0.0.1", "169.254.1.1"];
test("addresses that no public IP can have", () => {
  const isPublic = (text: string): boolean | undefined => {
    const address = parseAddress(text);
    return address && mayBePublic(address);
  };
  assert.deepEqual(
    [...never, "0.0.0.0", "224.0.0.1", "::1", "fd00::1", "fe80::1", "ff02::1"].filter((text) => isPublic(text)),
    [],
  );
  assert.deepEqual(["20.1.2.3", "100.128.0.1", "172.32.0.1", "2603:1020::1"].map(isPublic), [true, true, true, true]);
});

const address: fc.Arbitrary<Address> = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ family: "IPv4" as const, value })),
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ family: "IPv6" as const, value })),
  fc.array(fc.constantFrom(0n, 1n, 0xffffn), { minLength: 8, maxLength: 8 }).map((groups) => ({
    family: "IPv6" as const,
    value: groups.reduce<bigint>((value, group) => (value << 16n) | group, 0n),
  })),
);

test("every address reads back as it was printed, and other people's parsers agree that it is one", () => {
  fc.assert(
    fc.property(address, (address) => {
      const text = formatAddress(address);
      assert.deepEqual(parseAddress(text), address);
      assert.equal(isIP(text), address.family === "IPv4" ? 4 : 6);
    }),
  );
});

/** Blocks near each other, so that they nest and touch. */
const crowdedBlocks = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 })).map(([host, length]): Cidr => {
    const keep = (0xff << (32 - length)) & 0xff;
    return { family: "IPv4", value: 0x0a000000n + BigInt(host & keep), length };
  }),
  { maxLength: 12 },
);

test("an aggregate covers the same addresses, in as few blocks, whatever the order", () => {
  fc.assert(
    fc.property(crowdedBlocks, (blocks) => {
      const merged = aggregate(blocks);
      assert.deepEqual(aggregate(merged), merged);
      assert.deepEqual(aggregate(blocks.toReversed()), merged);
      const others = new BlockList();
      for (const block of blocks) others.addSubnet(formatAddress(block), block.length);
      for (let host = 0; host < 256; host++) {
        const probe: Address = { family: "IPv4", value: 0x0a000000n + BigInt(host) };
        const isCovered = merged.some((block) => contains(block, probe));
        assert.equal(isCovered, others.check(formatAddress(probe)));
      }
      for (const block of merged) {
        const sibling = block.value ^ (1n << BigInt(bitsOf("IPv4") - block.length));
        assert.ok(!merged.some((other) => other.length === block.length && other.value === sibling));
      }
    }),
  );
});
