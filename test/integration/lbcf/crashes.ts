/**
 * The controller dies before and after each of its calls, to the API server, to Azure and to a webhook driver, while it
 * registers a pod, follows one to another address, and takes one out. Its successor always comes to the same end, leaves
 * nothing behind, and the pod that only stood by was never taken out.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { type KillPoint, KillableController } from "./killable-controller.ts";
import { startRogueDriver, type RogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { LbcfWorld } from "./world.ts";

const STEADY = "10.244.0.1";
const FOREIGN = { name: "a-person", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } };

interface Scenario {
  readonly name: string;
  readonly act: (world: LbcfWorld) => Promise<void>;
  /** Who is registered then, besides the steady pod. */
  readonly after: readonly string[];
}

const LEAST_KILLS: Readonly<Record<Kills, number>> = { both: 40, some: 10 };
const NEVER: KillPoint = { call: 0, when: "before" };

/** Each begins where the one before ends. */
const SCENARIOS: readonly Scenario[] = [
  {
    name: "registering",
    act: async (world) => void (await world.addPod("web-2", { ip: "10.244.0.2" })),
    after: ["10.244.0.2"],
  },
  {
    name: "following to another address",
    act: (world) => world.setPod("web-2", { ip: "10.244.0.3" }),
    after: ["10.244.0.3"],
  },
  {
    name: "taking out",
    act: (world) => world.killPod("web-2"),
    after: [],
  },
];

/** `some`: of four calls, after the first and before the third. */
type Kills = "both" | "some";

export function lbcfCrashes(name: string, open: ClusterOpener, kills: Kills): void {
  describe(`LBCF dies at ${kills === "both" ? "every call" : "some calls"} on ${name}`, { concurrency: false }, () =>
    declare(open, kills),
  );
}

/** When it is killed, of this call. */
function sidesOf(call: number, kills: Kills): readonly KillPoint["when"][] {
  if (kills === "both") return ["before", "after"];
  return call % 4 === 1 ? ["after"] : call % 4 === 3 ? ["before"] : [];
}

function declare(open: ClusterOpener, wanted: Kills): void {
  let world: LbcfWorld;
  let driver: RogueDriver;
  const servers = new Set<string>();

  before(async () => {
    driver = await startRogueDriver((hook, body) => {
      const address = typeof body["backendAddr"] === "string" ? body["backendAddr"] : "";
      if (hook === "ensureBackend") servers.add(address);
      if (hook === "deregisterBackend") servers.delete(address);
      return WELL_BEHAVED(hook, body);
    });
    world = await LbcfWorld.open(open, { azure: { plainHttp: true }, withController: false });
    await world.addSharedLoadBalancer([FOREIGN]);
    await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: driver.url });
    const lbSpec = { name: "shared", pool: "mixed" };
    await world.create("LoadBalancer", "azure", { lbDriver: "lbcf-azure", lbSpec });
    await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "1" } });
    const pods = { ports: [{ port: 8080 }], byLabel: { selector: { app: "web" } } };
    await world.create("BackendGroup", "web", { loadBalancers: ["azure", "wire"], pods });
    await world.addPod("steady", { ip: STEADY });
  });
  after(async () => {
    await world?.close();
    await driver?.close();
  });

  /** Both load balancers and the records say just this, and what is not ours is as it was. */
  async function assertAt(expected: readonly string[]): Promise<void> {
    const all = [STEADY, ...expected].sort();
    const entries = await world.entries("shared");
    const foreign = entries.filter(({ name }) => name === FOREIGN.name);
    const ours = entries.filter(({ name }) => name !== FOREIGN.name);
    assert.deepEqual(new Set(ours.map(({ properties }) => properties.ipAddress)), new Set(all));
    assert.deepEqual([...servers].sort(), all);
    const { status } = await world.get("BackendGroup", "web");
    assert.deepEqual([status?.backends, status?.registeredBackends], [2 * all.length, 2 * all.length]);
    assert.equal((await world.records()).length, 2 * all.length);
    const { provisioningState: _, ...properties } = foreign[0]?.properties ?? {};
    assert.deepEqual(properties, FOREIGN.properties);
  }

  /** Acts, and brings it to its end: by itself, or by a successor if it dies on the way. Answers who lives then. */
  async function survive(
    scenario: Scenario,
    controller: KillableController,
    kill: KillPoint,
  ): Promise<KillableController> {
    controller.arm(kill);
    await scenario.act(world);
    await world.eventually(async () => {
      if (!controller.isKilled) await assertAt(scenario.after);
    });
    if (!controller.isKilled) return controller;
    await controller.close();
    const successor = await KillableController.start(world);
    await world.eventually(() => assertAt(scenario.after));
    return successor;
  }

  test("registering, following and taking out survive a kill before and after each call", async (context) => {
    let controller = await KillableController.start(world);
    await world.eventually(() => assertAt([]));
    const calls: number[] = [];
    for (const scenario of SCENARIOS) {
      controller = await survive(scenario, controller, NEVER);
      calls.push(controller.calls.length);
    }
    const asked = driver.asked.length;
    let kills = 0;
    for (let call = 1; call <= Math.max(...calls); call++) {
      for (const when of sidesOf(call, wanted)) {
        for (const scenario of SCENARIOS) {
          const successor = await survive(scenario, controller, { call, when });
          kills += Number(successor !== controller);
          controller = successor;
        }
      }
    }
    await controller.close();
    context.diagnostic(`${kills} kills`);
    assert.ok(kills >= LEAST_KILLS[wanted], `only ${kills} kills`);
    const harmed = driver.asked.slice(asked).some(({ hook, body }) => {
      return hook === "deregisterBackend" && body["backendAddr"] === STEADY;
    });
    assert.ok(!harmed, "the pod that stood by was taken out");
    const removed = await world.removedEntries();
    const steady = (await world.entries("shared")).find(({ properties }) => properties.ipAddress === STEADY);
    assert.ok(removed.size > 0);
    assert.ok(!removed.has(steady?.name ?? "") && !removed.has(FOREIGN.name), [...removed].join());
  });
}
