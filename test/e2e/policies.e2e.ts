/**
 * The policies of `deploy/policies` on a real kube-apiserver: as shipped they warn and refuse nothing; with Deny they
 * refuse the bad and admit the good, and a controller with the roles of `deploy/rbac.yaml` does all its work.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { AdminStateRig, OUT_OF_SERVICE } from "../suites/admin-state/admin-state-rig.ts";
import type { Cluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import type { Reply } from "../support/kube-connection.ts";
import { readPolicyFiles } from "../support/policy-manifests.ts";
import { WITHIN_MS } from "../support/service-rig.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";
import { BAD, GOOD, PREPARED, attempt } from "./policy-attempts.ts";

const ROOT = "/apis/admissionregistration.k8s.io/v1";
const BINDINGS = `${ROOT}/validatingadmissionpolicybindings`;
/** Not installed here, so its roles are not either. */
const EXTENSION = "lbcf.tkestack.io";
const MERGE = { "content-type": "application/merge-patch+json" };
const objects = readPolicyFiles().flatMap((file) => file.objects);
const names = objects.filter(({ spec }) => spec.policyName !== undefined).map(({ metadata }) => metadata.name);

let plane: ConfinedPlane;
let cluster: Cluster;

before(async () => {
  plane = await ConfinedPlane.start(["rbac.yaml"]);
  cluster = plane.cluster();
  for (const [path, body] of PREPARED) await created(path, body);
  for (const object of objects) {
    const collection = object.kind === "ValidatingAdmissionPolicy" ? `${ROOT}/validatingadmissionpolicies` : BINDINGS;
    await created(collection, object);
  }
});
after(() => cluster.close());

async function created(path: string, body: unknown): Promise<void> {
  const reply = await cluster.request("POST", path, { body });
  assert.equal(reply.code, 201, reply.text);
}

/** The policies that warned. */
function warnedBy({ headers }: Reply): readonly string[] {
  const warnings = [headers["warning"] ?? []].flat().join("\n");
  return names.filter((name) => warnings.includes(`ValidatingAdmissionPolicy '${name}'`));
}

/** Waits for the API server to judge by the policies as they are now: it learns of a change a moment later. */
async function inForce(judged: (reply: Reply, policy: string) => void): Promise<void> {
  for (const name of names) {
    const first = BAD.find(({ policy }) => policy === name);
    assert.ok(first, name);
    await eventually(async () => judged(await attempt(cluster, first), name), WITHIN_MS);
  }
}

test("as shipped, the bad is admitted with a warning, the good without", async () => {
  await inForce((reply, policy) => assert.deepEqual(warnedBy(reply), [policy]));
  for (const bad of BAD) {
    const reply = await attempt(cluster, bad);
    assert.ok(reply.code < 300, `${bad.what}: ${reply.text}`);
    assert.deepEqual(warnedBy(reply), [bad.policy], bad.what);
  }
  for (const good of GOOD) {
    const reply = await attempt(cluster, good);
    assert.ok(reply.code < 300, `${good.what}: ${reply.text}`);
    assert.deepEqual(warnedBy(reply), [], good.what);
  }
});

test("with Deny, the bad is refused and the good admitted", async () => {
  for (const name of names) {
    const body = { spec: { validationActions: ["Deny", "Audit"] } };
    const reply = await cluster.request("PATCH", `${BINDINGS}/${name}`, { headers: MERGE, body });
    assert.equal(reply.code, 200, reply.text);
  }
  await inForce((reply) => assert.ok(reply.code >= 400, reply.text));
  for (const bad of BAD) {
    const reply = await attempt(cluster, bad);
    assert.equal(reply.code, bad.policy === "azlb-exposure" ? 422 : 403, `${bad.what}: ${reply.text}`);
    assert.ok(reply.text.includes(`ValidatingAdmissionPolicy '${bad.policy}'`), reply.text);
    assert.ok(!reply.text.includes("expression"), reply.text);
  }
  for (const good of GOOD) {
    const reply = await attempt(cluster, good);
    assert.ok(reply.code < 300, `${good.what}: ${reply.text}`);
  }
});

test("with Deny, the controller serves a Service, speaks of a Node and cleans up", async () => {
  const shared = { ...cluster, close: () => Promise.resolve() };
  const rig = await AdminStateRig.open(() => Promise.resolve(shared), {
    azure: { topology: { nodes: 2 } },
    controller: { kubeconfig: plane.kubeconfig, leaderElect: true },
  });
  try {
    const { services } = rig;
    const [first = ""] = rig.nodes;
    await services.apply({ name: "web", annotations: { "azure-load-balancer-internal": "true" } });
    await services.served("web");
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.heard(first, "LoadBalancerAdminStateDown");
    await services.annotate("web", { "azure-load-balancer-internal": "false" });
    await services.served("web");
    await services.delete("web");
    await services.stop();
    const used = usedOf(plane.requests().filter(({ group }) => group !== EXTENSION));
    for (const write of ["patch services", "patch services/status", "create events", "patch configmaps"])
      assert.ok(used.includes(write), write);
  } finally {
    await rig.close();
  }
});
