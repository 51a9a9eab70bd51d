/** Leases: what an election stands on. Times have exactly six fractional digits, writes must name a version. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Api, accepted, at, partly, refused } from "./api.ts";

const SIX_DIGITS = "2026-01-02T03:04:05.678901Z";

export function leases(api: Api): void {
  test("a Lease keeps its times to the microsecond", async () => {
    const { path } = await lease(api);
    const { spec } = await api.read(path);
    assert.deepEqual(spec, {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: SIX_DIGITS,
      renewTime: SIX_DIGITS,
    });
  });

  for (const time of ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901234Z", "now"]) {
    test(`renewTime ${time} is refused`, async () => {
      const { collection, path } = await lease(api);
      const body = {
        metadata: { name: "b" },
        spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: time },
      };
      refused(await api.post(collection, body), { code: 400, reason: "BadRequest" });
      const current = await api.read(path);
      const put = await api.put(path, { ...current, spec: body.spec });
      refused(put, { code: 400, reason: "BadRequest" });
      const patched = await api.mergePatch(path, { spec: { renewTime: time } });
      assert.ok(patched.code === 400 || patched.code === 422, patched.text);
      assert.equal(at(await api.read(path), "spec.renewTime"), SIX_DIGITS);
    });
  }

  test("PUT needs the resourceVersion, and one of two wins", async () => {
    const { path } = await lease(api);
    const { metadata, spec } = await api.read(path);
    const claim = (holderIdentity: string, version: object): unknown => ({
      metadata: { name: "a", ...version },
      spec: { ...(spec as object), holderIdentity },
    });
    refused(await api.put(path, claim("b", {})), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.resourceVersion"],
    });
    const version = { resourceVersion: metadata.resourceVersion };
    partly(accepted(await api.put(path, claim("b", version))), { spec: { holderIdentity: "b" } });
    refused(await api.put(path, claim("c", version)), { code: 409, reason: "Conflict" });
    partly(await api.read(path), { spec: { holderIdentity: "b" } });
  });

  test("durations and transitions must make sense", async () => {
    const { path } = await lease(api);
    refused(await api.mergePatch(path, { spec: { leaseDurationSeconds: 0 } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.leaseDurationSeconds"],
    });
    refused(await api.mergePatch(path, { spec: { leaseTransitions: -1 } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.leaseTransitions"],
    });
  });

  test("a released Lease has an empty holder", async () => {
    const { path } = await lease(api);
    const released = await api.mergePatch(path, { spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    partly(accepted(released), { spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
  });
}

async function lease(api: Api): Promise<{ collection: string; path: string }> {
  const ns = await api.namespace();
  const collection = ns.group("coordination.k8s.io/v1", "leases");
  const times = { acquireTime: SIX_DIGITS, renewTime: SIX_DIGITS };
  const spec = { holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0, ...times };
  await api.create(collection, { metadata: { name: "a" }, spec });
  return { collection, path: `${collection}/a` };
}
