/**
 * The read-only API's authorisation by a real kube-apiserver: real tokens, TokenReview and SubjectAccessReview, and no more
 * rights for the controller than `deploy/rbac.yaml` and `api-rbac.yaml` grant. A user of a namespace sees its own Service and
 * no other, also through the API server's proxy and a process that does not lead; without a token for the audience nobody
 * sees anything.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { parse, stringify } from "yaml";

import { selfSigned } from "../../src/api/certificate.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { startController, type RunningController } from "../../src/main/controller.ts";
import { ApiClient, type ApiAnswer } from "../support/api-client.ts";
import { runAzlb } from "../support/azlb-process.ts";
import { eventually } from "../support/eventually.ts";
import { ServiceRig, WITHIN_MS } from "../support/service-rig.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** The API server's proxy refuses endpoints on loopback. */
const [machine] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, family }) => !internal && family === "IPv4");
const host = machine?.address ?? "127.0.0.1";
const noNetwork = machine === undefined ? "this machine has no address but loopback: the proxy was not tested" : false;
const keys = selfSigned(host, Date.now());
const folder = mkdtempSync(join(tmpdir(), "azlb-api-"));
let plane: ConfinedPlane;
let rig: ServiceRig;
let standby: RunningController | undefined;

before(async () => {
  const certificate = certificateFiles();
  writeFileSync(certificate.certFile, keys.cert);
  writeFileSync(certificate.keyFile, keys.key);
  plane = await ConfinedPlane.start(["rbac.yaml", "api-rbac.yaml"], {}, ["azlb-api-reader"]);
  rig = await ServiceRig.open(() => Promise.resolve(plane.cluster()), {
    controller: {
      kubeconfig: plane.kubeconfig,
      leaderElect: true,
      api: { host, port: 0, certificate, advertised: host },
    },
  });
  await rig.createNamespace("team-a");
  for (const name of ["team-a/web", "team-a/other", "default/web"]) await rig.apply({ name });
  await post("/api/v1/namespaces/team-a/serviceaccounts", { metadata: { name: "viewer" } });
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "operator" } });
  await bind("Role", "team-a", "viewer", { resources: ["services"], resourceNames: ["web"], verbs: ["get"] });
  await bind("ClusterRole", "default", "operator", { resources: ["services"], verbs: ["list", "get"] });
});
after(async () => {
  await standby?.close();
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

test(
  "through the API server's proxy: with the viewer role, its own Service in full and no other",
  { skip: noNetwork },
  async () => {
    await publish(rig.apiUrl);
    await bindReader("team-a", "viewer");
    const own = await proxied("team-a", "viewer");
    await eventually(async () => {
      const { status, text } = await own("services/team-a/web");
      assert.equal(status, 200, text);
      const detail = JSON.parse(text) as { state: string; addresses: string[]; pools: { members: object[] }[] };
      assert.equal(detail.state, "served");
      assert.equal(detail.pools[0]?.members.length, 3);
      assert.doesNotMatch(text, /team-a\/other|default\/web/);
    }, WITHIN_MS);
    assert.equal((await own("services/team-a/other")).status, 403);
    assert.equal((await own("services/default/web")).status, 403);
    assert.equal((await own("overview")).status, 403);
    const tokenless = await proxied("team-a", "viewer", "no token");
    assert.equal((await tokenless("services/team-a/web")).status, 401);
    const stranger = await proxied("default", "operator");
    const { status, text } = await stranger("services/default/web");
    assert.equal(status, 403, text);
    assert.match(text, /cannot get resource \\?"services\/proxy/, "who has not the role does not get there at all");
  },
);

test(
  "azlb explain finds it by itself: the user's own Service, and no right in Azure",
  { skip: noNetwork },
  async () => {
    const token = await tokenOf("team-a", "viewer");
    const kubeconfig = join(folder, "viewer.kubeconfig");
    writeFileSync(kubeconfig, readFileSync(plane.kubeconfig, "utf8").replace(/^users:[\s\S]*/m, userWith(token)));
    const args = ["explain", "web", "-n", "team-a", "--kubeconfig", kubeconfig];
    const tokenless = await runAzlb(...args);
    assert.equal(tokenless.code, 2, tokenless.stderr);
    assert.match(
      tokenless.stderr,
      /the controller's API was not asked \(no token of ServiceAccount team-a\/viewer for/,
    );
    const rule = { resources: ["serviceaccounts/token"], resourceNames: ["viewer"], verbs: ["create"] };
    await bind("Role", "team-a", "viewer-token", rule, "viewer");
    await eventually(async () => {
      const { code, stdout, stderr } = await runAzlb(...args);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^stands +served for .*: everything is as it asks$/m);
      assert.match(stdout, /^told by +the controller \(kube-system\/azlb-api, through the API server\)$/m);
    }, WITHIN_MS);
    const other = await runAzlb("explain", "other", "-n", "team-a", "--kubeconfig", kubeconfig);
    assert.match(other.stderr, /you may not get services team-a\/other/);
    assert.notEqual(other.code, 0);
  },
);

test("a process that waits passes it on to the one that leads", { skip: noNetwork }, async () => {
  standby = await startController({
    kubeconfig: plane.kubeconfig,
    cloudConfig: { kind: "object", value: rig.azure.cloudConfig },
    clusterName: "kubernetes",
    env: {},
    log: SILENT_LOG,
    leaderElect: true,
    api: { host, port: 0, certificate: certificateFiles(), advertised: host },
  });
  await publish(standby.apiUrl ?? "");
  const own = await proxied("team-a", "viewer");
  await eventually(async () => {
    const { status, text } = await own("services/team-a/web");
    assert.equal(status, 200, text);
    assert.equal((JSON.parse(text) as { state: string }).state, "served");
  }, WITHIN_MS);
  assert.equal((await own("services/default/web")).status, 403);
});

test("the role of the API is what it needs, and nothing else", () => {
  const reviews = plane.requests().filter(({ what }) => /tokenreviews|subjectaccessreviews|endpointslices/.test(what));
  assert.deepEqual(usedOf(reviews), plane.granted("azlb-api"));
});

test("nothing that leaves holds a credential of Azure", async () => {
  const operator = await as("default", "operator", "azlb");
  const secret = String((rig.azure.cloudConfig as { aadClientSecret?: string }).aadClientSecret);
  for (const path of ["overview", "services", "services/default/web", "nodes", "loadbalancers", "writes"])
    assert.ok(!(await operator.answer(`/api/v1/${path}`)).text.includes(secret), path);
});

/** The Service of `deploy`, with that process alone behind it. */
async function publish(url: string): Promise<void> {
  const file = new URL("../../deploy/api-service.yaml", import.meta.url);
  const service = parse(readFileSync(file, "utf8")) as { metadata: { name: string } };
  const root = "/api/v1/namespaces/kube-system";
  const slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";
  await rig.cluster.request("POST", `${root}/services`, { body: service });
  await ensurePod(root);
  await rig.cluster.request("DELETE", `${slices}/azlb-api`);
  await rig.cluster.request("DELETE", `${root}/endpoints/azlb-api`);
  const { name } = service.metadata;
  const port = Number(new URL(url).port);
  await post(slices, {
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: [host], conditions: { ready: true }, targetRef: POD }],
    ports: [{ name: "api", port, protocol: "TCP" }],
  });
  const subsets = [{ addresses: [{ ip: host, targetRef: POD }], ports: [{ name: "api", port, protocol: "TCP" }] }];
  await post(`${root}/endpoints`, { metadata: { name }, subsets }); // older API servers look there
}

