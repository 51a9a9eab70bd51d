/**
 * There and back, as a driver sees it: a group and a Bind that LBCF made are taken over, change hands once more after pods came and
 * went, and come again. No server that should serve is missing at any moment, and no driver is asked to do again what is done. LBCF's
 * part is played by a model of what it asks when it starts.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { lbcfCallsAtStart, type LbcfObjects, type Stored } from "../../support/lbcf-at-start.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { type LbcfObject, LbcfWorld } from "./world.ts";

const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";
/** What the pages say to remove when LBCF takes its objects back. */
const OURS = ["lbcf.tkestack.io/deregister-backend-group", "lbcf.tkestack.io/driver-in-use"];

export function lbcfGiveBack(name: string, open: ClusterOpener): void {
  describe(`from LBCF to azlb and back on ${name}`, { concurrency: false }, () => declare(open));
}

function declare(open: ClusterOpener): void {
  let world: LbcfWorld;
  let driver: RogueDriver;
  /** `load balancer address` of what the driver has, and the fewest that it ever had of those that should serve. */
  const servers = new Set<string>();
  const missed: string[] = [];
  const steady = ["10.244.0.10", "10.244.0.11"];

  before(async () => {
    driver = await startRogueDriver((hook, body) => {
      const server = `${(body["lbInfo"] as { id?: string } | null)?.id} ${String(body["backendAddr"])}`;
      if (hook === "ensureBackend") servers.add(server);
      if (hook === "deregisterBackend") servers.delete(server);
      if (hook === "deregisterBackend" && steady.some((ip) => server.endsWith(` ${ip}`))) missed.push(server);
      return WELL_BEHAVED(hook, body);
    });
    world = await LbcfWorld.open(open, { withController: false });
    await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: driver.url });
    for (const [at, ip] of steady.entries()) await world.addPod(`web-${at}`, { ip });
    await world.create("LoadBalancer", "lb", { lbDriver: "wire", lbSpec: { id: "lb" }, attributes: { a: "1" } });
    const pods = { ports: [{ port: 8080, protocol: "TCP" }], byLabel: { selector: { app: "web" } } };
    await world.create("BackendGroup", "web", { loadBalancers: ["lb"], pods });
    await world.create("BackendGroup", "weighted", { loadBalancers: ["lb"], pods, parameters: { weight: "5" } });
    const bound = [
      { name: "one", driver: "wire", spec: { id: "one" } },
      { name: "two", driver: "wire", spec: { id: "two" }, attributes: { b: "2" } },
    ];
    await world.post(BINDS, {
      apiVersion: "lbcf.tkestack.io/v1",
      kind: "Bind",
      metadata: { name: "bound" },
      spec: { loadBalancers: bound, pods },
    });
  });
  after(async () => {
    await world?.close();
    await driver?.close();
  });

  const list = async (path: string): Promise<readonly Stored[]> =>
    ((await world.read(path)) as unknown as { items: readonly Stored[] }).items;
  const objects = async (): Promise<LbcfObjects> => ({
    loadBalancers: await list(`${LBCF}/loadbalancers`),
    groups: await list(`${LBCF}/backendgroups`),
    binds: await list(BINDS),
    records: await list(`${LBCF}/backendrecords`),
    pods: await list("/api/v1/namespaces/default/pods"),
  });
  const allRegistered = (pods: number): Promise<void> =>
    world.eventually(async () => {
      const groups = [...(await list(`${LBCF}/backendgroups`)), ...(await list(BINDS))] as unknown as LbcfObject[];
      const counts = groups.map(({ status }) => [status?.backends, status?.registeredBackends]);
      assert.deepEqual(counts, [
        [pods, pods],
        [pods, pods],
        [2 * pods, 2 * pods],
      ]);
      assert.equal((await world.records()).length, 4 * pods);
    });
  const asked = (since: number): readonly string[] =>
    driver.asked
      .slice(since)
      .map(({ hook }) => hook)
      .filter((hook) => hook !== "healthz" && !hook.startsWith("validate"));

  test("what azlb leaves behind, LBCF takes as it is: it asks its drivers nothing", async (context) => {
    await world.startController();
    await allRegistered(2);
    await world.addPod("web-2", { ip: "10.244.0.12" });
    await allRegistered(3);
    await world.killPod("web-2");
    await allRegistered(2);
    await world.stopController();
    const calls = lbcfCallsAtStart(await objects());
    assert.deepEqual(calls, []);
    context.diagnostic(`give-back: ${calls.length} calls of a driver, ${servers.size} servers in place`);
    assert.deepEqual(missed, []);
  });

  test("a model that asks nothing would prove nothing: a record that is gone is registered anew", async () => {
    const { records, ...rest } = await objects();
    const [lost, ...others] = records;
    const calls = lbcfCallsAtStart({ ...rest, records: others });
    assert.deepEqual(calls, [`generateBackendAddr ${lost?.metadata.name}`, `ensureBackend ${lost?.metadata.name}`]);
    const { pods, ...besides } = await objects();
    assert.equal(lbcfCallsAtStart({ ...besides, pods: pods.slice(1) }).length, 4);
  });

  test("without azlb's finalizers everything can be deleted as LBCF does it", async () => {
    const kept = async (path: string): Promise<readonly string[]> =>
      (await list(path)).flatMap(({ metadata }) => (metadata as { finalizers?: string[] }).finalizers ?? []);
    const paths = [`${LBCF}/backendgroups`, `${LBCF}/loadbalancerdrivers`];
    assert.deepEqual([...new Set((await Promise.all(paths.map(kept))).flat())].sort(), OURS.toSorted());
    for (const path of paths) {
      for (const { metadata } of await list(path)) {
        await world.patch(`${path}/${metadata.name}`, { metadata: { finalizers: null } });
      }
    }
    assert.deepEqual((await Promise.all(paths.map(kept))).flat(), []);
    assert.deepEqual([...new Set(await kept(BINDS))], ["lbcf.tkestack.io/delete-load-loadbalancer"]);
    assert.deepEqual([...new Set(await kept(`${LBCF}/backendrecords`))], ["lbcf.tkestack.io/deregister-backend"]);
  });

  test("and azlb takes it over again: no server leaves, none is registered anew", async (context) => {
    const before = driver.asked.length;
    // as LBCF stores them: what azlb adds to a record is unknown to it, and lost with its next write
    for (const { metadata, spec, status: { conditions = [] } = {} } of await world.records()) {
      const { uid: _, ...podBackend } = spec["podBackend"] as Record<string, unknown>;
      const path = `${LBCF}/backendrecords/${metadata.name}`;
      await world.patch(path, { spec: { podBackend: { ...podBackend, uid: null } } });
      const known = conditions.map((each) => ({ ...each, observedGeneration: undefined }));
      const status = { generatedFrom: null, registeredAddr: null, conditions: known };
      await world.patch(`${path}/status`, { status });
    }
    await world.startController();
    await allRegistered(2);
    await world.addPod("web-3", { ip: "10.244.0.13" });
    await allRegistered(3);
    const hooks = asked(before);
    assert.deepEqual(hooks.toSorted(), [
      ...Array<string>(4).fill("ensureBackend"),
      ...Array<string>(4).fill("generateBackendAddr"),
    ]);
    assert.deepEqual(missed, []);
    context.diagnostic(`take-over: ${hooks.length - 8} calls besides the new pod's, ${missed.length} servers missed`);
  });
}
