import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, loadBalancer, meta } from "../../../../test/support/lbcf-objects.ts";
import { allowsNamespace, isDraining, invalidName, referencedKey } from "./references.ts";

describe("references", () => {
  test("lbcf- is kube-system's", () => {
    assert.equal(referencedKey("lbcf-clb", "default"), "kube-system/lbcf-clb");
    assert.equal(referencedKey("clb", "default"), "default/clb");
  });

  test("names belong where they belong", () => {
    const at = (name: string, namespace: string) => invalidName("LoadBalancerDriver", meta(name, { namespace }));
    assert.equal(at("lbcf-x", "kube-system"), undefined);
    assert.equal(at("x", "default"), undefined);
    assert.ok(at("lbcf-x", "default"));
    assert.ok(at("x", "kube-system"));
    assert.equal(invalidName("LoadBalancer", meta("x", { namespace: "kube-system" })), undefined);
  });

  test("a scope is all that counts where there is one", () => {
    const scoped = (...scope: string[]) => loadBalancer("lb", { scope });
    assert.ok(allowsNamespace(scoped(), "default"));
    assert.ok(!allowsNamespace(scoped(), "other"));
    assert.ok(allowsNamespace(scoped("*"), "other"));
    assert.ok(!allowsNamespace(scoped("other"), "default"));
  });

  test("draining is a label in any case, or a deletion", () => {
    assert.ok(isDraining(meta("d", { labels: { "lbcf.tkestack.io/driver-draining": "True" } })));
    assert.ok(isDraining(meta("d", { deletionTimestamp: DELETED })));
    assert.ok(!isDraining(meta("d", { labels: { "lbcf.tkestack.io/driver-draining": "no" } })));
  });
});
