import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, pod, record, registered } from "../../../../test/support/lbcf-objects.ts";
import { type ObservedGate, reconcileReadinessGate } from "./readiness-gate.ts";

describe("the readiness gate", () => {
  const gated = pod("web-0", { gate: "False", ready: false });
  const at = (address: string) => record(registered(address));
  const decide = (
    { wanted = 1, ...observed }: Partial<Omit<ObservedGate, "wanted">> & { wanted?: number | "none" },
    asked: () => void = () => {},
  ): string | undefined =>
    reconcileReadinessGate({
      pod: gated,
      records: [],
      wanted: () => {
        asked();
        return wanted === "none" ? undefined : wanted;
      },
      ...observed,
    })?.status;

  test("opens when all its records are registered", () => {
    assert.equal(decide({ records: [at("10.0.0.1")] }), "True");
    assert.equal(decide({ records: [at("10.0.0.1")], wanted: 2 }), undefined);
    assert.equal(decide({ records: [record({ backendAddr: "10.0.0.1", generatedFrom: "10.0.0.1" })] }), undefined);
    assert.equal(decide({ records: [] }), undefined);
    assert.equal(decide({ records: [at("10.0.0.1")], wanted: "none" }), undefined);
  });

  test("stays open when a driver fails later, and closes for a new address", () => {
    const open = { ...gated, gate: "True" } as const;
    const failing = record({ ...registered("10.0.0.1"), conditions: [{ type: "Registered", status: "False" }] });
    assert.equal(decide({ pod: open, records: [failing] }), undefined);
    assert.equal(decide({ pod: { ...open, ip: "10.0.0.2" }, records: [at("10.0.0.1")] }), "False");
  });

  test("is decided without a look at the groups while a record is missing, and once it is open", () => {
    const never = (): never => assert.fail("the groups were looked at");
    const waiting = record({ backendAddr: "10.0.0.1", generatedFrom: "10.0.0.1" });
    assert.equal(decide({ records: [at("10.0.0.1"), waiting] }, never), undefined);
    assert.equal(decide({ records: [] }, never), undefined);
    assert.equal(decide({ pod: { ...gated, gate: "True" }, records: [at("10.0.0.1")] }, never), undefined);
  });

  test("is not set on a pod without the gate, or on a terminating one", () => {
    assert.equal(decide({ pod: pod("web-0"), records: [at("10.0.0.1")] }), undefined);
    assert.equal(
      decide({ pod: pod("web-0", { gate: "False" }, { deletionTimestamp: DELETED }), records: [at("10.0.0.1")] }),
      undefined,
    );
  });
});
