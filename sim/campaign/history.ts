/**
 * A history as data: the configuration of the cluster that it starts with, and the actions of users, nodes, other Azure
 * clients and operators, and the faults, in order. It follows from its seed alone. Every action is valid in any state (it
 * may have no effect), so that a failing history can be shrunk by leaving actions out.
 *
 * Recorded histories (`sim/regressions`) have this form: a changed field name needs a change there. The order of random
 * draws is part of what a seed means.
 */
import { drawLbcfAction, drawBindAction, type LbcfAction } from "../actions/lbcf.ts";
import { drawPlacementAction, type PlacementAction } from "../actions/placement.ts";
import { Random } from "../environment/random.ts";
import { FLEET_NAMES, LISTED_LOAD_BALANCERS } from "../environment/several-load-balancers.ts";
import type { ExternalEdit } from "../actions/external-edits.ts";
import { EXTERNAL_EDITS } from "../actions/external-edits.ts";
import {
  describeTemplate,
  drawServiceTemplate,
  type ServiceTemplate,
  type TemplateOptions,
} from "../actions/service-templates.ts";
import type { CallKind, Side, Fault, FaultKind, Outage } from "../network/faults.ts";

const SERVICES = ["default/a", "default/b", "default/c", "default/d", "apps/a", "apps/e"] as const;
/** Actions per history by default. */
export const HISTORY_LENGTH = 100;
export const NODE_SLOTS = 6;
export const FIRST_NODES = 3;

export interface Setup {
  /** `standard` and `vmssflex`: nodes are virtual machines with network interfaces of their own. */
  readonly vmType: "vmss" | "vmssflex" | "standard";
  readonly backendPool: "nodeIP" | "nodeIPConfiguration";
  /** From the start, the cluster's load balancer has parts that another client made. */
  readonly isShared: boolean;
  /** Two replicas with leader election; otherwise a single one without. */
  readonly isElected: boolean;
  /** A second controller serves its own `loadBalancerClass`. */
  readonly hasRival: boolean;
  /** Load balancers are Basic: one pair for each of two availability sets. */
  readonly isBasic?: boolean;
  /** LBCF (lb-controlling-framework) is installed and used. */
  readonly hasBackends?: boolean;
  /** Some pods have the readiness gate of LBCF. */
  readonly hasGates?: boolean;
  /** A Bind is used as well. */
  readonly hasBinds?: boolean;
  /** Only the machines of the first nodes are there from the start; the others are made with their nodes. */
  readonly hasLateMachines?: boolean;
  /** More than one Standard load balancer of a kind (`environment/several-load-balancers.ts`). */
  readonly several?: "list" | "fleet";
  /** The controllers never compare Azure with what they know by a timer. */
  readonly isWithoutDriftCheck?: boolean;
}

export type NodeAction =
  | "add"
  | "remove"
  | "replace"
  | "move"
  | "exclude"
  | "include"
  | "taint"
  | "untaint"
  | "preempt";

export type Action =
  | { readonly do: "apply"; readonly service: string; readonly template: ServiceTemplate }
  | { readonly do: "delete"; readonly service: string }
  /** Changes the type to ClusterIP. */
  | { readonly do: "retype"; readonly service: string }
  | { readonly do: "node"; readonly how: NodeAction; readonly slot: number; readonly taint: string }
  | ({ readonly do: "edit" } & ExternalEdit)
  | { readonly do: "crash"; readonly downMs: number }
  /** A graceful shutdown, as in a rollout. */
  | { readonly do: "restart"; readonly downMs: number }
  /** The leader is paused; with leader election, the other replica takes over. */
  | { readonly do: "pause"; readonly forMs: number }
  /** The wall clock of the leader is changed. */
  | { readonly do: "jump"; readonly byMs: number }
  | { readonly do: "fault"; readonly fault: Fault }
  | { readonly do: "cutWatches" }
  | { readonly do: "holdWatches"; readonly collection: string; readonly forMs: number }
  | { readonly do: "compact" }
  | { readonly do: "slow"; readonly factor: number; readonly forMs: number }
  | ({ readonly do: "outage" } & Outage)
  /** All trouble ends. After a while, everything must be right, without a drift check. */
  | { readonly do: "calm" }
  | PlacementAction
  | LbcfAction;

/** An action, and how long the simulation waits before the next one. */
export type TimedAction = Action & { readonly thenMs: number };

export interface History {
  readonly seed: number;
  readonly setup: Setup;
  readonly actions: readonly TimedAction[];
}

/** Share of the actions that concern LBCF, where it is used. */
const BACKEND_SHARE = 0.35;
const BIND_SHARE = 0.07;

/** Share of the actions that concern placement, where there is a list of load balancers. */
const PLACEMENT_SHARE = 0.15;

const WEIGHTS: Readonly<
  Record<Exclude<Action, LbcfAction | PlacementAction | { do: "calm" | "outage" }>["do"], number>
