import assert from "node:assert/strict";
import { test } from "node:test";

import { namedPorts, parseMemberTable, patchedTable, targetOf } from "./member-table.ts";
import { member } from "./test-members.ts";

const TABLE = {
  "10.240.0.4": { "80": 1001, "80/udp": 1002, "*": 1003 },
  "node-10.240.0.5": { "80": 2001 },
  "entry-10.240.0.6": { "*": 3001 },
};

const FOUND = [
  ["10.240.0.4", 80, "Tcp", 1001],
  ["10.240.0.4", 80, "Udp", 1002],
  ["10.240.0.4", 81, "Tcp", 1003],
  ["10.240.0.5", 80, "Udp", 2001],
  ["10.240.0.5", 81, "Tcp", undefined],
  ["10.240.0.6", 81, "Tcp", 3001],
  ["10.240.0.7", 80, "Tcp", undefined],
] as const;

for (const [ip, port, transport, target] of FOUND) {
  test(`${ip} ${port}/${transport} is ${target ?? "nowhere"}`, () => {
    assert.equal(targetOf(TABLE, member(ip), port, transport), target);
  });
}

test("a patch adds, replaces and takes out", () => {
  const patch = { "10.240.0.4": { "80": 9, "*": null }, "node-10.240.0.5": null, other: { "53/udp": 5 } };
  assert.deepEqual(patchedTable(TABLE, patch), {
    "10.240.0.4": { "80": 9, "80/udp": 1002 },
    "entry-10.240.0.6": { "*": 3001 },
    other: { "53/udp": 5 },
  });
});

test("the ports that are named", () => {
  assert.deepEqual(namedPorts(TABLE), [80]);
});

const WRONG: readonly [value: unknown, message: RegExp][] = [
  [[], /members must be an object/],
  [{ a: 80 }, /members\["a"\] must be an object/],
  [{ a: { http: 80 } }, /members\["a"\]: a port is a number such as 80.* not "http"/],
  [{ a: { "80": "81" } }, /members\["a"\]\["80"\] must be a port of 127.0.0.1 or null, not "81"/],
  [{ a: { "80": 70_000 } }, /not 70000/],
];

for (const [value, message] of WRONG) {
  test(`${JSON.stringify(value)} is refused`, () => {
    assert.throws(() => parseMemberTable(value, "members"), message);
  });
}
