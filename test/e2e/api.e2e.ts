/**
 * The read-only API's authorisation by a real kube-apiserver: real tokens, TokenReview and SubjectAccessReview, and no more
 * rights for the controller than `deploy/rbac.yaml` and `api-rbac.yaml` grant. A user of a namespace sees its own Service and
 * no other; without a token for the audience nobody sees anything.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { selfSigned } from "../../src/api/certificate.ts";
import { ApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { ServiceRig, WITHIN_MS } from "../support/service-rig.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const keys = selfSigned("127.0.0.1", Date.now());
const folder = mkdtempSync(join(tmpdir(), "azlb-api-"));
let plane: ConfinedPlane;
let rig: ServiceRig;

before(async () => {
  const certificate = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  writeFileSync(certificate.certFile, keys.cert);
  writeFileSync(certificate.keyFile, keys.key);
  plane = await ConfinedPlane.start(["rbac.yaml", "api-rbac.yaml"], {}, ["azlb-api-reader"]);
  rig = await ServiceRig.open(() => Promise.resolve(plane.cluster()), {
    controller: { kubeconfig: plane.kubeconfig, api: { host: "127.0.0.1", port: 0, certificate } },
  });
  await rig.createNamespace("team-a");
  for (const name of ["team-a/web", "team-a/other", "default/web"]) await rig.apply({ name });
  await post("/api/v1/namespaces/team-a/serviceaccounts", { metadata: { name: "viewer" } });
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "operator" } });
  await bind("Role", "team-a", "viewer", { resources: ["services"], resourceNames: ["web"], verbs: ["get"] });
  await bind("ClusterRole", "default", "operator", { resources: ["services"], verbs: ["list", "get"] });
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a namespace's user sees its own Service and no other, the operator everything", async () => {
  const viewer = await as("team-a", "viewer", "azlb");
  await eventually(async () => {
    const { status, text } = await viewer.answer("/api/v1/services/team-a/web");
    assert.equal(status, 200, text);
    assert.equal((JSON.parse(text) as { state: string }).state, "served");
    assert.doesNotMatch(text, /team-a\/other|default\/web/);
  }, WITHIN_MS);
  for (const path of [
    "services/team-a/other",
    "services/default/web",
    "services?namespace=team-a",
    "services",
    "overview",
    "nodes",
    "writes",
    "changes",
  ])
    assert.equal((await viewer.answer(`/api/v1/${path}`)).status, 403, path);
  const operator = await as("default", "operator", "azlb");
  const { items } = await operator.get<{ items: { namespace: string; name: string }[] }>("/api/v1/services");
  assert.deepEqual(items.map(({ namespace, name }) => `${namespace}/${name}`).toSorted(), [
    "default/web",
    "team-a/other",
    "team-a/web",
  ]);
});

test("no token, one that is none, and one for the API server are refused", async () => {
  const forCluster = await as("default", "operator");
  for (const client of [clientWith(undefined), clientWith("nonsense"), forCluster])
    assert.equal((await client.answer("/api/v1/overview")).status, 401);
});

test("the role of the API is what it needs, and nothing else", () => {
  const reviews = plane.requests().filter(({ what }) => /tokenreviews|subjectaccessreviews/.test(what));
  assert.deepEqual(usedOf(reviews), plane.granted("azlb-api"));
});

test("nothing that leaves holds a credential of Azure", async () => {
  const operator = await as("default", "operator", "azlb");
  const secret = String((rig.azure.cloudConfig as { aadClientSecret?: string }).aadClientSecret);
  for (const path of ["overview", "services", "services/default/web", "nodes", "loadbalancers", "writes"])
    assert.ok(!(await operator.answer(`/api/v1/${path}`)).text.includes(secret), path);
});

function clientWith(token: string | undefined): ApiClient {
  return new ApiClient(rig.apiUrl, { ca: keys.cert, ...(token !== undefined && { token }) });
}

/** With a token of a ServiceAccount; without an audience: for the API server. */
async function as(namespace: string, account: string, audience?: string): Promise<ApiClient> {
  const spec = audience === undefined ? {} : { audiences: [audience] };
  const body = await post(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, { spec });
  return clientWith((body as unknown as { status: { token: string } }).status.token);
}

async function post(path: string, body: object): Promise<object> {
  const reply = await rig.cluster.request("POST", path, { body });
  assert.equal(reply.code, 201, reply.text);
  return reply.body;
}

async function bind(kind: string, namespace: string, name: string, rule: object): Promise<void> {
  const place = kind === "Role" ? `${RBAC}/namespaces/${namespace}` : RBAC;
  const low = kind.toLowerCase();
  await post(`${place}/${low}s`, { metadata: { name }, rules: [{ apiGroups: [""], ...rule }] });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name };
  await post(`${place}/${low}bindings`, {
    metadata: { name },
    roleRef,
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
}
