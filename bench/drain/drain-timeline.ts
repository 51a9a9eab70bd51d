/**
 * Records what clients see when a Spot machine is evicted: a Service with three nodes, clients that connect all the time and
 * some that hold a connection, the announcement of the eviction in the machine's metadata, and its end when the notice has
 * passed. Run with the agent on the node and without it, everything else being equal; the thresholds are those of the callers.
 *
 * A change of a pool takes Azure a second and a half, as usual, and the probe needs two failures, five seconds apart.
 */
import { setTimeout as delay } from "node:timers/promises";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { runAgent } from "../../src/main/agent.ts";
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
/** Clients that hold a connection to the doomed node close it so long before it goes. */
const CLOSE_HELD_BEFORE_MS = 1_000;
/** As the agent has it by default. */
const POLL_MS = 1_000;
const AFTERWARDS_MS = 3_000;
const CLIENTS = 4;
const PAUSE_MS = 25;
const HELD_PER_NODE = 2;

/** One new connection of a client. */
interface ConnectionAttempt {
  readonly atMs: number;
  /** The node that answered; absent if the client saw an error. */
  readonly node?: string;
  /** When the client saw the error. */
  readonly brokeMs?: number;
}

/** All times in milliseconds since the eviction was announced. */
export interface DrainTimeline {
  readonly withAgent: boolean;
  /** In the order in which they began. */
  readonly attempts: readonly ConnectionAttempt[];
  readonly doomed: string;
  /** When `Down` took effect in the data plane; absent: never. */
  readonly downMs: number | undefined;
  /** When the machine was seen to be gone. */
  readonly diedMs: number;
  /** When its notice had passed at the earliest: not before that was it gone. */
  readonly aliveMs: number;
  /** When the probes had detected the failure. */
  readonly noticedMs: number;
  /** Connections to the doomed node after `Down`, according to the log of the data plane. */
  readonly openedAfterDown: number;
  /** Held connections, and when each was last answered. */
  readonly held: readonly { readonly node: string; readonly answeredMs: number; readonly broke: boolean }[];
}

export interface EvictionOptions {
  readonly withAgent: boolean;
  readonly noticeSeconds: number;
}

export async function recordEviction(options: EvictionOptions): Promise<DrainTimeline> {
  const rig = await ServiceRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 3 }, dataPlane: true } });
  const stopping = new AbortController();
  const agent = options.withAgent ? startAgent(rig, stopping.signal) : Promise.resolve();
  const backends: Backend[] = [];
  try {
    for (const { name } of rig.azure.nodes) backends.push(await echoBackend(name));
    return await record(rig, backends, options);
  } finally {
    stopping.abort(new Error("the recording is over"));
    await agent;
    for (const backend of backends) await backend.close();
    await rig.close();
  }
}

/** On the first node, as `deploy/agent.yaml` runs it: it writes Events, and the controller taints. */
function startAgent({ azure, cluster: { kubeconfig } }: ServiceRig, signal: AbortSignal): Promise<void> {
  const nodeName = azure.nodes[0]?.name ?? "";
  const metadataUrl = `${azure.metadataUrl}/machines/${nodeName}`;
  return runAgent({ nodeName, kubeconfig, metadataUrl, pollMs: POLL_MS, taints: undefined, log: SILENT_LOG }, signal);
}

