/** `azlb sandbox --kubeconfig` on a cluster that is not its own: a real kube-apiserver. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { AzlbProcess } from "../support/azlb-process.ts";
import { type RunningControlPlane, startControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { connect, type KubeConnection } from "../support/kube-connection.ts";

const WITHIN_MS = 60_000;
const SERVICES = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

interface Service {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } };
}

let plane: RunningControlPlane;
let kube: KubeConnection;
let sandbox: AzlbProcess;
before(async () => {
  plane = await startControlPlane();
  kube = connect(plane.kubeconfig);
  sandbox = new AzlbProcess(["sandbox", "--json", "--nodes", "2", "--kubeconfig", plane.kubeconfig]);
  await sandbox.says(/"armEndpoint"/);
});
after(async () => {
  await sandbox.end("SIGTERM");
  await kube.close();
  await plane.close();
});

test("its nodes are there, alive, and closed to other pods", async () => {
  const { items } = (await kube.request("GET", "/api/v1/nodes")).body as unknown as {
    items: { metadata: { name: string }; spec: { providerID?: string; taints?: { key: string }[] } }[];
  };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["vmss000000", "vmss000001"],
  );
  for (const { metadata, spec } of items) {
    assert.match(spec.providerID ?? "", /^azure:\/\//);
    assert.ok(spec.taints?.some(({ key }) => key === "azlb.io/sandbox"));
    await eventually(
      async () => assert.equal((await kube.request("GET", `${LEASES}/${metadata.name}`)).code, 200),
      WITHIN_MS,
    );
  }
});

test("a Service of that cluster gets its address from the emulated Azure, and gives it back", async () => {
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }], selector: { app: "web" } };
  const made = await kube.request("POST", SERVICES, { body: { metadata: { name: "web" }, spec } });
  assert.equal(made.code, 201, made.text);
  await eventually(async () => {
    const { status } = (await kube.request("GET", `${SERVICES}/web`)).body as Service;
    assert.match(status?.loadBalancer?.ingress?.[0]?.ip ?? "", /^\d+\.\d+\.\d+\.\d+$/);
  }, WITHIN_MS);
  await kube.request("DELETE", `${SERVICES}/web`);
  await eventually(async () => assert.equal((await kube.request("GET", `${SERVICES}/web`)).code, 404), WITHIN_MS);
});
