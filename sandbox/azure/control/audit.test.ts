import assert from "node:assert/strict";
import { test } from "node:test";

import { auditLog, type AuditEntry } from "./audit.ts";
import { differences } from "./diff.ts";

const ENTRY: Omit<AuditEntry, "sequence"> = {
  time: "2026-01-01T00:00:00.000Z",
  caller: "client",
  method: "GET",
  path: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/x",
  apiVersion: "2025-05-01",
  type: "Microsoft.Network/loadBalancers",
  verb: "GET",
  poll: false,
  status: 200,
  code: null,
  durationMs: 1,
  operationMs: null,
  ifMatch: null,
  faults: [],
  diff: [],
};

test("requests are counted by type and verb, polls and others apart, refusals by code", () => {
  const log = auditLog();
  log.record(ENTRY);
  log.record({ ...ENTRY, method: "PUT", verb: "PUT", status: 412, code: "PreconditionFailed" });
  log.record({ ...ENTRY, type: null, verb: null, poll: true });
  log.record({ ...ENTRY, type: null, verb: null, status: 404 });
  assert.deepEqual(log.counters(), {
    requests: { "Microsoft.Network/loadBalancers": { GET: 1, PUT: 1 } },
    polls: 1,
    other: 1,
    refusals: { PreconditionFailed: 1, "404": 1 },
  });
  log.clear();
  assert.deepEqual(log.counters(), { requests: {}, polls: 0, other: 0, refusals: {} });
});

test("entries are asked for by place, method and path, the newest last", () => {
  const log = auditLog();
  for (const method of ["GET", "PUT", "GET"]) log.record({ ...ENTRY, method });
  const sequences = (query: Parameters<typeof log.entries>[0]) => log.entries(query).map((entry) => entry.sequence);
  assert.deepEqual(sequences({}), [1, 2, 3]);
  assert.deepEqual(sequences({ after: 1 }), [2, 3]);
  assert.deepEqual(sequences({ method: "PUT" }), [2]);
  assert.deepEqual(sequences({ path: "LOADBALANCERS" }), [1, 2, 3]);
  assert.deepEqual(sequences({ limit: 1 }), [3]);
});

test("a diff names values by path and list items by name, and leaves states and ETags out", () => {
  const before = {
    etag: "1",
    tags: { a: "1" },
    properties: {
      provisioningState: "Updating",
      rules: [
        { name: "x", port: 1 },
        { name: "y", port: 2 },
      ],
      ips: ["a"],
    },
  };
  const after = {
    etag: "2",
    tags: {},
    properties: {
      provisioningState: "Succeeded",
      rules: [
        { name: "z", port: 3 },
        { name: "x", port: 9 },
      ],
      ips: ["b"],
    },
  };
  assert.deepEqual(differences(before, after), [
    { path: "tags.a", before: "1" },
    { path: "properties.rules[x].port", before: 1, after: 9 },
    { path: "properties.rules[y]", before: { name: "y", port: 2 } },
    { path: "properties.rules[z]", after: { name: "z", port: 3 } },
    { path: "properties.ips", before: ["a"], after: ["b"] },
  ]);
});

test("creation and deletion are one difference of the whole; order of named items is none", () => {
  assert.deepEqual(differences(undefined, { a: 1 }), [{ path: "", after: { a: 1 } }]);
  assert.deepEqual(differences({ a: 1 }, undefined), [{ path: "", before: { a: 1 } }]);
  const [one, two] = [{ name: "1" }, { name: "2" }];
  assert.deepEqual(differences({ list: [one, two] }, { list: [two, one] }), []);
});
