/**
 * A history as data: the world that it begins in, and what people, machines and misfortune do to it, in order. It
 * follows from its seed alone. Every action means something in any state (or nothing at all), so that a failing history
 * can be shortened by leaving actions out.
 */
import { drawBackendDeed, drawBindDeed, type BackendDeed } from "../actions/lbcf.ts";
import { Chance } from "../environment/random.ts";
import type { Meddling } from "../actions/external-edits.ts";
import { MEDDLINGS } from "../actions/external-edits.ts";
import { describeShape, drawShape, type Shape, type Surroundings } from "../actions/service-templates.ts";
import type { CallKind, Side, Trouble, TroubleKind } from "../network/faults.ts";

export const SERVICES = ["default/a", "default/b", "default/c", "default/d", "apps/a", "apps/e"] as const;
/** Actions of a history, unless asked otherwise. */
export const HISTORY_LENGTH = 100;
export const NODE_SLOTS = 6;
export const FIRST_NODES = 3;

export interface Setup {
  /** `standard` and `vmssflex`: nodes have machines with network interfaces of their own. */
  readonly vmType: "vmss" | "vmssflex" | "standard";
  readonly backendPool: "nodeIP" | "nodeIPConfiguration";
  /** Things that belong to someone else stand on the cluster's load balancer from the start. */
  readonly isShared: boolean;
  /** Two instances, of which one leads; else a single one without election. */
  readonly isElected: boolean;
  /** A second controller serves a class of its own. */
  readonly hasRival: boolean;
  /** Load balancers are Basic: one pair for each of two availability sets. */
  readonly isBasic?: boolean;
  /** LBCF is installed, and used. */
  readonly hasBackends?: boolean;
  /** Some pods have the readiness gate of LBCF. */
  readonly hasGates?: boolean;
  /** A Bind is used too. */
  readonly hasBinds?: boolean;
}

export type NodeDeed = "add" | "remove" | "replace" | "move" | "exclude" | "include" | "taint" | "untaint" | "preempt";

export type Deed =
  | { readonly do: "apply"; readonly service: string; readonly shape: Shape }
  | { readonly do: "delete"; readonly service: string }
  /** To ClusterIP. */
  | { readonly do: "retype"; readonly service: string }
  | { readonly do: "node"; readonly how: NodeDeed; readonly slot: number; readonly taint: string }
  | ({ readonly do: "meddle" } & Meddling)
  | { readonly do: "crash"; readonly downMs: number }
  /** In good order, as a rollout does. */
  | { readonly do: "restart"; readonly downMs: number }
  /** The leader stands still; if it is elected, the other takes over. */
  | { readonly do: "pause"; readonly forMs: number }
  /** The wall clock of whoever leads is set. */
  | { readonly do: "jump"; readonly byMs: number }
  | { readonly do: "trouble"; readonly trouble: Trouble }
  | { readonly do: "cutWatches" }
  | { readonly do: "holdWatches"; readonly collection: string; readonly forMs: number }
  | { readonly do: "compact" }
  | { readonly do: "slow"; readonly factor: number; readonly forMs: number }
  | BackendDeed;

/** What happens, and how long nobody does anything afterwards. */
export type Action = Deed & { readonly thenMs: number };

export interface History {
  readonly seed: number;
  readonly setup: Setup;
  readonly actions: readonly Action[];
}

/** How many of the actions are about backends, where there are any. */
const BACKEND_SHARE = 0.35;
const BIND_SHARE = 0.07;

const WEIGHTS: Readonly<Record<Exclude<Deed, BackendDeed>["do"], number>> = {
  apply: 26,
  delete: 8,
  retype: 2,
  node: 12,
  meddle: 14,
  crash: 2,
  restart: 2,
  pause: 2,
  jump: 1,
  trouble: 16,
  cutWatches: 2,
  holdWatches: 4,
  compact: 2,
  slow: 1,
};

export function drawHistory(seed: number, length = HISTORY_LENGTH): History {
  const chance = Chance.of(seed, "history");
  const backends = Chance.of(seed, "backends");
  const drawn = drawSetup(chance);
  const binds = Chance.of(seed, "binds");
  const hasBackends = drawn.backendPool === "nodeIP" && backends.isLucky(0.4);
  const hasBinds = hasBackends && binds.isLucky(0.5);
  const setup: Setup = {
    ...drawn,
    hasBackends,
    ...(hasBackends && Chance.of(seed, "gates").isLucky(0.5) && { hasGates: true }),
    ...(hasBinds && { hasBinds }),
    ...(drawn.vmType === "standard" && Chance.of(seed, "sku").isLucky(0.5) && { isBasic: true }),
  };
  const actions = Array.from({ length }, (): Action => {
    const deed = drawDeed(chance, setup);
    const thenMs = drawPauseMs(chance);
    if (hasBinds && binds.isLucky(BIND_SHARE)) return { ...drawBindDeed(binds), thenMs };
    return { ...(hasBackends && backends.isLucky(BACKEND_SHARE) ? drawBackendDeed(backends) : deed), thenMs };
  });
  return { seed, setup, actions };
}

