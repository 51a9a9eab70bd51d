/**
 * The role in `deploy/lbcf-rbac.yaml`, held against what the controller does of LBCF, as `rbac.e2e.ts` does for Services:
 * one verb less, or one too many, in the file fails here. The server enforces who may block an owner's deletion, as some
 * clusters do.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type RogueDriver, startRogueDriver } from "../integration/lbcf/rogue-driver.ts";
import { condition, type ConditionOf, type LbcfObject, LbcfWorld } from "../integration/lbcf/world.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";

const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";
const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
const ROLE_PATH = "/apis/rbac.authorization.k8s.io/v1/clusterroles/azlb-lbcf";
/** Of these no request is made: they are asked for when a record with such an owner is created. */
const OWNERS = ["update lbcf.tkestack.io/backendgroups/finalizers", "update lbcf.tkestack.io/binds/finalizers"];

let plane: ConfinedPlane;
let world: LbcfWorld;
let rogue: RogueDriver;

before(async () => {
  plane = await ConfinedPlane.start(["rbac.yaml", "lbcf-rbac.yaml"], {
    admission: ["OwnerReferencesPermissionEnforcement"],
  });
  rogue = await startRogueDriver();
  world = await LbcfWorld.open(() => Promise.resolve(plane.cluster()), { kubeconfig: plane.kubeconfig });
});
after(async () => {
  await world?.close();
  await rogue?.close();
});

const pods = (app: string): object => ({ ports: [{ port: 80, protocol: "TCP" }], byLabel: { selector: { app } } });
const bind = (name: string, app: string): Promise<unknown> =>
  world.post(BINDS, {
    apiVersion: "lbcf.tkestack.io/v1",
    kind: "Bind",
    metadata: { name },
    spec: { loadBalancers: [{ name: "one", driver: "wire", spec: { id: name } }], pods: pods(app) },
  });
const registered = (path: string, count: number): Promise<void> =>
  world.eventually(async () => {
    const { status } = (await world.read(path)) as LbcfObject;
    assert.equal(status?.registeredBackends, count, JSON.stringify(status));
  });
const gone = (path: string): Promise<void> =>
  world.eventually(async () => assert.equal((await world.cluster.request("GET", path)).code, 404, path));

test("the role is what the controller needs for LBCF, and nothing else", async () => {
  await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: rogue.url });
  await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "1" } });
  await world.create("BackendGroup", "web", { loadBalancers: ["wire"], pods: pods("web") });
  await bind("web", "web");
  await world.addPod("web-0", { ip: "10.244.0.10", gated: true });
  await registered(`${LBCF}/backendgroups/web`, 1);
  await registered(`${BINDS}/web`, 1);
  await world.eventually(async () => {
    const { status } = (await world.read("/api/v1/namespaces/default/pods/web-0")) as LbcfObject;
    const gate = status?.conditions?.find(({ type }: ConditionOf) => type === "lbcf.tkestack.io/registered");
    assert.equal(gate?.status, "True");
  });
  await world.post("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "np" },
    spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }], selector: { app: "x" } },
  });
  const service = { name: "np", port: { port: 80 } };
  await world.create("BackendGroup", "nodes", { loadBalancers: ["wire"], service });
  await world.eventually(() => assert.ok(rogue.asked.some(({ body }) => body["serviceBackend"] !== undefined)));
  await world.delete("BackendGroup", "nodes");
  await gone(`${LBCF}/backendgroups/nodes`);
  await world.change("BackendGroup", "web", { spec: { parameters: { weight: "2" } } });
  await world.killPod("web-0");
  await registered(`${LBCF}/backendgroups/web`, 0);
  await races();
  await world.remove(`${BINDS}/web`, {});
  for (const [kind, name] of [
    ["backendgroups", "web"],
    ["loadbalancers", "wire"],
    ["loadbalancerdrivers", "wire"],
  ]) {
    await world.remove(`${LBCF}/${kind}/${name}`, {});
  }
  await gone(`${LBCF}/loadbalancerdrivers/wire`);
  await world.stopController();
  const ofServices = plane.granted("azlb-controller");
  const used = usedOf(plane.requests()).filter((each) => !ofServices.includes(each));
  assert.deepEqual([...used, ...OWNERS].toSorted(), plane.granted("azlb-lbcf"));
});

/** Others change each kind of object just when the controller changes its finalizers, until it had to read it anew. */
async function races(): Promise<void> {
  let at = 0;
  const race = async (kind: string, act: (name: string) => Promise<unknown>, nameOf = (name: string) => name) => {
    const root = kind === "binds" ? BINDS : `${LBCF}/${kind}`;
    await world.eventually(async () => {
      const name = `race-${++at}`;
      const path = `${root}/${nameOf(name)}`;
      const acting = act(name);
      for (let noise = 0; noise < 20; noise++) {
        const body = { metadata: { annotations: { noise: String(noise) } } };
        const headers = { "content-type": "application/merge-patch+json" };
        await world.cluster.request("PATCH", path, { body, headers });
      }
      await acting;
      if (kind !== "backendrecords") await world.remove(path, {});
      const wanted = `get lbcf.tkestack.io/${kind}`;
      assert.ok(
        plane.requests().some(({ what, code }) => what === wanted && code === 200),
        wanted,
      );
    });
  };
  await race("loadbalancerdrivers", (name) =>
    world.create("LoadBalancerDriver", name, { driverType: "Webhook", url: rogue.url }),
  );
  await race("loadbalancers", (name) => world.create("LoadBalancer", name, { lbDriver: "wire", lbSpec: { id: name } }));
  await race("backendgroups", (name) =>
    world.create("BackendGroup", name, { loadBalancers: ["wire"], static: [name] }),
  );
  await race("binds", (name) => bind(name, "nobody"));
  const record = { lbName: "wire", lbDriver: "wire", lbInfo: { id: "1" }, staticAddr: "10.0.0.9" };
  await race("backendrecords", async (name) => {
    await world.create("BackendRecord", name, record, { finalizers: ["lbcf.tkestack.io/deregister-backend"] });
    await world.delete("BackendRecord", name);
  });
}

test("without the right to block the deletion of owners no record is made, and the group says so", async () => {
  const { rules } = (await world.read(ROLE_PATH)) as unknown as { rules: { resources: string[] }[] };
  const left = rules.filter(({ resources }) => !resources.includes("backendgroups/finalizers"));
  assert.equal(left.length, rules.length - 1);
  await world.patch(ROLE_PATH, { rules: left });
  await world.stopController();
  await world.startController();
  await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: rogue.url });
  await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "1" } });
  await world.create("BackendGroup", "owned", { loadBalancers: ["wire"], static: ["10.0.0.1:80"] });
  await world.addPod("owned-0", { ip: "10.244.0.11", labels: { app: "owned" } });
  await bind("owned", "owned");
  for (const path of [`${LBCF}/backendgroups/owned`, `${BINDS}/owned`]) {
    await world.eventually(async () => {
      const said = condition((await world.read(path)) as LbcfObject, "Accepted");
      assert.deepEqual([said?.status, said?.reason], ["False", "CreateBackendFailed"]);
      assert.match(said?.message ?? "", /cannot set blockOwnerDeletion/);
    });
  }
  await world.patch(ROLE_PATH, { rules });
  await registered(`${LBCF}/backendgroups/owned`, 1);
  await registered(`${BINDS}/owned`, 1);
});
