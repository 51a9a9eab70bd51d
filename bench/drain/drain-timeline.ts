/**
 * What clients live through when a node is doomed: a Service with three nodes behind it, clients that connect all the
 * time and some that hold their connection, a taint on one node, and the death of what runs there ten seconds later.
 * Told twice, with the feature and without it; everything else is the same.
 *
 * Azure takes a second and a half for a change of a pool, as it usually does, and probes every five seconds, twice.
 */
import { setTimeout as delay } from "node:timers/promises";

import { NODES } from "../../src/kube/client/resources.ts";
import {
  dataPlaneAt,
  openConnection,
  type DataPlaneUnderTest,
  type HeldConnection,
} from "../../test/support/data-plane.ts";
import { openEmbeddedCluster } from "../../test/support/embedded-cluster.ts";
import { echoBackend, type Backend } from "../../test/support/loopback-backends.ts";
import { ServiceRig } from "../../test/support/service-rig.ts";

const OPERATION_MS = 1_500;
const WARM_UP_MS = 3_000;
const DIES_AFTER_MS = 10_000;
/** Those who hold a connection to the doomed node end it in time, as its users would. */
const LETS_GO_AFTER_MS = 9_000;
const AFTERWARDS_MS = 3_000;
const CLIENTS = 4;
const PAUSE_MS = 25;
const HELD_PER_NODE = 2;
const TAINT = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

export interface Visit {
  readonly atMs: number;
  /** Absent where the client saw an error. */
  readonly node?: string;
  /** When it saw the error. */
  readonly brokeMs?: number;
}

/** All times in milliseconds since the taint was written. */
export interface DrainStory {
  readonly isOn: boolean;
  /** Connections in the order they began. */
  readonly visits: readonly Visit[];
  readonly doomed: string;
  /** When `Down` took effect in the data plane; absent: never. */
  readonly downMs: number | undefined;
  readonly diedMs: number;
  /** When the probes had noticed. */
  readonly noticedMs: number;
  /** What the data plane gave to the doomed node after `Down`, by its own log. */
  readonly openedAfterDown: number;
  /** Connections that were held, and when each last had an answer. */
  readonly held: readonly { readonly node: string; readonly answeredMs: number; readonly broke: boolean }[];
}

export async function tellDrainStory(isOn: boolean): Promise<DrainStory> {
  const rig = await ServiceRig.open(openEmbeddedCluster, {
    azure: { topology: { nodes: 3 }, dataPlane: true },
    cloudConfig: { enableLoadBalancerAdminState: isOn },
  });
  const backends: Backend[] = [];
  try {
    for (const { name } of rig.azure.nodes) backends.push(await echoBackend(name));
    return await play(rig, backends, isOn);
  } finally {
    for (const backend of backends) await backend.close();
    await rig.close();
  }
}

async function play(rig: ServiceRig, backends: readonly Backend[], isOn: boolean): Promise<DrainStory> {
  const plane = dataPlaneAt(rig.azure.controlUrl);
  const { nodes } = rig.azure;
  const ips = nodes.map(({ ip }) => ip);
  const [doomed] = backends;
  if (doomed === undefined) throw new Error("there are no nodes");
  await rig.apply({ name: "web" });
  const [address = ""] = await rig.served("web");
  await plane.map(Object.fromEntries(nodes.map(({ ip }, at) => [ip, { "*": backends[at]?.port }])));
  const { listener } = await plane.eligible(address, 80, ips);
  await rig.azure.control("POST", "/faults", {
    method: "PUT",
    path: "**/backendAddressPools/*",
    count: null,
    effect: { kind: "operation", outcome: "Succeeded", tailMs: OPERATION_MS },
  });
  const crowd = new Crowd(listener.port);
  const holders = await hold(listener.port, backends);
  await delay(WARM_UP_MS);
  await rig.kube.patch(NODES, { name: doomed.name }, { merge: { spec: { taints: [TAINT] } } });
  const taintMs = Date.now();
  await delay(LETS_GO_AFTER_MS);
  for (const holder of holders) if (holder.node === doomed.name) await holder.letGo();
  await delay(taintMs + DIES_AFTER_MS - Date.now());
  const diedMs = Date.now() - taintMs;
  await doomed.close();
  const noticedMs = (await probeDown(plane, ips[0] ?? "")) - taintMs;
  await delay(AFTERWARDS_MS);
  const visits = await crowd.leave();
  const held = await Promise.all(holders.map((holder) => holder.end(taintMs)));
  const { downMs, openedAfterDown } = await downOf(plane, ips[0] ?? "", taintMs);
  const since = visits.map(({ atMs, brokeMs, ...visit }) => ({
    ...visit,
    atMs: atMs - taintMs,
    ...(brokeMs !== undefined && { brokeMs: brokeMs - taintMs }),
  }));
  return { isOn, doomed: doomed.name, visits: since, downMs, diedMs, noticedMs, openedAfterDown, held };
}

