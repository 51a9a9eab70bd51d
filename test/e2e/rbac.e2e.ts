/**
 * The roles in `deploy/rbac.yaml`, on a real kube-apiserver that writes down each request: the controller takes a tour
 * of what it does, with those roles and no more. What the roles grant and what the controller then did must be the same
 * set, so that one verb less, or one too many, in the file fails here. The server does without streamed lists, as those
 * before 1.34 do: only there the controller has to list.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";

import { parseAllDocuments } from "yaml";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import { LEASES, NODES, SECRETS, type KubeObject } from "../../src/kube/resources.ts";
import { DEFAULT_LEASE } from "../../src/main/controller.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { ANNOUNCEMENT, DoomedRig, OUT_OF_SERVICE } from "../suites/admin-state/doomed-rig.ts";
import type { Cluster } from "../support/cluster.ts";
import { startControlPlane, type RunningControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { connect, writeKubeconfig } from "../support/kube-connection.ts";
import { WITHIN_MS } from "../support/service-rig.ts";

const RBAC_FILE = resolve(import.meta.dirname, "../../deploy/rbac.yaml");
const USER = "system:serviceaccount:kube-system:azlb-controller";
const ROLE = "azlb-controller";
/** Backends with a memory are an extension, with definitions and roles of its own. */
const EXTENSION = "lbcf.tkestack.io";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface RbacDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

interface AuditedRequest {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly apiGroup?: string };
  readonly responseStatus?: { readonly code: number };
}

const folder = mkdtempSync(join(tmpdir(), "azlb-rbac-"));
const auditLog = join(folder, "audit.log");
const documents = parseAllDocuments(readFileSync(RBAC_FILE, "utf8")).map((one) => one.toJS() as RbacDocument);
let plane: RunningControlPlane;
let rig: DoomedRig;

before(async () => {
  plane = await startControlPlane({ auditLog, without: ["WatchList"] });
  const kubeconfig = await confined(plane);
  rig = await DoomedRig.open(() => Promise.resolve(clusterOf(plane)), {
    azure: { topology: { nodes: 2 } },
    controller: {
      kubeconfig,
      leaderElect: true,
      cloudConfig: { kind: "secret", namespace: "kube-system", name: "azure-cloud-provider", key: "cloud-config" },
    },
    prepare: async ({ kube, azure }) => {
      const value = Buffer.from(JSON.stringify(azure.cloudConfig)).toString("base64");
      const metadata = { namespace: "kube-system", name: "azure-cloud-provider" };
      await kube.create(SECRETS, { metadata, data: { "cloud-config": value } });
    },
  });
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the roles are what the controller needs, and nothing else", async () => {
  const { services } = rig;
  const [first = "", second = ""] = rig.nodes;
  await services.apply({ name: "web" });
  await addressed("web");
  await heardOf("web", "EnsuredLoadBalancer");
  // the same said again is counted in the same event
  for (const timeout of ["5", "6", "7"]) {
    await services.annotate("web", { "azure-load-balancer-tcp-idle-timeout": timeout });
    await eventually(
      async () => assert.ok(JSON.stringify(await services.list("loadBalancers")).includes(`InMinutes":${timeout}`)),
      WITHIN_MS,
    );
  }
  await rig.taint(first, OUT_OF_SERVICE);
  await rig.heard(first, "LoadBalancerAdminStateDown");
  await raceForNode(second);
  await ensureNodes(services.kube, [{ name: "late", internalIPs: ["10.240.0.77"], providerID: "" }]);
  await services.kube.delete(NODES, { name: first });
  await eventually(async () => {
    assert.deepEqual(Object.keys((await rig.states())["kubernetes/kubernetes"] ?? {}).toSorted(), ["late", second]);
  }, WITHIN_MS);
  await services.stop();
  const { namespace, name } = DEFAULT_LEASE;
  const lease = await services.kube.get<KubeObject & { spec: { holderIdentity?: string } }>(LEASES, {
    namespace,
    name,
  });
  assert.equal(lease.spec.holderIdentity ?? "", "", "it leaves the Lease free");
  await services.start();
  await services.patch("web", { spec: { type: "ClusterIP" } });
  await eventually(async () => {
    assert.deepEqual((await services.service("web")).metadata.finalizers ?? [], []);
  }, WITHIN_MS);
  await services.stop();
  const requests = audited();
  const refused = requests.filter(({ code }) => code === 403).map(({ what }) => what);
  assert.deepEqual([...new Set(refused)], [], "refused");
  const used = new Set(requests.filter(({ code }) => code < 300).map(({ what }) => what));
  assert.deepEqual([...used].toSorted(), granted());
});

