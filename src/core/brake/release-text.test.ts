import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeWrites, encodeWrites } from "./release-text.ts";
import { linesOf } from "./withheld-writes.ts";

/** Of so many pools, each of all nodes. */
function writes(pools: number, nodes: number): string[] {
  const id = "/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups/a-group/providers/microsoft.network";
  const members = Array.from({ length: nodes }, (_, at) => `aks-nodepool1-12345678-vmss${String(at).padStart(6, "0")}`);
  const lost = Array.from({ length: pools }, (_, at) => ({
    pool: `${id}/loadbalancers/kubernetes/backendaddresspools/default-s${at}`,
    members,
  }));
  const service = { service: "default/web", uid: "1", addresses: ["20.0.0.8"] };
  return linesOf({ services: [service], members: lost });
}

test("few writes are stored as they are, for people to read", () => {
  const lines = writes(3, 3);
  assert.equal(encodeWrites(lines), lines.join("\n"));
  assert.deepEqual(decodeWrites(lines.join("\n")), lines);
  assert.deepEqual(decodeWrites(""), []);
});

test("those of a thousand pools fit a ConfigMap, and are the same afterwards", () => {
  const lines = writes(1_000, 50);
  const text = encodeWrites(lines);
  assert.ok(text !== undefined && text.length < 600_000, String(text?.length));
  assert.deepEqual(decodeWrites(text), lines);
});

test("more than fit are no release", () => {
  const lines = Array.from({ length: 11 }, (_, at) => String.fromCharCode(97 + at).repeat(100_000));
  assert.equal(encodeWrites(lines), undefined);
});
