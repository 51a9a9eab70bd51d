/**
 * The controller as a process, killed (`SIGKILL`) again and again while pods come, go and move, and while a webhook driver is slow,
 * fails, asks for patience, and loses answers. A backend that should serve is not missing for a moment once it is in, in the driver's load
 * balancer and in Azure's; in the end both hold exactly the pods that are there, and what is a person's is as it was.
 *
 * Each life ends after a number of calls of the driver, so that the kills do not depend on the speed of the machine.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { ControllerProcess } from "../../support/controller-process.ts";
import { seededRandom } from "../../support/virtual-clock.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { LbcfWorld } from "./world.ts";

const FOREIGN = { name: "a-person", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } };
const STEADY = 3;
const FEWEST_OTHERS = 4;
const MOST_OTHERS = 12;
/** A life in which nothing is asked of the driver for that long ends as well. */
const IDLE_MS = 5_000;

export function lbcfKills(name: string, open: ClusterOpener, kills: number): void {
  describe(`LBCF is killed ${kills} times on ${name}`, { concurrency: false }, () => declare(open, kills));
}

function declare(open: ClusterOpener, kills: number): void {
  let world: LbcfWorld;
  let driver: RogueDriver;
  let controller: ControllerProcess | undefined;
  const random = seededRandom(17);
  const below = (limit: number): number => Math.floor(random() * limit);
  const servers = new Set<string>();
  /** Pods by name, those that should serve; an address is given once only. */
  const pods = new Map<string, string>();
  const unready: string[] = [];
  const harmed: string[] = [];
  /** Addresses that may leave, and since when. */
  const retired = new Map<string, number>();
  let made = 0;
  let calls = 0;
  let onCall = (): void => {};

  const newAddress = (): string => `10.244.${Math.floor(made / 250)}.${1 + (made++ % 250)}`;

  before(async () => {
    driver = await startRogueDriver((hook, body) => {
      if (hook !== "healthz") calls++;
      onCall();
      return unreliable(hook, body);
    });
    world = await LbcfWorld.open(open, { azure: { plainHttp: true }, withController: false });
    await world.addSharedLoadBalancer([FOREIGN]);
    await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: driver.url });
    await world.create("LoadBalancer", "azure", { lbDriver: "lbcf-azure", lbSpec: { name: "shared", pool: "mixed" } });
    await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "1" } });
    const selected = { ports: [{ port: 8080 }], byLabel: { selector: { app: "web" } } };
    await world.create("BackendGroup", "web", { loadBalancers: ["azure", "wire"], pods: selected });
    for (let at = 0; at < STEADY; at++) await add();
  });
  after(async () => {
    await controller?.kill();
    await world?.close();
    await driver?.close();
  });

  /** What is carried out, and what is answered: not always the same. */
  function unreliable(hook: string, body: Readonly<Record<string, unknown>>): ReturnType<typeof WELL_BEHAVED> {
    if (hook === "healthz" || hook.startsWith("validate")) return WELL_BEHAVED(hook, body);
    const mood = below(10);
    const later = { msg: "", minRetryDelayInSeconds: 1 };
    if (mood === 0) return { json: { status: "Fail", ...later } };
    if (mood === 1) return { json: { status: "Running", ...later } };
    if (mood === 2) return { text: "broken", status: 500 };
    carryOut(hook, body);
    if (mood === 3) return "drop";
    const answer = WELL_BEHAVED(hook, body);
    return mood < 7 && typeof answer === "object" && "json" in answer ? { ...answer, afterMs: below(400) } : answer;
  }

  function carryOut(hook: string, body: Readonly<Record<string, unknown>>): void {
    const address = typeof body["backendAddr"] === "string" ? body["backendAddr"] : "";
    if (hook === "ensureBackend") servers.add(address);
    if (hook !== "deregisterBackend") return;
    servers.delete(address);
    if ([...pods.values()].includes(address)) harmed.push(address);
  }

  /** A new pod, or one that was not ready and becomes it. */
  async function add(): Promise<void> {
    const waiting = below(2) === 0 ? unready.shift() : undefined;
    const ip = newAddress();
    const name = waiting ?? `web-${made}`;
    if (waiting === undefined) await world.addPod(name, { ip });
    else await world.setPod(name, { ip });
    pods.set(name, ip);
  }

  /** A pod leaves, moves or comes; the first ones stay. */
  async function churn(): Promise<void> {
    const others = [...pods.keys()].slice(STEADY);
    const one = others[below(others.length)];
    const what = below(4);
    if (one === undefined || others.length < FEWEST_OTHERS || (what === 0 && others.length < MOST_OTHERS)) return add();
    retired.set(pods.get(one) ?? "", Date.now());
    pods.delete(one);
    if (what === 1) return world.killPod(one);
    const ip = newAddress();
    if (what === 2) {
      unready.push(one);
      return world.setPod(one, { ip, ready: false });
    }
    await world.setPod(one, { ip });
    pods.set(one, ip);
  }

  const start = async (): Promise<ControllerProcess> => {
    const files = { kubeconfig: world.cluster.kubeconfig, cloudConfig: world.azure.cloudConfigFile };
    return ControllerProcess.start(files, ["--lbcf-webhook-hosts=*,127.0.0.0/8"]);
  };

  /** Whether the driver was called so often from now on, before there seemed to be nothing more to ask. */
  const called = (times: number, running: ControllerProcess): Promise<boolean> =>
    new Promise((resolve) => {
      const until = calls + times;
      let patience: NodeJS.Timeout | undefined;
      const idle = (): void => void (patience = setTimeout(() => resolve(false), IDLE_MS));
      onCall = () => {
        clearTimeout(patience);
        if (calls < until) idle();
        else resolve(true);
      };
      running.ready().then(idle, () => resolve(false));
    });

  const isExact = (): Promise<void> =>
    world.eventually(async () => {
      const expected = [...pods.values()].sort();
      const entries = await world.entries("shared");
      const ours = entries
        .filter(({ name }) => name !== FOREIGN.name)
        .map(({ properties }) => properties.ipAddress ?? "");
      assert.deepEqual([...servers].sort(), expected);
      assert.deepEqual(ours.sort(), expected);
      assert.equal((await world.records()).length, 2 * expected.length);
      const { provisioningState: _, ...foreign } = entries.find(({ name }) => name === FOREIGN.name)?.properties ?? {};
      assert.deepEqual(foreign, FOREIGN.properties);
    });

  test("no backend that should serve is taken out, and in the end both load balancers are exact", async (context) => {
    let inTheMiddle = 0;
    for (let life = 0; life < kills; life++) {
      for (let changes = below(3); changes > 0; changes--) await churn();
      controller = await start();
      const enough = called(1 + below(12), controller);
      for (let changes = 1 + below(3); changes > 0; changes--) await churn();
      inTheMiddle += Number(await enough);
      assert.equal(controller.ended, false, controller.output);
      await controller.kill();
    }
    driver.answer = (hook, body) => {
      carryOut(hook, body);
      return WELL_BEHAVED(hook, body);
    };
    controller = await start();
    assert.deepEqual(harmed, [], "they were taken out of the driver's load balancer");
    await isExact();
    assert.deepEqual(harmed, []);
    const removals = await world.removals();
    const early = removals.filter(({ address, atMs }) => atMs < (retired.get(address) ?? Infinity));
    assert.deepEqual(early, [], "they were taken out of Azure's");
    assert.ok(removals.length > 0 || kills < 10, "nothing was ever taken out, so nothing was shown");
    context.diagnostic(
      `${kills} kills, ${inTheMiddle} amid calls; ${calls} calls, ${made} addresses, ${pods.size} pods left; ` +
        `${removals.length} left Azure, none early`,
    );
    assert.ok(inTheMiddle > 0 && calls > kills, `${inTheMiddle} of ${kills} kills came amid ${calls} calls`);
  });
}