function drawSetup(chance: Chance): Setup {
  const topology = chance.weighted({ addresses: 6, vmss: 1, vmssflex: 1, standard: 2 });
  return {
    vmType: topology === "addresses" ? "vmss" : topology,
    backendPool: topology === "addresses" ? "nodeIP" : "nodeIPConfiguration",
    isShared: chance.isLucky(0.5),
    isElected: chance.isLucky(0.3),
    hasRival: chance.isLucky(0.15),
  };
}

/** Mostly quick enough to meet what is still under way; now and then long enough for everything to settle. */
function drawPauseMs(chance: Chance): number {
  switch (chance.weighted({ none: 3, moment: 5, while: 3, long: 1 })) {
    case "none":
      return 0;
    case "moment":
      return Math.round(chance.between(1, 300));
    case "while":
      return Math.round(chance.between(300, 8_000));
    case "long":
      return Math.round(chance.between(20_000, 90_000));
  }
}

function drawDeed(chance: Chance, setup: Setup): Deed {
  const kind = chance.weighted(WEIGHTS);
  switch (kind) {
    case "apply":
      return { do: kind, service: chance.pick(SERVICES), shape: drawShape(chance, surroundingsOf(setup)) };
    case "delete":
    case "retype":
      return { do: kind, service: chance.pick(SERVICES) };
    case "node":
      return { do: kind, how: drawNodeDeed(chance), slot: chance.below(NODE_SLOTS), taint: chance.pick(TAINTS) };
    case "meddle":
      return {
        do: kind,
        who: chance.pick(["person", "tool"]),
        how: chance.pick(MEDDLINGS),
        which: chance.below(1_000),
        isCareful: chance.isLucky(0.6),
        thinksMs: chance.isLucky(0.5) ? 0 : Math.round(chance.between(1, 5_000)),
      };
    case "crash":
    case "restart":
      return { do: kind, downMs: Math.round(chance.isLucky(0.2) ? 120_000 : chance.between(0, 10_000)) };
    case "pause":
      return { do: kind, forMs: Math.round(chance.between(1_000, 150_000)) };
    case "jump":
      return { do: kind, byMs: Math.round(chance.between(-600_000, 600_000)) };
    case "trouble":
      return { do: kind, trouble: drawTrouble(chance) };
    case "holdWatches":
      return {
        do: kind,
        collection: chance.pick(["services", "nodes", setup.hasBackends === true ? "pods" : "configmaps"]),
        forMs: Math.round(chance.between(500, 40_000)),
      };
    case "slow":
      return { do: kind, factor: Math.round(chance.between(2, 20)), forMs: 30_000 };
    case "cutWatches":
    case "compact":
      return { do: kind };
  }
}

/** Network interfaces have IPv4 addresses only. */
function surroundingsOf({ hasRival, backendPool, isBasic = false }: Setup): Surroundings {
  return { services: SERVICES, hasRival, hasIPv6: backendPool === "nodeIP", isBasic };
}

const TAINTS = ["out-of-service", "out-of-service", "spot-eviction", "autoscaler"] as const;

function drawNodeDeed(chance: Chance): NodeDeed {
  return chance.weighted({
    add: 4,
    remove: 3,
    replace: 2,
    move: 1,
    exclude: 1,
    include: 1,
    taint: 4,
    untaint: 3,
    preempt: 2,
  });
}

const AZURE_STATUSES = [409, 412, 429, 429, 500, 503] as const;
const KUBE_STATUSES = [409, 429, 500, 503] as const;

function drawTrouble(chance: Chance): Trouble {
  const side: Side = chance.isLucky(0.65) ? "azure" : "kube";
  const kind: TroubleKind = chance.weighted({
    unreachable: 1,
    lost: 3,
    answerLost: 4,
    refused: 5,
    slow: 2,
    stale: 2,
    crashBefore: 3,
    crashAfter: 4,
    fails: side === "azure" ? 3 : 0,
    cancelled: side === "azure" ? 2 : 0,
  });
  return {
    kind,
    side,
    calls: drawCalls(chance, kind, side),
    ...(kind === "refused" && { status: chance.pick(side === "azure" ? AZURE_STATUSES : KUBE_STATUSES) }),
    skip: chance.isLucky(0.5) ? 0 : chance.below(12),
    times: kind.startsWith("crash") ? 1 : chance.isLucky(0.7) ? 1 : 1 + chance.below(12),
  };
}

function drawCalls(chance: Chance, kind: TroubleKind, side: Side): CallKind | "any" {
  if (kind === "fails" || kind === "cancelled") return "write";
  if (kind === "stale") return "read";
  return chance.pick(side === "azure" ? ["write", "write", "read", "poll", "any"] : ["write", "read", "any", "lease"]);
}

/** One line of it, for people. */
export function describe({ thenMs, ...deed }: Action): string {
  const { do: what, ...rest } = deed;
  const details = Object.entries(rest as Readonly<Record<string, unknown>>).flatMap(([key, value]) => {
    if (key === "service") return [String(value)];
    if (key === "shape") return [describeShape(value as Shape)];
    if (key === "trouble") return Object.entries(value as Trouble).map(([name, one]) => `${name}=${String(one)}`);
    return [`${key}=${String(value)}`];
  });
  return `${[what, ...details].join(" ")}${thenMs > 0 ? `, then ${thenMs} ms` : ""}`;
}
