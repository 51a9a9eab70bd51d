import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, meta } from "../../../../test/support/lbcf-objects.ts";
import type { Driver } from "../objects/objects.ts";
import { reconcileDriver } from "./reconcile-driver.ts";

describe("drivers", () => {
  const driver = (metadata: object = {}, url = "http://driver"): Driver => ({
    metadata: { ...meta("driver"), finalizers: ["lbcf.tkestack.io/driver-in-use"], ...metadata },
    spec: { url, timeoutsMs: {} },
    status: { conditions: [] },
  });
  const decide = (each: Driver, loadBalancers = 0, records = 0) =>
    reconcileDriver({ driver: each, loadBalancers, records, health: undefined, nowMs: 0 });
  const accepted = (each: Driver) => decide(each).conditions.find(({ type }) => type === "Accepted");

  test("are accepted, or told why not", () => {
    assert.equal(accepted(driver())?.status, "True");
    assert.equal(accepted(driver({ name: "lbcf-x" }))?.reason, "InvalidName");
    assert.equal(accepted(driver({ name: "lbcf-azure", namespace: "kube-system" }))?.reason, "InvalidName");
    for (const url of ["ftp://x", "http://", "http://x?a=b", "http://x/a#b", "http://x y/", "x:80", ""]) {
      assert.equal(accepted(driver({}, url))?.reason, "InvalidURL", url);
    }
    for (const url of ["http://10.0.0.1:11029", "https://driver.kube-system.svc/lbcf/", "http://[::1]:80"]) {
      assert.equal(accepted(driver({}, url))?.status, "True", url);
    }
    const sealed = (caBundle: string): Driver => ({
      ...driver(),
      spec: { url: "https://x", timeoutsMs: {}, caBundle },
    });
    assert.equal(accepted(sealed("-----BEGIN CERTIFICATE-----"))?.reason, "InvalidCABundle");
    for (const caBundle of ["LS0tLS1CRUdJTg==", "LS0t\nLS1C\n", " LS0tLS1CRUdJTg=\n=\n", ""]) {
      assert.equal(accepted(sealed(caBundle))?.status, "True", caBundle);
    }
    for (const caBundle of ["LS0t=LS0t", "LS0t===", "!"]) {
      assert.equal(accepted(sealed(caBundle))?.reason, "InvalidCABundle", caBundle);
    }
  });

  test("are read in linear time, whatever is in caBundle", () => {
    const caBundle = `${" ".repeat(200_000)}!`; // quadratic: a minute
    const sealed: Driver = { ...driver(), spec: { url: "https://x", timeoutsMs: {}, caBundle } };
    const started = performance.now();
    assert.equal(accepted(sealed)?.reason, "InvalidCABundle");
    assert.ok(performance.now() - started < 1_000);
  });

  test("stay while they are used", () => {
    const deleted = driver({ deletionTimestamp: DELETED });
    assert.equal(decide(driver({ finalizers: [] })).finalizer, "add");
    assert.equal(decide(deleted).finalizer, "remove");
    for (const [loadBalancers, records] of [
      [1, 0],
      [0, 1],
    ] as const) {
      const { finalizer, conditions } = decide(deleted, loadBalancers, records);
      assert.equal(finalizer, undefined);
      assert.equal(conditions.find(({ type }) => type === "Deletable")?.reason, "StillUsed");
    }
  });
});
