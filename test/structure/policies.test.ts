/**
 * The admission policies of `deploy/policies` are well formed, warn and never deny as shipped, and name what the
 * controller really reads and writes. What they refuse is tested on a real API server (`test/e2e/policies.e2e.ts`).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { parseAllDocuments } from "yaml";

import { PLACEMENT } from "../../src/core/intent/annotations/placement.ts";
import { CLASS_ANNOTATION, FINALIZER } from "../../src/core/intent/ownership.ts";
import { APPLIED_ANNOTATION } from "../../src/core/service/applied-state.ts";
import { kustomizedFiles, readPolicyFiles } from "../support/policy-manifests.ts";

const RBAC_FILE = resolve(import.meta.dirname, "../../deploy/rbac.yaml");
const files = readPolicyFiles();

test("there are five, and the kustomization has all of them", () => {
  const names = ["addresses.yaml", "controller-fields.yaml", "exposure.yaml", "member-lists.yaml", "node-events.yaml"];
  assert.deepEqual(
    files.map(({ file }) => file),
    names,
  );
  assert.deepEqual(kustomizedFiles().toSorted(), names);
});

for (const { file, text, objects, problems } of files) {
  test(`${file}: a comment, a policy, and a binding that warns and audits`, () => {
    assert.deepEqual(problems, []);
    assert.match(text, /^# \S/);
    const [policy, binding, ...others] = objects;
    assert.deepEqual(others, []);
    const name = `azlb-${file.replace(".yaml", "")}`;
    const version = "admissionregistration.k8s.io/v1";
    assert.deepEqual(
      [policy, binding].map((object) => [object?.apiVersion, object?.kind, object?.metadata.name]),
      [
        [version, "ValidatingAdmissionPolicy", name],
        [version, "ValidatingAdmissionPolicyBinding", name],
      ],
    );
    assert.deepEqual(binding?.spec, { policyName: name, validationActions: ["Warn", "Audit"] });
    assert.equal(policy?.spec.failurePolicy, "Fail");
    for (const validation of policy.spec.validations ?? []) {
      assert.ok(validation.reason !== undefined && validation.messageExpression !== undefined);
    }
  });
}

test("they name the annotations, the finalizer and the account that the controller has", () => {
  const { ipv4, ipv6, pipName, pipNameIPv6, pipPrefixId, pipPrefixIdIPv6, additionalPublicIPs, resourceGroup } =
    PLACEMENT;
  const addresses = [ipv4, ipv6, pipName, pipNameIPv6, pipPrefixId, pipPrefixIdIPv6, additionalPublicIPs];
  const keys = [...addresses, resourceGroup].map(({ key }) => key);
  assert.deepEqual(textsIn("azlb-addresses", "keys"), keys);
  assert.deepEqual(textsIn("azlb-exposure", "key"), [PLACEMENT.internal.key]);
  assert.deepEqual(textsIn("azlb-controller-fields", "keys"), [APPLIED_ANNOTATION, CLASS_ANNOTATION]);
  assert.deepEqual(textsIn("azlb-controller-fields", "finalizer"), [FINALIZER]);
  assert.ok(textsIn("azlb-controller-fields", "controllers").includes(accountOfRbac()));
});

/** The text literals in a variable of a policy. */
function textsIn(policy: string, variable: string): readonly string[] {
  const objects = files.flatMap((file) => file.objects);
  const variables = objects.find(({ metadata }) => metadata.name === policy)?.spec.variables ?? [];
  const { expression = "" } = variables.find(({ name }) => name === variable) ?? {};
  return [...expression.matchAll(/'([^']*)'/g)].map(([, text = ""]) => text);
}

function accountOfRbac(): string {
  const documents = parseAllDocuments(readFileSync(RBAC_FILE, "utf8"));
  const objects = documents.map((one) => one.toJS() as { kind: string; metadata: Record<string, string> });
  const account = objects.find(({ kind }) => kind === "ServiceAccount")?.metadata;
  return `system:serviceaccount:${account?.["namespace"]}:${account?.["name"]}`;
}
