/**
 * Which records of a group to create, update and delete. Where a driver's answer or a read of the API server is needed
 * first, the decision is that question; the caller answers it and calls again.
 *
 * Invariants:
 *   - a failed lookup deletes no record;
 *   - a record is deleted only because its backend is known to be gone, or because an object's spec says so;
 *   - a record made for an earlier load balancer of that name (another driver, another lbInfo) is replaced, not updated,
 *     so that its backend is deregistered where it was registered.
 *
 * @design BackendGroup
 */
import { type DeregistrationLimit, deregistrationLimitOf, mustConfirm } from "./deregistration-limit.ts";
import {
  type Candidate,
  type Candidates,
  candidatesOf,
  type Cluster,
  keeps,
  podsToJudge,
  type Problem,
} from "./candidates.ts";
import type { JudgedPods } from "../drivers/driver-answers.ts";
import { isRecordOf } from "../records/backend-state.ts";
import { isTrue } from "../objects/conditions.ts";
import { type LoadBalancerUse, loadBalancerUse, type Lookup } from "./load-balancer-use.ts";
import type { ValidationResult } from "../drivers/driver-answers.ts";
import { otherRecordNames, recordName } from "../objects/names.ts";
import type {
  BackendGroup,
  BackendRecord,
  LoadBalancer,
  Pod,
  RecordedBackend,
  RecordSpec,
} from "../objects/objects.ts";
import { isAvailable } from "../pods/pods.ts";
import { type RecordDraft, sameMap, sameSpec } from "../records/record-spec.ts";

export interface ObservedGroup {
  readonly group: BackendGroup;
  readonly cluster: Cluster;
  /** By name, for every load balancer that the group names. */
  readonly loadBalancers: ReadonlyMap<string, Lookup>;
  /** Every record of the group, including those being deleted. */
  readonly records: readonly BackendRecord[];
  /** Whether a record of another group or Bind has the name. */
  readonly isTaken: (name: string) => boolean;
  readonly validations: ReadonlyMap<string, ValidationResult>;
  readonly judged: JudgedPods | undefined;
  /** `cluster` was read from the API server, not from a cache. */
  readonly isConfirmed: boolean;
  readonly deregistrationLimit: DeregistrationLimit;
}

export interface GroupActions {
  readonly kind: "act";
  readonly creates: readonly RecordDraft[];
  readonly updates: readonly { readonly record: BackendRecord; readonly spec: RecordSpec }[];
  readonly deletes: readonly { readonly record: BackendRecord; readonly why: string }[];
  /** The number of records that the group should have. */
  readonly wanted: number;
  readonly uses: ReadonlyMap<string, LoadBalancerUse>;
  readonly problem: Problem | undefined;
}

export type GroupDecision =
  /** Ask the drivers of these load balancers to validate the group's parameters. */
  | {
      readonly kind: "validate";
      readonly loadBalancers: readonly { readonly name: string; readonly loadBalancer: LoadBalancer }[];
    }
  /** Ask the driver which of these pods stay registered. */
  | { readonly kind: "judge"; readonly driver: string; readonly pods: readonly Pod[] }
  /** More backends are gone than the deregistration limit allows: read them from the API server. */
  | { readonly kind: "confirm"; readonly vanished: number; readonly records: number }
  | GroupActions;

export function reconcileBackendGroup(observed: ObservedGroup): GroupDecision {
  const uses = usesOf(observed);
  const unvalidated = [...uses].flatMap(([name, use]) =>
    use.kind === "unvalidated" ? [{ name, loadBalancer: use.loadBalancer }] : [],
  );
  if (unvalidated.length > 0) return { kind: "validate", loadBalancers: unvalidated };
  const { group, cluster, judged, records } = observed;
  const recorded = new Set(records.map(({ spec: { backend } }) => (backend.kind === "Pod" ? backend.uid : undefined)));
  const toJudge = judged === undefined ? podsToJudge(group, cluster, (uid) => recorded.has(uid)) : [];
  if (toJudge.length > 0 && group.spec.deregister.policy === "Webhook") {
    return { kind: "judge", driver: group.spec.deregister.driver, pods: toJudge };
  }
  return diff(observed, uses);
}

function usesOf({ group, loadBalancers, validations }: ObservedGroup): ReadonlyMap<string, LoadBalancerUse> {
  return new Map(
    group.spec.loadBalancers.map((name) => {
      const lookup = loadBalancers.get(name) ?? { kind: "unknown", message: "nobody looked" };
      return [name, loadBalancerUse({ group, name, lookup, validation: validations.get(name) })];
    }),
  );
}