/** Others change the node just when its eviction is announced, until the controller had to read it anew. */
async function raceForNode(name: string): Promise<void> {
  await eventually(async () => {
    const noise = Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        rig.services.kube.patch(NODES, { name }, { merge: { metadata: { annotations: { noise: String(at) } } } }),
      ),
    );
    await rig.announce(name, { message: `${ANNOUNCEMENT}${Math.random()}` });
    await noise;
    assert.ok(
      audited().some(({ what }) => what === "get nodes"),
      "the controller never had to read the node anew",
    );
  }, WITHIN_MS);
  await eventually(async () => assert.equal(await rig.isDoomed(name), true), WITHIN_MS);
}

async function addressed(name: string): Promise<void> {
  await eventually(async () => {
    const { ingress = [] } = (await rig.services.service(name)).status.loadBalancer;
    assert.equal(ingress.length, 1, JSON.stringify(await rig.services.events(name)));
  }, WITHIN_MS);
}

async function heardOf(name: string, reason: string): Promise<void> {
  await eventually(async () => {
    assert.ok((await rig.services.events(name)).some((event) => event.reason === reason));
  }, WITHIN_MS);
}

/** The controller's requests so far, as `verb group/resource`. */
function audited(): { what: string; code: number }[] {
  const lines = readFileSync(auditLog, "utf8").split("\n");
  return lines.slice(0, -1).flatMap((line) => {
    const { verb, user, objectRef, responseStatus } = JSON.parse(line) as AuditedRequest;
    if (user.username !== USER || objectRef === undefined || objectRef.apiGroup === EXTENSION) return [];
    const { apiGroup = "", resource, subresource } = objectRef;
    const what = subresource === undefined ? resource : `${resource}/${subresource}`;
    return [{ what: named(verb, apiGroup, what), code: responseStatus?.code ?? 0 }];
  });
}

function granted(): string[] {
  const roles = documents.filter(({ metadata }) => metadata.name === ROLE);
  const rules = roles.flatMap((role) => role.rules ?? []);
  const all = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => named(verb, group, resource)))),
  );
  return [...new Set(all)].toSorted();
}

function named(verb: string, group: string, resource: string): string {
  return `${verb} ${group === "" ? "" : `${group}/`}${resource}`;
}

/** Applies the file; answers a kubeconfig for whom its roles are bound to. */
async function confined({ kubeconfig, url }: RunningControlPlane): Promise<string> {
  const admin = connect(kubeconfig);
  for (const document of documents) {
    const reply = await admin.request("POST", collectionOf(document), { body: document });
    assert.equal(reply.code, 201, reply.text);
  }
  await admin.close();
  const authority = await openCertificateAuthority(join(dirname(kubeconfig), "ca"));
  const { certPem, keyPem } = await authority.issueClient({ user: USER });
  const path = join(folder, "kubeconfig");
  writeKubeconfig(path, { url, caPem: authority.caPem, certPem, keyPem });
  return path;
}

function collectionOf({ apiVersion, kind, metadata }: RbacDocument): string {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const namespace = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${root}${namespace}/${kind.toLowerCase()}s`;
}

function clusterOf(running: RunningControlPlane): Cluster {
  const { kubeconfig } = running;
  const connection = connect(kubeconfig);
  return {
    ...connection,
    kubeconfig,
    compact: () => Promise.resolve(),
    close: async () => {
      await connection.close();
      await running.close();
    },
  };
}
