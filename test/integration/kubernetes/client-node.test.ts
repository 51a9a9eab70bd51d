/** The official JavaScript client against the embedded API: what its users take for granted works. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
} from "@kubernetes/client-node";

import { type RunningKubernetes, startKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { eventually } from "../../support/eventually.ts";

const WITHIN_MS = 60_000;
const namespace = "default";
let kubernetes: RunningKubernetes;
let config: KubeConfig;
let core: CoreV1Api;

before(async () => {
  kubernetes = await startKubernetes({ nodes: [{ name: "node-0", internalIPs: ["10.240.0.4"] }], simulate: true });
  config = new KubeConfig();
  config.loadFromFile(kubernetes.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});
after(() => kubernetes.close());

test("objects are created, listed, patched and deleted", async () => {
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  const made = await core.createNamespacedService({ namespace, body: { metadata: { name: "web" }, spec } });
  assert.ok(made.spec?.clusterIP?.startsWith("10.0."));
  const patched = await core.patchNamespacedService(
    { namespace, name: "web", body: { metadata: { annotations: { a: "b" } } } },
    setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
  );
  assert.equal(patched.metadata?.annotations?.["a"], "b");
  const status = { loadBalancer: { ingress: [{ ip: "20.0.0.1" }] } };
  await core.patchNamespacedServiceStatus(
    { namespace, name: "web", body: { status } },
    setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
  );
  const listed = await core.listNamespacedService({ namespace, fieldSelector: "metadata.name=web" });
  assert.equal(listed.items[0]?.status?.loadBalancer?.ingress?.[0]?.ip, "20.0.0.1");
  await core.deleteNamespacedService({ namespace, name: "web" });
  await assert.rejects(core.readNamespacedService({ namespace, name: "web" }), { code: 404 });
});

test("a lease takes a MicroTime and refuses a Date", async () => {
  const leases = config.makeApiClient(CoordinationV1Api);
  const spec = { holderIdentity: "me", leaseDurationSeconds: 15 };
  const lease = (name: string, renewTime: Date): Parameters<CoordinationV1Api["createNamespacedLease"]>[0] => ({
    namespace,
    body: { metadata: { name }, spec: { ...spec, renewTime } },
  });
  await leases.createNamespacedLease(lease("strict", new V1MicroTime()));
  await assert.rejects(leases.createNamespacedLease(lease("lax", new Date())), { code: 400 });
});

test("the generic client finds kinds by discovery", async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "generic", namespace }, data: { a: "1" } };
  await objects.create(body);
  await objects.patch({ ...body, data: { b: "2" } });
  const read = (await objects.read(body)) as typeof body;
  assert.deepEqual(read.data, { a: "1", b: "2" });
});

test("an informer sees what comes, changes and goes", async () => {
  const seen: string[] = [];
  const list = (): ReturnType<CoreV1Api["listNamespacedConfigMap"]> => core.listNamespacedConfigMap({ namespace });
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
  for (const verb of ["add", "update", "delete"] as const) {
    informer.on(verb, (object) => void seen.push(`${verb} ${object.metadata?.name}`));
  }
  informer.on("error", () => {});
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "watched" } } });
  await eventually(() => assert.ok(seen.includes("add watched")), WITHIN_MS);
  await core.replaceNamespacedConfigMap({
    namespace,
    name: "watched",
    body: { metadata: { name: "watched" }, data: { a: "b" } },
  });
  await eventually(() => assert.ok(seen.includes("update watched")), WITHIN_MS);
  await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
  await eventually(() => assert.ok(seen.includes("delete watched")), WITHIN_MS);
  await informer.stop();
});

test("the simulated node is Ready and runs what it is given", async () => {
  await eventually(async () => {
    const node = await core.readNode({ name: "node-0" });
    const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
    assert.equal(ready?.status, "True");
  }, WITHIN_MS);
  const spec = { containers: [{ name: "c", image: "i" }] };
  await core.createNamespacedPod({ namespace, body: { metadata: { name: "p" }, spec } });
  await eventually(async () => {
    const pod = await core.readNamespacedPod({ namespace, name: "p" });
    assert.equal(pod.status?.phase, "Running");
    assert.equal(pod.spec?.nodeName, "node-0");
  }, WITHIN_MS);
});
