/**
 * The role in `deploy/several-load-balancers-rbac.yaml`, held against what the controller reads besides with several load
 * balancers, as `rbac.e2e.ts` does for all else: one verb less, or one too many, in the file fails here.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ENDPOINT_SLICES } from "../../src/kube/client/resources.ts";
import { eventually } from "../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../support/service-rig.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";

const ROLE = "azlb-several-load-balancers";
/** Of which the controller looks for definitions, whether or not they are there. */
const EXTENSION = "lbcf.tkestack.io";
const TEAM = { team: "second" };

let plane: ConfinedPlane;
let rig: ServiceRig;

before(async () => {
  plane = await ConfinedPlane.start(["rbac.yaml", "several-load-balancers-rbac.yaml"]);
  rig = await ServiceRig.open(() => Promise.resolve(plane.cluster()), {
    azure: { topology: { nodes: 2 } },
    controller: { kubeconfig: plane.kubeconfig, leaderElect: true },
    cloudConfig: {
      multipleStandardLoadBalancerConfigurations: [
        { name: "kubernetes", primaryVMSet: "vmss" },
        { name: "second", primaryVMSet: "vmss2", serviceNamespaceSelector: { matchLabels: TEAM } },
      ],
    },
  });
});
after(() => rig.close());

test("with several load balancers the role is what the controller needs besides, and nothing else", async () => {
  const [node = ""] = rig.azure.nodes.map(({ name }) => name);
  const body = { metadata: { name: "second", labels: TEAM } };
  assert.equal((await rig.cluster.request("POST", "/api/v1/namespaces", { body })).code, 201);
  await rig.apply({ name: "second/local", spec: { externalTrafficPolicy: "Local" } });
  await rig.publishedWithin("second/local", WITHIN_MS);
  await rig.kube.create(ENDPOINT_SLICES, {
    metadata: { name: "local", namespace: "second", labels: { "kubernetes.io/service-name": "local" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.0.1"], nodeName: node, conditions: { ready: true } }],
    ports: [],
  });
  // by its namespace's labels it is on the second load balancer, and by its endpoints one node is in its pool
  await eventually(async () => {
    const loadBalancers = await rig.list("loadBalancers");
    assert.deepEqual(
      loadBalancers.map(({ name }) => name),
      ["second"],
    );
    assert.deepEqual(membersOf(loadBalancers[0], "second-local"), [node]);
  }, WITHIN_MS);
  await rig.stop();
  const used = usedOf(plane.requests().filter(({ group }) => group !== EXTENSION));
  const granted = plane.granted(ROLE);
  assert.deepEqual(
    used.filter((what) => granted.includes(what)),
    granted,
  );
  const known = [...granted, ...plane.granted("azlb-controller")];
  assert.deepEqual(
    used.filter((what) => !known.includes(what)),
    [],
  );
});

function membersOf(loadBalancer: WireBody | undefined, pool: string): string[] {
  const pools = (propertiesOf(loadBalancer)["backendAddressPools"] ?? []) as readonly WireBody[];
  const entries = propertiesOf(pools.find(({ name }) => name === pool))["loadBalancerBackendAddresses"] ?? [];
  return (entries as readonly WireBody[]).map(({ name }) => name);
}
