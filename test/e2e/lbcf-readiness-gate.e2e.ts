/**
 * Which new pods get the readiness gate on a real kube-apiserver, and that such a pod's gate opens once it is registered: by the
 * policies of `deploy/readiness-gate.yaml`, installed with the chart, which gives them the version that the API server has; and by
 * the webhook of `deploy/readiness-gate-webhook.yaml`, whose address alone is the test's.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import { parseAllDocuments } from "yaml";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import { definitionsServed } from "../integration/lbcf/definitions.ts";
import { LbcfWorld, type LbcfWorldOptions } from "../integration/lbcf/world.ts";
import type { ClusterOpener } from "../support/cluster.ts";
import { CHART, helm } from "../support/helm.ts";
import { openMutatingRealCluster, openRealCluster } from "../support/real-cluster.ts";

const WITH_GATE = ["clusterName=kubernetes", "lbcf.enabled=true", "lbcf.readinessGate=true"];
const GATE = "lbcf.tkestack.io/registered";
const BIND = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";

interface PodBody {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly readinessGates?: readonly { readonly conditionType: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function install(kubeconfig: string): Promise<string> {
  const values = WITH_GATE.flatMap((value) => ["--set", value]);
  return helm("install", "azlb", CHART, "--namespace", "kube-system", "--kubeconfig", kubeconfig, ...values);
}

test("where the API server has no such policies the chart says so, and what to do instead", async () => {
  const cluster = await openRealCluster();
  try {
    await assert.rejects(
      install(cluster.kubeconfig),
      /needs an API server with MutatingAdmissionPolicy.*readinessGateWebhook.*pod templates/s,
    );
  } finally {
    await cluster.close();
  }
});

interface Way {
  readonly open: ClusterOpener;
  readonly options?: LbcfWorldOptions;
  readonly install: (world: LbcfWorld) => Promise<unknown>;
}

describe("the readiness gate, given to new pods by the API server", { concurrency: false }, () => {
  const world = declare({
    open: openMutatingRealCluster,
    options: { withDefinitions: false },
    install: async ({ cluster }) => {
      await install(cluster.kubeconfig);
      await definitionsServed(cluster);
    },
  });

  test("the policies have the version that the API server serves", async () => {
    for (const name of ["azlb-readiness-gate-groups", "azlb-readiness-gate-binds"]) {
      const path = `/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies/${name}`;
      assert.equal((await world().read(path))["apiVersion"], "admissionregistration.k8s.io/v1beta1");
    }
  });
});

describe("the readiness gate, given to new pods by the webhook", { concurrency: false }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "azlb-gate-"));
  after(() => rmSync(folder, { recursive: true }));
  const authority = await openCertificateAuthority(join(folder, "authority"));
  const issued = await authority.issueServer();
  const certificate = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  writeFileSync(certificate.certFile, issued.certPem);
  writeFileSync(certificate.keyFile, issued.keyPem);

  const world = declare({
    open: openRealCluster,
    options: { gateWebhook: { host: "127.0.0.1", port: 0, certificate } },
    install: async ({ cluster, gateWebhookUrl: url }) => {
      const text = readFileSync(resolve(import.meta.dirname, "../../deploy/readiness-gate-webhook.yaml"), "utf8");
      const objects = parseAllDocuments(text).map((each) => each.toJS() as WebhookConfiguration);
      const body = objects.find(({ kind }) => kind === "MutatingWebhookConfiguration") ?? assert.fail();
      const caBundle = Buffer.from(authority.caPem).toString("base64");
      for (const webhook of body.webhooks) webhook.clientConfig = { url, caBundle };
      const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
      assert.equal((await cluster.request("POST", path, { body })).code, 201);
    },
  });

  test("while nobody answers, pods are admitted as they are", async () => {
    await world().stopController();
    const spec = { containers: [{ name: "web", image: "web" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "alone", labels: { app: "web" } }, spec };
    const stored = (await world().post("/api/v1/namespaces/default/pods", body)) as unknown as PodBody;
    assert.equal(stored.spec.readinessGates, undefined);
  });
});

interface WebhookConfiguration {
  readonly kind: string;
  readonly webhooks: { clientConfig: object }[];
}

function declare({ open, options, install: installIn }: Way): () => LbcfWorld {
  let world: LbcfWorld;
  let count = 0;

  before(async () => {
    world = await LbcfWorld.open(open, { azure: { plainHttp: true }, ...options });
    await installIn(world);
    await world.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "plain" } });
    const labels = { "azlb.io/inject-readiness-gate": "true" };
    await world.patch("/api/v1/namespaces/default", { metadata: { labels } });
    const pods = (selector: object, except: readonly string[] = []): object => ({
      ports: [{ port: 8080 }],
      byLabel: { selector, except },
    });
    const group = (namespace: string, name: string, spec: object): Promise<unknown> =>
      world.createIn(namespace, "BackendGroup", name, { loadBalancers: ["lb"], ...spec });
    await group("default", "web", { pods: pods({ app: "web" }, ["left-out"]) });
    await group("default", "web-too", { pods: pods({ app: "web", tier: "front" }) });
    await group("default", "named", { pods: { ports: [{ port: 8080 }], byName: ["by-name"] } });
    await group("default", "fixed", { static: ["10.1.1.1"] });
    await group("plain", "web", { pods: pods({ app: "web" }) });
    await world.post(BIND, {
      apiVersion: "lbcf.tkestack.io/v1",
      kind: "Bind",
      metadata: { name: "bound" },
      spec: {
        loadBalancers: [{ name: "lb", driver: "missing", spec: { name: "x" } }],
        pods: { ports: [{ port: 8080, protocol: "TCP" }], byLabel: { selector: { app: "bound" } } },
      },
    });
  });
  after(() => world.close());

  const create = async (
    labels: object | undefined,
    pod: { name?: string; namespace?: string; gates?: string[] } = {},
  ) => {
    const { namespace = "default", name = `pod-${++count}`, gates } = pod;
    const readinessGates = gates?.map((conditionType) => ({ conditionType }));
    const spec = { containers: [{ name: "web", image: "web" }], ...(readinessGates && { readinessGates }) };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name, ...(labels && { labels }) }, spec };
    const stored = (await world.post(`/api/v1/namespaces/${namespace}/pods`, body)) as unknown as PodBody;
    return (stored.spec.readinessGates ?? []).map(({ conditionType }) => conditionType);
  };

  test("a pod that a group or a Bind selects gets it, once the API server knows of it", async () => {
    await world.eventually(async () => assert.deepEqual(await create({ app: "web" }), [GATE]));
    await world.eventually(async () => assert.deepEqual(await create({ app: "bound" }), [GATE]));
  });

  const CASES: readonly (readonly [string, Parameters<typeof create>, readonly string[]])[] = [
    ["selected by two groups gets it once", [{ app: "web", tier: "front" }], [GATE]],
    ["that has another gate keeps it", [{ app: "web" }, { gates: ["example.com/other"] }], ["example.com/other", GATE]],
    ["that has it already keeps it", [{ app: "web" }, { gates: [GATE] }], [GATE]],
    ["selected by its name gets it", [undefined, { name: "by-name" }], [GATE]],
    ["that the group leaves out gets none", [{ app: "web" }, { name: "left-out" }], []],
    ["with one of two labels gets none", [{ tier: "front" }], []],
    ["with another value gets none", [{ app: "db" }], []],
    ["without labels gets none", [undefined], []],
    ["of a namespace without the label gets none", [{ app: "web" }, { namespace: "plain" }], []],
  ];
  for (const [what, given, expected] of CASES) {
    test(`a pod ${what}`, async () => assert.deepEqual(await create(...given), expected));
  }

  test("its gate opens when the pod is registered", async () => {
    await world.create("LoadBalancer", "lb", {
      lbDriver: "lbcf-azure",
      lbSpec: { name: "gate" },
      attributes: { rules: "80:8080" },
    });
    await world.addPod("served", { ip: "10.244.9.9", labels: { app: "web" } });
    await world.eventually(async () => {
      const pod = (await world.read("/api/v1/namespaces/default/pods/served")) as unknown as PodBody;
      assert.deepEqual(pod.spec.readinessGates, [{ conditionType: GATE }]);
      assert.equal(pod.status?.conditions?.find(({ type }) => type === GATE)?.status, "True");
    });
    assert.ok((await world.addresses("gate")).includes("10.244.9.9"));
  });
  return () => world;
}