const POD = { kind: "Pod", namespace: "kube-system", name: "azlb-controller-0" };

/** The proxy asks for the pod of an address. */
async function ensurePod(root: string): Promise<void> {
  const spec = { containers: [{ name: "controller", image: "azlb" }] };
  const { code } = await rig.cluster.request("POST", `${root}/pods`, { body: { metadata: { name: POD.name }, spec } });
  assert.ok(code === 201 || code === 409);
  const status = { phase: "Running", podIP: host, podIPs: [{ ip: host }] };
  const patched = await rig.cluster.request("PATCH", `${root}/pods/${POD.name}/status`, {
    body: { status },
    headers: { "content-type": "application/merge-patch+json" },
  });
  assert.equal(patched.code, 200, patched.text);
}

/** Asks with the account's own token for the API server, and the one for the API in its header. */
async function proxied(namespace: string, account: string, how = "both tokens") {
  const [forCluster, forApi] = await Promise.all([tokenOf(namespace, account), tokenOf(namespace, account, "azlb")]);
  const headers = {
    authorization: `Bearer ${forCluster}`,
    ...(how === "both tokens" && { "x-azlb-token": forApi }),
  };
  const { clusters } = parse(readFileSync(plane.kubeconfig, "utf8")) as Kubeconfig;
  const { server = "", "certificate-authority-data": ca = "" } = clusters[0]?.cluster ?? {};
  const client = new ApiClient(server, { ca: Buffer.from(ca, "base64").toString() });
  const root = "/api/v1/namespaces/kube-system/services/https:azlb-api:api/proxy/api/v1";
  return (path: string): Promise<ApiAnswer> => client.answer(`${root}/${path}`, headers);
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
}

async function bindReader(namespace: string, name: string): Promise<void> {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "azlb-api-reader" };
  await post(`${RBAC}/namespaces/kube-system/rolebindings`, {
    metadata: { name: "readers" },
    roleRef,
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
}

function userWith(token: string): string {
  return stringify({ users: [{ name: "admin", user: { token } }] });
}

function certificateFiles() {
  return { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
}

function clientWith(token: string | undefined): ApiClient {
  return new ApiClient(rig.apiUrl, { ca: keys.cert, ...(token !== undefined && { token }) });
}

/** With a token of a ServiceAccount; without an audience: for the API server. */
async function as(namespace: string, account: string, audience?: string): Promise<ApiClient> {
  return clientWith(await tokenOf(namespace, account, audience));
}

async function tokenOf(namespace: string, account: string, audience?: string): Promise<string> {
  const spec = audience === undefined ? {} : { audiences: [audience] };
  const body = await post(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, { spec });
  return (body as unknown as { status: { token: string } }).status.token;
}

async function post(path: string, body: object): Promise<object> {
  const reply = await rig.cluster.request("POST", path, { body });
  assert.equal(reply.code, 201, reply.text);
  return reply.body;
}

async function bind(kind: string, namespace: string, name: string, rule: object, account = name): Promise<void> {
  const place = kind === "Role" ? `${RBAC}/namespaces/${namespace}` : RBAC;
  const low = kind.toLowerCase();
  await post(`${place}/${low}s`, { metadata: { name }, rules: [{ apiGroups: [""], ...rule }] });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name };
  await post(`${place}/${low}bindings`, {
    metadata: { name },
    roleRef,
    subjects: [{ kind: "ServiceAccount", namespace, name: account }],
  });
}
