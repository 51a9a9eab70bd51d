/**
 * From a group to its records: which to create, to change and to delete. Asks for what it needs to know first (a
 * driver's verdict, a second look at the cluster), one thing at a time; whoever answers calls again with the answer.
 *
 * The rules that nothing breaks:
 *   - what cannot be looked up takes nothing away;
 *   - a record is deleted only because its backend is known to be gone, or because somebody said so in an object;
 *   - a record that belongs to another life of its load balancer (another driver, another lbInfo) is replaced, not
 *     changed, so that it leaves where it was registered.
 *
 * @design BackendGroup
 */
import { type Brake, brakeOf, mustConfirm } from "./deregistration-limit.ts";
import {
  type Candidate,
  type Candidates,
  candidatesOf,
  type Cluster,
  type Judgement,
  keeps,
  podsToJudge,
  type Problem,
} from "./candidates.ts";
import { isRecordOf } from "../records/backend-state.ts";
import { isTrue } from "../objects/conditions.ts";
import { type LoadBalancerUse, loadBalancerUse, type Lookup, type Verdict } from "./load-balancer-use.ts";
import { recordName } from "../objects/names.ts";
import type { BackendGroup, BackendRecord, LoadBalancer, Pod, RecordSpec } from "../objects/objects.ts";
import { isAvailable } from "../pods/pods.ts";
import { type RecordDraft, sameMap, sameSpec } from "../records/record-spec.ts";

export interface GroupWorld {
  readonly group: BackendGroup;
  readonly cluster: Cluster;
  /** By name, for every load balancer that the group names. */
  readonly loadBalancers: ReadonlyMap<string, Lookup>;
  /** Every record of the group that exists, the ones being deleted included. */
  readonly records: readonly BackendRecord[];
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly judgement: Judgement | undefined;
  /** `cluster` comes from the API server itself, not from a cache. */
  readonly isConfirmed: boolean;
  readonly brake: Brake;
}

export interface GroupActions {
  readonly kind: "act";
  readonly creates: readonly RecordDraft[];
  readonly updates: readonly { readonly record: BackendRecord; readonly spec: RecordSpec }[];
  readonly deletes: readonly { readonly record: BackendRecord; readonly why: string }[];
  /** How many records there should be. */
  readonly wanted: number;
  readonly uses: ReadonlyMap<string, LoadBalancerUse>;
  readonly problem: Problem | undefined;
}

export type GroupDecision =
  /** Ask the drivers of these whether they take the group's parameters. */
  | {
      readonly kind: "validate";
      readonly loadBalancers: readonly { readonly name: string; readonly loadBalancer: LoadBalancer }[];
    }
  /** Ask the driver which of these pods stay. */
  | { readonly kind: "judge"; readonly driver: string; readonly pods: readonly Pod[] }
  /** Too much is gone at once: look again, at the API server. */
  | { readonly kind: "confirm"; readonly vanished: number; readonly records: number }
  | GroupActions;

export function reconcileBackendGroup(world: GroupWorld): GroupDecision {
  const uses = usesOf(world);
  const unvalidated = [...uses].flatMap(([name, use]) =>
    use.kind === "unvalidated" ? [{ name, loadBalancer: use.loadBalancer }] : [],
  );
  if (unvalidated.length > 0) return { kind: "validate", loadBalancers: unvalidated };
  const { group, cluster, judgement, records } = world;
  const recorded = new Set(records.map(({ spec: { backend } }) => (backend.kind === "Pod" ? backend.uid : undefined)));
  const toJudge = judgement === undefined ? podsToJudge(group, cluster, (uid) => recorded.has(uid)) : [];
  if (toJudge.length > 0 && group.spec.deregister.policy === "Webhook") {
    return { kind: "judge", driver: group.spec.deregister.driver, pods: toJudge };
  }
  return diff(world, uses);
}

function usesOf({ group, loadBalancers, verdicts }: GroupWorld): ReadonlyMap<string, LoadBalancerUse> {
  return new Map(
    group.spec.loadBalancers.map((name) => {
      const lookup = loadBalancers.get(name) ?? { kind: "unknown", message: "nobody looked" };
      return [name, loadBalancerUse({ group, name, lookup, verdict: verdicts.get(name) })];
    }),
  );
}