> = {
  apply: 26,
  delete: 8,
  retype: 2,
  node: 12,
  edit: 14,
  crash: 2,
  restart: 2,
  pause: 2,
  jump: 1,
  fault: 16,
  cutWatches: 2,
  holdWatches: 4,
  compact: 2,
  slow: 1,
};

const LBCF_KINDS: readonly LbcfAction["do"][] = [
  "pod",
  "group",
  "balancer",
  "dropGroup",
  "dropBalancer",
  "bind",
  "dropBind",
];

/** The first kind of action in a recorded history that does not exist: it would have no effect. */
export function unknownActionKind({ actions }: History): string | undefined {
  const known = new Set<string>([...Object.keys(WEIGHTS), ...LBCF_KINDS, "calm", "outage", "endpoints", "label"]);
  return actions.map(({ do: kind }) => kind).find((kind) => !known.has(kind));
}

/** Seeds between these are drawn as they always were, so that those of former findings mean the same histories. */
const FORMER_SEEDS = { after: 150, before: 20_001 };

export function drawHistory(seed: number, length = HISTORY_LENGTH): History {
  const random = Random.of(seed, "history");
  const backends = Random.of(seed, "backends");
  const drawn = drawSetup(random);
  const binds = Random.of(seed, "binds");
  const hasBackends = drawn.backendPool === "nodeIP" && backends.bool(0.4);
  const hasBinds = hasBackends && binds.bool(0.5);
  const placement = Random.of(seed, "several");
  const isFormer = seed > FORMER_SEEDS.after && seed < FORMER_SEEDS.before;
  const isOneOfAKind = isFormer || drawn.backendPool !== "nodeIP" || hasBackends;
  const several = isOneOfAKind ? "no" : placement.weighted({ no: 3, list: 5, fleet: 2 });
  const setup: Setup = {
    ...drawn,
    ...(several !== "no" && { several, hasRival: false }),
    hasBackends,
    ...(hasBackends && Random.of(seed, "gates").bool(0.5) && { hasGates: true }),
    ...(hasBinds && { hasBinds }),
    ...(drawn.vmType === "standard" && Random.of(seed, "sku").bool(0.5) && { isBasic: true }),
    ...(drawn.backendPool !== "nodeIP" && Random.of(seed, "machines").bool(0.7) && { hasLateMachines: true }),
  };
  const actions = Array.from({ length }, (): TimedAction => {
    const action = drawAction(random, setup);
    const thenMs = drawPauseMs(random);
    if (several === "list" && placement.bool(PLACEMENT_SHARE))
      return { ...drawPlacementAction(placement, SERVICES, NODE_SLOTS), thenMs };
    if (hasBinds && binds.bool(BIND_SHARE)) return { ...drawBindAction(binds), thenMs };
    return { ...(hasBackends && backends.bool(BACKEND_SHARE) ? drawLbcfAction(backends) : action), thenMs };
  });
  const history = { seed, setup, actions };
  return seed % WITHOUT_DRIFT_CHECK === 0 ? withoutDriftCheck(history) : history;
}

/** One history in so many is drawn for controllers without a drift check. */
const WITHOUT_DRIFT_CHECK = 3;

/**
 * The same history for controllers without a drift check. Edits by other clients, among them a second controller, and
 * stale answers of Azure are left out: only a drift check can find these. In their place there are calms, in which
 * everything must come right by itself, and outages of one resource.
 */
export function withoutDriftCheck({ seed, setup, actions }: History): History {
  const random = Random.of(seed, "calms");
  const isFoundByDriftCheck = (action: Action): boolean =>
    action.do === "edit" || (action.do === "fault" && action.fault.kind === "stale");
  return {
    seed,
    setup: { ...setup, hasRival: false, isWithoutDriftCheck: true },
    actions: actions.map((action) =>
      isFoundByDriftCheck(action) ? { ...drawQuietAction(random, setup), thenMs: action.thenMs } : action,
    ),
  };
}

function drawQuietAction(random: Random, setup: Setup): Action {
  switch (random.weighted({ calm: 4, outage: 3, compact: 3 })) {
    case "calm":
      return { do: "calm" };
    case "outage":
      return {
        do: "outage",
        resource: random.pick(resourcesWithOutages(setup)),
        status: random.pick(OUTAGE_STATUSES),
        forMs: Math.round(random.between(10_000, 150_000)),
      };
    case "compact":
      return { do: "compact" };
  }
}

const OUTAGE_STATUSES = [429, 500, 500, 503] as const;

function resourcesWithOutages({ backendPool, hasBackends, several }: Setup): readonly string[] {
  const names = several === "list" ? LISTED_LOAD_BALANCERS : several === "fleet" ? FLEET_NAMES : ["kubernetes"];
  const balancers = names.flatMap((name) => [`loadBalancers/${name}`, `loadBalancers/${name}-internal`]);
  const pools = balancers.flatMap((path) => [
    `${path}/backendAddressPools/kubernetes`,
    ...(backendPool === "nodeIP" ? [`${path}/backendAddressPools/kubernetes-IPv6`] : []),
  ]);
  const ofBackends = hasBackends === true ? ["loadBalancers/pods-inside", "loadBalancers/pods-outside"] : [];
  return [...balancers, ...pools, ...ofBackends, "networkSecurityGroups/nsg"];
}