async function probeDown(plane: DataPlaneUnderTest, member: string): Promise<number> {
  for (;;) {
    const [noticed] = (await plane.flows({ event: "probe", member })).filter(({ to }) => to === "down");
    if (noticed !== undefined) return Date.parse(noticed.time);
    await delay(100);
  }
}

async function downOf(
  plane: DataPlaneUnderTest,
  member: string,
  taintMs: number,
): Promise<Pick<DrainStory, "downMs" | "openedAfterDown">> {
  const [down] = (await plane.flows({ event: "adminState", member })).filter(({ to }) => to === "Down");
  const opened = await plane.flows({ event: "opened", member });
  if (down === undefined) return { downMs: undefined, openedAfterDown: 0 };
  return {
    downMs: Date.parse(down.time) - taintMs,
    openedAfterDown: opened.filter(({ sequence }) => sequence > down.sequence).length,
  };
}

/** Clients that connect, hear who answers, and hang up. */
class Crowd {
  readonly #visits: Visit[] = [];
  readonly #leaving = new AbortController();
  readonly #clients: readonly Promise<void>[];

  constructor(port: number) {
    this.#clients = Array.from({ length: CLIENTS }, () => this.#come(port));
  }

  async leave(): Promise<DrainStory["visits"]> {
    this.#leaving.abort();
    await Promise.all(this.#clients);
    return this.#visits.toSorted((one, other) => one.atMs - other.atMs);
  }

  async #come(port: number): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      const atMs = Date.now();
      try {
        const connection = await openConnection(port);
        this.#visits.push({ atMs, node: connection.backend });
        await connection.finish();
      } catch {
        this.#visits.push({ atMs, brokeMs: Date.now() });
      }
      await delay(PAUSE_MS);
    }
  }
}

/** A client that keeps its connection and says something now and then. */
class Holder {
  readonly node: string;
  readonly #connection: HeldConnection;
  readonly #letting = new AbortController();
  readonly #talking: Promise<void>;
  #answeredMs = 0;
  #broke = false;

  constructor(connection: HeldConnection) {
    this.node = connection.backend;
    this.#connection = connection;
    this.#talking = this.#talk();
  }

  async letGo(): Promise<void> {
    this.#letting.abort();
    await this.#talking;
    if (!this.#broke) await this.#connection.finish();
  }

  async end(sinceMs: number): Promise<DrainStory["held"][number]> {
    if (!this.#letting.signal.aborted) await this.letGo();
    return { node: this.node, answeredMs: this.#answeredMs - sinceMs, broke: this.#broke };
  }

  async #talk(): Promise<void> {
    while (!this.#letting.signal.aborted) {
      try {
        await this.#connection.say("still there?");
        this.#answeredMs = Date.now();
        await delay(200);
      } catch {
        this.#broke = true;
        return;
      }
    }
  }
}

async function hold(port: number, backends: readonly Backend[]): Promise<readonly Holder[]> {
  const holders: Holder[] = [];
  const held = (node: string): number => holders.filter((holder) => holder.node === node).length;
  while (backends.some(({ name }) => held(name) < HELD_PER_NODE)) {
    const connection = await openConnection(port);
    if (held(connection.backend) < HELD_PER_NODE) holders.push(new Holder(connection));
    else await connection.finish();
  }
  return holders;
}