function diff(observed: ObservedGroup, uses: ReadonlyMap<string, LoadBalancerUse>): GroupDecision {
  const { group, cluster, judged, records, deregistrationLimit } = observed;
  const found = group.spec.loadBalancers.length === 0 ? NOWHERE : candidatesOf(group, cluster, judged);
  const existing = new Map(records.map((record) => [record.metadata.name, record]));
  const wanted = found.kind === "known" ? wantedRecords(observed, existing, uses, found.candidates) : new Map();
  const live = records.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const unwanted = live.flatMap((record) =>
    deletionOf(observed, uses, found.kind === "known" ? wanted : undefined, record),
  );
  const vanished = unwanted.filter(({ isVanished }) => isVanished).length;
  if (
    !observed.isConfirmed &&
    mustConfirm(vanished, live.length, deregistrationLimitOf(group.metadata, deregistrationLimit))
  ) {
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

/** As with `podsMistake`: an empty list must not deregister every backend. */
const NOWHERE: Candidates = {
  kind: "unknown",
  problem: { reason: "InvalidSpec", message: "loadBalancers names no load balancer: give at least one" },
};

interface Wanted {
  readonly draft: RecordDraft;
  readonly isFresh: boolean;
}

function wantedRecords(
  { group, isTaken }: ObservedGroup,
  existing: ReadonlyMap<string, BackendRecord>,
  uses: ReadonlyMap<string, LoadBalancerUse>,
  candidates: readonly Candidate[],
): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const [lbName, use] of uses) {
    if (use.kind !== "usable") continue;
    const { lbDriver, attributes } = use.loadBalancer.spec;
    const { parameters, ensurePolicy } = group.spec;
    const common = { lbName, lbDriver, lbInfo: use.lbInfo, lbAttributes: attributes, parameters, ensurePolicy };
    for (const { backend, ip, isFresh } of candidates) {
      const name = nameOf(group, lbName, backend, ip, existing, isTaken);
      wanted.set(name, { draft: { name, spec: { ...common, backend } }, isFresh });
    }
  }
  return wanted;
}

/** A record that exists keeps its name, whichever it is. */
function nameOf(
  group: BackendGroup,
  lbName: string,
  backend: RecordedBackend,
  ip: string | undefined,
  existing: ReadonlyMap<string, BackendRecord>,
  isTaken: (name: string) => boolean,
): string {
  const name = recordName(group, lbName, backend, ip);
  const others = existing.has(name) ? undefined : otherRecordNames(group, lbName, backend, ip);
  if (others === undefined) return name;
  return others.find((each) => existing.has(each)) ?? (isTaken(name) ? others[0] : name);
}

function heldRecords(uses: ReadonlyMap<string, LoadBalancerUse>, live: readonly BackendRecord[]): number {
  return live.filter(({ spec }) => uses.get(spec.lbName)?.kind === "held").length;
}

interface RecordDeletion {
  readonly record: BackendRecord;
  readonly why: string;
  /** Missing from the observed cluster, rather than excluded by an object's spec. */
  readonly isVanished: boolean;
}

/** Empty when the record stays. `wanted` is `undefined` when the group's backends are unknown. */
function deletionOf(
  observed: ObservedGroup,
  uses: ReadonlyMap<string, LoadBalancerUse>,
  wanted: ReadonlyMap<string, Wanted> | undefined,
  record: BackendRecord,
): RecordDeletion[] {
  const use = uses.get(record.spec.lbName);
  if (uses.size === 0) return isBackendGone(observed, record) ? [vanished(record)] : [];
  if (use === undefined) return [{ record, why: "the group no longer names its load balancer", isVanished: false }];
  if (use.kind === "leaving") return [{ record, why: use.message, isVanished: false }];
  if (use.kind !== "usable" || wanted === undefined) return isBackendGone(observed, record) ? [vanished(record)] : [];
  const want = wanted.get(record.metadata.name);
  if (want === undefined) return [vanished(record)];
  const { lbDriver, lbInfo } = want.draft.spec;
  const isSame = record.spec.lbDriver === lbDriver && sameMap(record.spec.lbInfo, lbInfo);
  return isSame ? [] : [{ record, why: "its load balancer is another one now", isVanished: false }];
}

function vanished(record: BackendRecord): RecordDeletion {
  return { record, why: "its backend is gone, not ready, or no longer selected", isVanished: true };
}

/** Judged by the backend itself, whether or not the group still selects it. */
function isBackendGone({ group, cluster, judged }: ObservedGroup, record: BackendRecord): boolean {
  const { backend } = record.spec;
  if (backend.kind === "Static") return false;
  if (backend.kind === "Service") return !cluster.nodes.some(({ metadata: node }) => node.name === backend.nodeName);
  const pod = cluster.podNamed.get(backend.name);
  if (pod === undefined || !isRecordOf(record, pod)) return true;
  return !(isAvailable(pod) || keeps(group, pod, judged));
}

/** Counted as LBCF does: records being deregistered are included. */
export function registeredCount(records: readonly BackendRecord[]): number {
  return records.filter(({ status }) => isTrue(status.conditions, "Registered")).length;
}