async function record(
  rig: ServiceRig,
  backends: readonly Backend[],
  { withAgent, noticeSeconds }: EvictionOptions,
): Promise<DrainTimeline> {
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
  const clients = new NewConnections(listener.port);
  const heldClients = await hold(listener.port, backends);
  await delay(WARM_UP_MS);
  const askedMs = Date.now();
  await rig.azure.control("POST", "/scheduled-events", { type: "Preempt", machines: [doomed.name], noticeSeconds });
  const announcedMs = Date.now();
  await delay(1000 * noticeSeconds - CLOSE_HELD_BEFORE_MS);
  for (const client of heldClients) if (client.node === doomed.name) await client.close();
  await untilGone(rig);
  const diedMs = Date.now() - announcedMs;
  const aliveMs = askedMs - announcedMs + 1000 * noticeSeconds;
  const noticedMs = (await probeDown(plane, ips[0] ?? "")) - announcedMs;
  await delay(AFTERWARDS_MS);
  const attempts = await clients.stop();
  const held = await Promise.all(heldClients.map((client) => client.end(announcedMs)));
  const { downMs, openedAfterDown } = await downOf(plane, ips[0] ?? "", announcedMs);
  const since = attempts.map(({ atMs, brokeMs, ...attempt }) => ({
    ...attempt,
    atMs: atMs - announcedMs,
    ...(brokeMs !== undefined && { brokeMs: brokeMs - announcedMs }),
  }));
  return { withAgent, doomed: doomed.name, attempts: since, downMs, aliveMs, diedMs, noticedMs, openedAfterDown, held };
}

/** The event is carried out, and over. */
async function untilGone({ azure }: ServiceRig): Promise<void> {
  for (;;) {
    const { events } = (await azure.control("GET", "/scheduled-events")) as { events: readonly unknown[] };
    if (events.length === 0) return;
    await delay(20);
  }
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
  announcedMs: number,
): Promise<Pick<DrainTimeline, "downMs" | "openedAfterDown">> {
  const [down] = (await plane.flows({ event: "adminState", member })).filter(({ to }) => to === "Down");
  const opened = await plane.flows({ event: "opened", member });
  if (down === undefined) return { downMs: undefined, openedAfterDown: 0 };
  return {
    downMs: Date.parse(down.time) - announcedMs,
    openedAfterDown: opened.filter(({ sequence }) => sequence > down.sequence).length,
  };
}

/** Clients that connect, read the name of the node and close. */
class NewConnections {
  readonly #attempts: ConnectionAttempt[] = [];
  readonly #stopping = new AbortController();
  readonly #clients: readonly Promise<void>[];

  constructor(port: number) {
    this.#clients = Array.from({ length: CLIENTS }, () => this.#connectRepeatedly(port));
  }

  async stop(): Promise<DrainTimeline["attempts"]> {
    this.#stopping.abort();
    await Promise.all(this.#clients);
    return this.#attempts.toSorted((one, other) => one.atMs - other.atMs);
  }

  async #connectRepeatedly(port: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const atMs = Date.now();
      try {
        const connection = await openConnection(port);
        this.#attempts.push({ atMs, node: connection.backend });
        await connection.finish();
      } catch {
        this.#attempts.push({ atMs, brokeMs: Date.now() });
      }
      await delay(PAUSE_MS);
    }
  }
}

/** A client that holds its connection and sends something now and then. */
class HeldClient {
  readonly node: string;
  readonly #connection: HeldConnection;
  readonly #closing = new AbortController();
  readonly #talking: Promise<void>;
  #answeredMs = 0;
  #broke = false;

  constructor(connection: HeldConnection) {
    this.node = connection.backend;
    this.#connection = connection;
    this.#talking = this.#keepTalking();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#talking;
    if (!this.#broke) await this.#connection.finish();
  }

  async end(sinceMs: number): Promise<DrainTimeline["held"][number]> {
    if (!this.#closing.signal.aborted) await this.close();
    return { node: this.node, answeredMs: this.#answeredMs - sinceMs, broke: this.#broke };
  }

  async #keepTalking(): Promise<void> {
    while (!this.#closing.signal.aborted) {
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

async function hold(port: number, backends: readonly Backend[]): Promise<readonly HeldClient[]> {
  const heldClients: HeldClient[] = [];
  const held = (node: string): number => heldClients.filter((client) => client.node === node).length;
  while (backends.some(({ name }) => held(name) < HELD_PER_NODE)) {
    const connection = await openConnection(port);
    if (held(connection.backend) < HELD_PER_NODE) heldClients.push(new HeldClient(connection));
    else await connection.finish();
  }
  return heldClients;
}
