/**
 * The roles in `deploy/rbac.yaml`, on a real kube-apiserver that writes down each request: the controller takes a tour
 * of what it does, with those roles and no more. What the roles grant and what the controller then did must be the same
 * set, so that one verb less, or one too many, in the file fails here; and each name that a rule is narrowed to was needed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { RELEASE_PLACE } from "../../src/controller/brake/release-watch.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { CONFIG_MAPS, EVENTS, LEASES, NODES, SECRETS, type KubeObject } from "../../src/kube/client/resources.ts";
import { DEFAULT_LEASE } from "../../src/main/controller.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { ANNOUNCEMENT, AdminStateRig, OUT_OF_SERVICE } from "../suites/admin-state/admin-state-rig.ts";
import { eventually } from "../support/eventually.ts";
import { WITHIN_MS } from "../support/service-rig.ts";
import { ConfinedPlane, type Done, usedOf } from "./confined-plane.ts";

const ROLE = "azlb-controller";
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
/** Backends with a memory are an extension, with definitions and roles of its own. */
const EXTENSION = "lbcf.tkestack.io";

let plane: ConfinedPlane;
let rig: AdminStateRig;

before(async () => {
  plane = await ConfinedPlane.start(["rbac.yaml"]);
  rig = await AdminStateRig.open(() => Promise.resolve(plane.cluster()), {
    azure: { topology: { nodes: 2 } },
    controller: {
      kubeconfig: plane.kubeconfig,
      leaderElect: true,
      brakeLimits: { services: 0, members: { share: 0.4, minimum: 1 } },
      cloudConfig: { kind: "secret", namespace: "kube-system", name: "azure-cloud-provider", key: "cloud-config" },
    },
    prepare: async ({ kube, azure }) => {
      const value = Buffer.from(JSON.stringify(azure.cloudConfig)).toString("base64");
      const metadata = { namespace: "kube-system", name: "azure-cloud-provider" };
      await kube.create(SECRETS, { metadata, data: { "cloud-config": value } });
    },
  });
});
after(() => rig.close());

test("the roles are what the controller needs, and nothing else", async () => {
  const { services } = rig;
  const [first = "", second = ""] = rig.nodes;
  await services.apply({ name: "web" });
  await addressed("web");
  await heardOf("web", "EnsuredLoadBalancer");
  // the same said again is counted in the same event
  for (const timeout of ["5", "6", "7"]) {
    const before = await timesEnsured("web");
    await services.annotate("web", { "azure-load-balancer-tcp-idle-timeout": timeout });
    await eventually(async () => assert.ok((await timesEnsured("web")) > before), WITHIN_MS);
  }
  await rig.taint(first, OUT_OF_SERVICE);
  await rig.heard(first, "LoadBalancerAdminStateDown");
  await raceForNode(second);
  await ensureNodes(services.kube, [{ name: "late", internalIPs: ["10.240.0.77"], providerID: "" }]);
  await services.kube.delete(NODES, { name: first });
  await eventually(async () => {
    assert.deepEqual(Object.keys((await rig.states())["kubernetes/kubernetes"] ?? {}).toSorted(), ["late", second]);
  }, WITHIN_MS);
  await releaseBrake("late");
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
  assert.deepEqual(usedOf(audited()), plane.granted(ROLE));
  assert.deepEqual(plane.unneeded(ROLE, audited()), []);
});

async function timesEnsured(name: string): Promise<number> {
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name},reason=EnsuredLoadBalancer`;
  const { items } = await rig.services.kube.list<KubeObject & { count?: number }>(EVENTS, {
    namespace: "default",
    fieldSelector,
  });
  return items.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** One of two nodes is to leave the pool, which the brake withholds; the controller then looks for a release and takes it. */
async function releaseBrake(name: string): Promise<void> {
  const { kube } = rig.services;
  const label = (value: string | null): Promise<unknown> =>
    kube.patch(NODES, { name }, { merge: { metadata: { labels: { [EXCLUDE]: value } } } });
  await label("true");
  await rig.services.warned("web", "WriteWithheld");
  await kube.create(CONFIG_MAPS, { metadata: { ...RELEASE_PLACE }, data: { hash: "", writes: "" } });
  await eventually(
    () => assert.rejects(kube.get(CONFIG_MAPS, RELEASE_PLACE), (error) => isFailure(error, "notFound")),
    WITHIN_MS,
  );
  await label(null);
}

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

function audited(): readonly Done[] {
  return plane.requests().filter(({ group }) => group !== EXTENSION);
}
