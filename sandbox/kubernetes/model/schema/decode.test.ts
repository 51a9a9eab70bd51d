import assert from "node:assert/strict";
import { test } from "node:test";

import { lease } from "../kinds/lease.ts";
import { service } from "../kinds/service/service.ts";
import { decode, DecodeError } from "./decode.ts";

test("unknown fields fall away and are named", () => {
  const { value, unknown } = decode(service.schema, {
    spec: { type: "ClusterIP", typo: 1, ports: [{ prot: 1 }] },
    top: 1,
  });
  assert.deepEqual(value, { spec: { type: "ClusterIP", ports: [{}] } });
  assert.deepEqual(unknown, ["spec.typo", "spec.ports[0].prot", "top"]);
});

test("what is empty counts as unset, unless its emptiness means something", () => {
  const { value } = decode(service.schema, {
    metadata: { labels: {}, finalizers: [], name: "a", annotations: { kept: "" } },
    spec: { externalName: "", allocateLoadBalancerNodePorts: false, publishNotReadyAddresses: false, type: null },
    status: { loadBalancer: {} },
  });
  assert.deepEqual(value, {
    metadata: { name: "a", annotations: { kept: "" } },
    spec: { allocateLoadBalancerNodePorts: false },
    status: { loadBalancer: {} },
  });
});

test("times keep whole seconds in UTC", () => {
  const { value } = decode(service.schema, { metadata: { creationTimestamp: "2026-01-01T02:00:00.789+02:00" } });
  assert.deepEqual(value, { metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } });
});

test("a MicroTime has exactly six fractional digits", () => {
  const renewed = (renewTime: string): unknown => decode(lease.schema, { spec: { renewTime } }).value;
  assert.deepEqual(renewed("2026-01-01T00:00:00.123456Z"), { spec: { renewTime: "2026-01-01T00:00:00.123456Z" } });
  assert.deepEqual(renewed("2026-01-01T02:00:00.000000+02:00"), { spec: { renewTime: "2026-01-01T00:00:00.000000Z" } });
  for (const wrong of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.1234567Z", "soon"]) {
    assert.throws(() => renewed(wrong), DecodeError, wrong);
  }
});

test("a value of another type cannot be decoded", () => {
  for (const spec of [{ ports: {} }, { ports: [{ port: "80" }] }, { type: 1 }, { selector: { a: 1 } }, "text"]) {
    assert.throws(() => decode(service.schema, { spec }), DecodeError, JSON.stringify(spec));
  }
});

test("names of JavaScript's own properties are keys of maps, and unknown as fields", () => {
  const body = JSON.parse('{"metadata": {"annotations": {"__proto__": "x"}}, "constructor": {"a": 1}}') as unknown;
  const { value, unknown } = decode(service.schema, body);
  assert.equal(JSON.stringify(value), '{"metadata":{"annotations":{"__proto__":"x"}}}');
  assert.deepEqual(unknown, ["constructor"]);
});
