import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { group, record } from "../../../../test/support/lbcf-objects.ts";
import { readBackendGroup } from "../groups/read-backend-group.ts";
import { readBackendRecord } from "../records/read-backend-record.ts";
import { readPod } from "../pods/read-pod.ts";
import { newRecord } from "../records/record-spec.ts";

describe("reading", () => {
  const metadata = { name: "x", namespace: "default", uid: "u", resourceVersion: "1", generation: 3 };

  test("deprecated spellings become the present ones, without doubles", () => {
    const { spec } = readBackendGroup({
      metadata,
      spec: {
        lbName: "a",
        loadBalancers: ["a", "b"],
        pods: { port: { portNumber: 80 }, ports: [{ port: 80, protocol: "TCP" }], byLabel: { selector: { a: "b" } } },
      },
    });
    assert.deepEqual(spec.loadBalancers, ["a", "b"]);
    assert.deepEqual(spec.backends, {
      kind: "Pod",
      ports: [{ port: 80, protocol: "TCP" }],
      select: { labels: { a: "b" }, except: [] },
    });
  });

  test("a record survives the way to the server and back", () => {
    const backends = [
      { kind: "Pod", name: "p", uid: "u", port: { port: 80, protocol: "UDP" } },
      { kind: "Service", name: "s", port: { port: 80, protocol: "TCP" }, nodePort: 30_080, nodeName: "n" },
      { kind: "Static", address: "a:1" },
    ] as const;
    for (const backend of backends) {
      const spec = { ...record().spec, backend, ensurePolicy: { policy: "Always", periodMs: 90_000 } as const };
      const made = newRecord(group("web"), { name: "n", spec });
      assert.deepEqual(readBackendRecord({ ...made, metadata: { ...metadata, ...made.metadata } }).spec, spec);
    }
  });

  test("null is nothing", () => {
    const read = (spec: object) => readBackendGroup({ metadata, spec }).spec;
    assert.deepEqual(read({ lbName: "a", pods: null, service: null, static: ["x"] }).backends, {
      kind: "Static",
      addresses: ["x"],
    });
    assert.deepEqual(read({ lbName: "a", pods: { ports: [], port: null, byLabel: null, byName: ["b"] } }).backends, {
      kind: "Pod",
      ports: [],
      select: { names: ["b"] },
    });
  });

  test("periods are whole seconds, and never so short that a driver is asked all the time", () => {
    const read = (ensurePolicy: object) => readBackendRecord({ metadata, spec: { ensurePolicy } }).spec.ensurePolicy;
    const TABLE: readonly (readonly [object, number])[] = [
      [{ policy: "Always" }, 60_000],
      [{ policy: "Always", minPeriod: "90.6s" }, 91_000],
      [{ policy: "Always", minPeriod: "1ns" }, 10_000],
      [{ policy: "Always", minPeriod: "rubbish" }, 60_000],
      [{ policy: "Always", minPeriod: `${"9".repeat(400)}h` }, (2 ** 31 - 1) * 1_000],
      [{ policy: "Always", resyncPeriodInSeconds: -5 }, 10_000],
    ];
    for (const [policy, periodMs] of TABLE) assert.deepEqual(read(policy), { policy: "Always", periodMs });
  });

  test("a gate is seen in the pod's template", () => {
    const spec = { readinessGates: [{ conditionType: "lbcf.tkestack.io/registered" }] };
    const gated = { metadata, spec };
    assert.equal(readPod(gated).gate, "False");
    assert.equal(readPod({ metadata }).gate, undefined);
  });
});
