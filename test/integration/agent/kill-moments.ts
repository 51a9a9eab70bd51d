/**
 * The moments between the announcement of an eviction and its end at which a process may die, and how a test gets there: a fault
 * holds the process whose turn it is, or what is stored says that the moment has come.
 */
import assert from "node:assert/strict";

import { accountOf } from "../../../src/core/admin-state/drain-account.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import type { Announced, EvictionRig, Hold, Part } from "./eviction-rig.ts";

export interface Moment {
  readonly when: string;
  /** The agent taints its Node itself. */
  readonly writesTaints?: true;
  /** The process that is held, and where. A request of one that is killed there is never carried out. */
  readonly held?: { readonly who: Part; readonly at: Hold["at"]; readonly request: (node: string) => object };
  /** The controller gets no news from the announcement on. */
  readonly isPaused?: true;
  /** The machine goes then. */
  readonly isGone?: true;
  readonly reached?: (rig: EvictionRig, announced: Announced) => Promise<void>;
}

const NODES = "/api/v1/nodes/*";
const POOLS = "**/backendAddressPools/*";

const patch = (more: object = {}) => ({ method: "PATCH", path: NODES, ...more });

/** The agent has read of it. */
async function isKnown(rig: EvictionRig, { eventId }: Announced): Promise<void> {
  assert.ok(rig.agentOutput.includes(eventId), `the agent has not read of it: ${rig.agentOutput}`);
}

async function isTold({ cluster }: EvictionRig, { node, eventId }: Announced): Promise<void> {
  const said = await cluster.said(node);
  assert.ok(
    said.some(({ message }) => message.includes(eventId)),
    "no Event yet",
  );
}

async function isTainted({ cluster }: EvictionRig, { node }: Announced): Promise<void> {
  assert.ok(await cluster.isDoomed(node), "no taint yet");
}

async function isNoted({ cluster }: EvictionRig, { node }: Announced): Promise<void> {
  assert.ok(accountOf(await cluster.node(node))?.notice !== undefined, "no account yet");
}

export const MOMENTS: readonly Moment[] = [
  { when: "nothing is announced" },
  {
    when: "it is announced, and the agent has not asked",
    held: {
      who: "agent",
      at: "azure",
      request: (node) => ({ method: "GET", path: `/machines/${node}/metadata/scheduledevents` }),
    },
  },
  {
    when: "the agent writes the Event",
    held: {
      who: "agent",
      at: "kubernetes",
      request: () => ({ method: "POST", path: "/api/v1/namespaces/default/events" }),
    },
    reached: isKnown,
  },
  {
    when: "the agent writes the taint",
    writesTaints: true,
    held: { who: "agent", at: "kubernetes", request: () => patch() },
    reached: isKnown,
  },
  {
    when: "the Event is stored, the taint is not",
    held: { who: "controller", at: "kubernetes", request: () => patch() },
    reached: isTold,
  },
  {
    when: "the taint is stored, the answer is lost",
    held: { who: "controller", at: "kubernetes", request: () => patch({ count: 1, effect: { kind: "cutAfter" } }) },
  },
  {
    when: "the agent's taint is stored, the controller has not seen it",
    writesTaints: true,
    isPaused: true,
    reached: isTainted,
  },
  {
    when: "the write of a pool is on its way",
    held: { who: "controller", at: "azure", request: () => ({ method: "PUT", path: POOLS }) },
  },
  {
    when: "Azure has taken the write, the answer is lost",
    held: {
      who: "controller",
      at: "azure",
      request: () => ({ method: "PUT", path: POOLS, count: 1, effect: { kind: "cutAfter" } }),
    },
  },
  {
    when: "Azure carries the write out",
    held: {
      who: "controller",
      at: "azure",
      request: () => ({
        method: "PUT",
        path: POOLS,
        effect: { kind: "operation", outcome: "Succeeded", tailMs: 2_000 },
      }),
    },
  },
  {
    when: "the operation is over, and nobody has heard",
    held: { who: "controller", at: "azure", request: () => ({ method: "GET", path: "**/operations/*" }) },
  },
  {
    when: "its result is not read",
    held: { who: "controller", at: "azure", request: () => ({ method: "GET", path: "**/loadBalancers/*" }) },
  },
  {
    when: "Down is in effect, and not noted",
    held: { who: "controller", at: "kubernetes", request: () => patch({ skip: 1 }) },
  },
  { when: "Down is noted", reached: isNoted },
  { when: "the machine has gone", reached: isNoted, isGone: true },
];

const FOR_EVER_MS = 600_000;

/** Arranges it before the announcement. */
export async function arrange(rig: EvictionRig, moment: Moment, node: string, killed: readonly Part[]): Promise<void> {
  const { held, isPaused } = moment;
  if (isPaused === true) rig.pauseController();
  if (held === undefined) return;
  const delayMs = killed.includes(held.who) ? FOR_EVER_MS : null;
  await rig.hold({ at: held.at, fault: { count: null, effect: { kind: "delay", delayMs }, ...held.request(node) } });
}

/** Resolves when it has come. */
export async function untilReached(rig: EvictionRig, { held, reached }: Moment, announced: Announced): Promise<void> {
  await eventually(async () => {
    if (held !== undefined) assert.ok((await rig.held(held.at)) > 0, "not there yet");
    await reached?.(rig, announced);
  }, WITHIN_MS);
}