function drawSetup(random: Random): Setup {
  const topology = random.weighted({ addresses: 6, vmss: 1, vmssflex: 1, standard: 2 });
  return {
    vmType: topology === "addresses" ? "vmss" : topology,
    backendPool: topology === "addresses" ? "nodeIP" : "nodeIPConfiguration",
    isShared: random.bool(0.5),
    isElected: random.bool(0.3),
    hasRival: random.bool(0.15),
  };
}

/** Mostly short enough to hit work in progress; now and then long enough for everything to settle. */
function drawPauseMs(random: Random): number {
  switch (random.weighted({ none: 3, moment: 5, while: 3, long: 1 })) {
    case "none":
      return 0;
    case "moment":
      return Math.round(random.between(1, 300));
    case "while":
      return Math.round(random.between(300, 8_000));
    case "long":
      return Math.round(random.between(20_000, 90_000));
  }
}

function drawAction(random: Random, setup: Setup): Action {
  const kind = random.weighted(WEIGHTS);
  switch (kind) {
    case "apply":
      return {
        do: kind,
        service: random.pick(SERVICES),
        template: drawServiceTemplate(random, templateOptions(setup)),
      };
    case "delete":
    case "retype":
      return { do: kind, service: random.pick(SERVICES) };
    case "node":
      return { do: kind, how: drawNodeAction(random), slot: random.below(NODE_SLOTS), taint: random.pick(TAINTS) };
    case "edit":
      return {
        do: kind,
        by: random.pick(["person", "tool"]),
        how: random.pick(EXTERNAL_EDITS),
        which: random.below(1_000),
        isCareful: random.bool(0.6),
        thinksMs: random.bool(0.5) ? 0 : Math.round(random.between(1, 5_000)),
      };
    case "crash":
    case "restart":
      return { do: kind, downMs: Math.round(random.bool(0.2) ? 120_000 : random.between(0, 10_000)) };
    case "pause":
      return { do: kind, forMs: Math.round(random.between(1_000, 150_000)) };
    case "jump":
      return { do: kind, byMs: Math.round(random.between(-600_000, 600_000)) };
    case "fault":
      return { do: kind, fault: drawFault(random) };
    case "holdWatches":
      return {
        do: kind,
        collection: random.pick(["services", "nodes", thirdWatch(setup)]),
        forMs: Math.round(random.between(500, 40_000)),
      };
    case "slow":
      return { do: kind, factor: Math.round(random.between(2, 20)), forMs: 30_000 };
    case "cutWatches":
    case "compact":
      return { do: kind };
  }
}

function thirdWatch({ hasBackends, several }: Setup): string {
  if (hasBackends === true) return "pods";
  return several === "list" ? "endpointslices.discovery.k8s.io" : "configmaps";
}

/** Pools of network interfaces: those have IPv4 addresses only. */
function templateOptions({ hasRival, backendPool, isBasic = false, several }: Setup): TemplateOptions {
  const hasLinks = backendPool !== "nodeIP" && !isBasic;
  return {
    services: SERVICES,
    hasRival,
    hasIPv6: backendPool === "nodeIP",
    hasLinks,
    isBasic,
    hasList: several === "list",
  };
}

const TAINTS = ["out-of-service", "out-of-service", "spot-eviction", "autoscaler"] as const;

function drawNodeAction(random: Random): NodeAction {
  return random.weighted({
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

function drawFault(random: Random): Fault {
  const side: Side = random.bool(0.65) ? "azure" : "kube";
  const kind: FaultKind = random.weighted({
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
    calls: drawCalls(random, kind, side),
    ...(kind === "refused" && { status: random.pick(side === "azure" ? AZURE_STATUSES : KUBE_STATUSES) }),
    skip: random.bool(0.5) ? 0 : random.below(12),
    times: kind.startsWith("crash") ? 1 : random.bool(0.7) ? 1 : 1 + random.below(12),
  };
}

function drawCalls(random: Random, kind: FaultKind, side: Side): CallKind | "any" {
  if (kind === "fails" || kind === "cancelled") return "write";
  if (kind === "stale") return "read";
  return random.pick(side === "azure" ? ["write", "write", "read", "poll", "any"] : ["write", "read", "any", "lease"]);
}

/** An action as one line of text. */
export function describe({ thenMs, ...action }: TimedAction): string {
  const { do: what, ...rest } = action;
  const details = Object.entries(rest as Readonly<Record<string, unknown>>).flatMap(([key, value]) => {
    if (key === "service") return [String(value)];
    if (key === "template") return [describeTemplate(value as ServiceTemplate)];
    if (key === "fault") return Object.entries(value as Fault).map(([name, one]) => `${name}=${String(one)}`);
    return [`${key}=${String(value)}`];
  });
  return `${[what, ...details].join(" ")}${thenMs > 0 ? `, then ${thenMs} ms` : ""}`;
}
