/**
 * The policies of `deploy/readiness-gate.yaml` on a real kube-apiserver, installed with the chart, which gives them the version that
 * the API server has: which new pods get the readiness gate, and that such a pod's gate opens once it is registered.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { definitionsServed } from "../integration/lbcf/definitions.ts";
import { LbcfWorld } from "../integration/lbcf/world.ts";
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
      /needs an API server with MutatingAdmissionPolicy.*pod templates/s,
    );
  } finally {
    await cluster.close();
  }
});

describe("the readiness gate, given to new pods by the API server", { concurrency: false }, () => {
  let world: LbcfWorld;
  let count = 0;

  before(async () => {
    world = await LbcfWorld.open(openMutatingRealCluster, { azure: { plainHttp: true }, withDefinitions: false });
    await install(world.cluster.kubeconfig);
    await definitionsServed(world.cluster);
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

  test("the policies have the version that the API server serves", async () => {
    for (const name of ["azlb-readiness-gate-groups", "azlb-readiness-gate-binds"]) {
      const path = `/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies/${name}`;
      assert.equal((await world.read(path))["apiVersion"], "admissionregistration.k8s.io/v1beta1");
    }
  });

  test("a pod that a group or a Bind selects gets it, once the API server has the policies", async () => {
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
});
