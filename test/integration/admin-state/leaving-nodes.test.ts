/** Nodes that leave in other ways than by the usual taints: by one that the config names, and by the deletion of the Node. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { NODES } from "../../../src/kube/client/resources.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig } from "../../suites/admin-state/admin-state-rig.ts";

const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
const FINALIZER = "example.com/mine";

interface Diff {
  readonly changes: readonly { readonly path: string; readonly after?: unknown }[];
}

let rig: AdminStateRig;
let first = "";
let second = "";
before(async () => {
  rig = await AdminStateRig.open(openEmbeddedCluster, {
    azure: { topology: { nodes: 3 } },
    cloudConfig: { loadBalancerAdminStateTaints: SHUTDOWN.key },
  });
  [first = "", second = ""] = rig.nodes;
  await rig.serve();
});
after(() => rig.close());

test("a taint of loadBalancerAdminStateTaints sets Down, and None when it goes", async () => {
  await rig.taint(first, SHUTDOWN);
  await rig.expect({ [first]: "Down" });
  assert.match(await rig.heard(first, "LoadBalancerAdminStateDown"), /\(configured-taint\)/);
  await rig.untaint(first, SHUTDOWN);
  await rig.expect({});
});

test("a Node that is being deleted is Down before its entries go", async () => {
  await rig.services.kube.patch(NODES, { name: second }, { merge: { metadata: { finalizers: [FINALIZER] } } });
  const before = await rig.sequence();
  await rig.services.kube.delete(NODES, { name: second });
  const left = rig.nodes.filter((name) => name !== second);
  await rig.expect({}, { nodes: left });
  const entries = (await rig.audit(before)) as readonly { readonly path: string; readonly diff?: readonly Diff[] }[];
  for (const loadBalancer of ["kubernetes", "kubernetes-internal"]) {
    const changes = entries
      .filter(({ path }) => path.endsWith(`/loadBalancers/${loadBalancer}/backendAddressPools/kubernetes`))
      .flatMap(({ diff = [] }) => diff.flatMap((one) => one.changes));
    const ofNode = changes.filter(({ path }) => path.includes(`[${second}]`));
    assert.match(ofNode[0]?.path ?? "", /adminState$/, loadBalancer);
    assert.equal(ofNode[0]?.after, "Down");
    assert.ok(ofNode.length > 1, "and then it goes");
  }
  assert.match(await rig.heard(second, "LoadBalancerAdminStateDown"), /\(deletion\)/);
  await rig.services.kube.patch(NODES, { name: second }, { merge: { metadata: { finalizers: null } } });
  await eventually(async () => assert.rejects(rig.node(second)), WITHIN_MS);
  assert.match(await rig.services.metrics(), /azlb_resource_lock_wait_seconds_count [1-9]/);
});