function diff(world: GroupWorld, uses: ReadonlyMap<string, LoadBalancerUse>): GroupDecision {
  const { group, cluster, judgement, records, brake } = world;
  const found = group.spec.loadBalancers.length === 0 ? NOWHERE : candidatesOf(group, cluster, judgement);
  const wanted = new Map<string, Wanted>();
  if (found.kind === "known") addWanted(wanted, group, uses, found.candidates);
  const existing = new Map(records.map((record) => [record.metadata.name, record]));
  const live = records.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const unwanted = live.flatMap((record) => fateOf(world, uses, found.kind === "known" ? wanted : undefined, record));
  const vanished = unwanted.filter(({ isVanished }) => isVanished).length;
  if (!world.isConfirmed && mustConfirm(vanished, live.length, brakeOf(group.metadata, brake))) {
    return { kind: "confirm", vanished, records: live.length };
  }
  const gone = new Set(unwanted.map(({ record }) => record));
  const drafts = [...wanted.values()];
  return {
    kind: "act",
    creates: drafts.filter(({ draft, isFresh }) => isFresh && !existing.has(draft.name)).map(({ draft }) => draft),
    updates: drafts.flatMap(({ draft: { name, spec } }) => {
      const record = existing.get(name);
      const isStanding = record !== undefined && record.metadata.deletionTimestamp === undefined && !gone.has(record);
      return isStanding && !sameSpec(record.spec, spec) ? [{ record, spec }] : [];
    }),
    deletes: unwanted.map(({ record, why }) => ({ record, why })),
    wanted: drafts.filter(({ draft, isFresh }) => isFresh || existing.has(draft.name)).length + heldRecords(uses, live),
    uses,
    problem: found.kind === "unknown" ? found.problem : undefined,
  };
}

/** As with `podsMistake`: it was not meant to leave them all. */
const NOWHERE: Candidates = {
  kind: "unknown",
  problem: { reason: "InvalidSpec", message: "loadBalancers names no load balancer: give at least one" },
};

interface Wanted {
  readonly draft: RecordDraft;
  readonly isFresh: boolean;
}

function addWanted(
  wanted: Map<string, Wanted>,
  group: BackendGroup,
  uses: ReadonlyMap<string, LoadBalancerUse>,
  candidates: readonly Candidate[],
): void {
  for (const [lbName, use] of uses) {
    if (use.kind !== "usable") continue;
    const { lbDriver, attributes } = use.loadBalancer.spec;
    const { parameters, ensurePolicy } = group.spec;
    const common = { lbName, lbDriver, lbInfo: use.lbInfo, lbAttributes: attributes, parameters, ensurePolicy };
    for (const { backend, ip, isFresh } of candidates) {
      const name = recordName(group, lbName, backend, ip);
      wanted.set(name, { draft: { name, spec: { ...common, backend } }, isFresh });
    }
  }
}

function heldRecords(uses: ReadonlyMap<string, LoadBalancerUse>, live: readonly BackendRecord[]): number {
  return live.filter(({ spec }) => uses.get(spec.lbName)?.kind === "held").length;
}

interface Fate {
  readonly record: BackendRecord;
  readonly why: string;
  /** Gone from the cluster as we see it, rather than dismissed by what somebody wrote. */
  readonly isVanished: boolean;
}

/** Nothing where the record stays. `wanted`: `undefined` where the group's backends are unknown. */
function fateOf(
  world: GroupWorld,
  uses: ReadonlyMap<string, LoadBalancerUse>,
  wanted: ReadonlyMap<string, Wanted> | undefined,
  record: BackendRecord,
): Fate[] {
  const use = uses.get(record.spec.lbName);
  if (uses.size === 0) return isBackendGone(world, record) ? [vanished(record)] : [];
  if (use === undefined) return [{ record, why: "the group no longer names its load balancer", isVanished: false }];
  if (use.kind === "leaving") return [{ record, why: use.message, isVanished: false }];
  if (use.kind !== "usable" || wanted === undefined) return isBackendGone(world, record) ? [vanished(record)] : [];
  const want = wanted.get(record.metadata.name);
  if (want === undefined) return [vanished(record)];
  const { lbDriver, lbInfo } = want.draft.spec;
  const isSame = record.spec.lbDriver === lbDriver && sameMap(record.spec.lbInfo, lbInfo);
  return isSame ? [] : [{ record, why: "its load balancer is another one now", isVanished: false }];
}

function vanished(record: BackendRecord): Fate {
  return { record, why: "its backend is gone, not ready, or no longer selected", isVanished: true };
}

/** By what we see of the backend itself, whether or not the group still selects it. */
function isBackendGone({ group, cluster, judgement }: GroupWorld, record: BackendRecord): boolean {
  const { backend } = record.spec;
  if (backend.kind === "Static") return false;
  if (backend.kind === "Service") return !cluster.nodes.some(({ metadata: node }) => node.name === backend.nodeName);
  const pod = cluster.podNamed.get(backend.name);
  if (pod === undefined || !isRecordOf(record, pod)) return true;
  return !(isAvailable(pod) || keeps(group, pod, judgement));
}

/** Of all that exist, as LBCF counts them: those being deregistered included. */
export function registeredCount(records: readonly BackendRecord[]): number {
  return records.filter(({ status }) => isTrue(status.conditions, "Registered")).length;
}
