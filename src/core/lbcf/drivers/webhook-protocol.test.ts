import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { loadBalancer, record, registered } from "../../../../test/support/lbcf-objects.ts";
import {
  backendRequest,
  loadBalancerRequest,
  validateBackendRequest,
  validateLoadBalancerRequest,
} from "./webhook-protocol.ts";

describe("requests", () => {
  test("empty maps are null, old ones are left out where there are none", () => {
    assert.deepEqual(validateLoadBalancerRequest(loadBalancer("lb", { lbSpec: {} }), "Create", {}), {
      lbSpec: null,
      operation: "Create",
      attributes: null,
      dryRun: false,
    });
  });

  test("an ensured load balancer comes with its lbInfo", () => {
    const body = loadBalancerRequest("ensureLoadBalancer", loadBalancer("lb"), "retry");
    assert.deepEqual(body.lbInfo, { id: "lb" });
    assert.equal(body.recordID, "ensureLoadBalancer(uid-lb)");
  });

  test("old parameters go in both spellings", () => {
    const question = { backendType: "Pod", lbInfo: {}, operation: "Update", parameters: {} } as const;
    const body = validateBackendRequest({ ...question, oldParameters: { a: "1" } });
    assert.deepEqual([body.OldParameters, body.oldParameters], [{ a: "1" }, { a: "1" }]);
  });

  test("a record's id stays, its retry's does not", () => {
    const [one, two] = ["a", "b"].map((retry) => backendRequest("ensureBackend", record(registered("x")), retry));
    assert.equal(one?.recordID, two?.recordID);
    assert.notEqual(one?.retryID, two?.retryID);
  });
});
