/**
 * Entries of LBCF (lb-controlling-framework) in pools have a BackendRecord, and pods that should serve stay in.
 *
 *   law     | what must not happen
 *   --------|----------------------------------------------------------------------------------------------------
 *   record  | a controller's write adds an entry without a record of that address that has the finalizer
 *   record  | a record is deleted while its entry is in the pool and no other record has that entry
 *   backend | a controller's write removes the entry of a pod that has been wanted there for a while
 *
 * Entries that another client puts back are exempt.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import { BIND } from "../actions/lbcf.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import { addressOfPod, isGated, isTrue } from "../actions/pods.ts";
import { LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import { addressIn, entriesOf, isDraining } from "./backend-law.ts";
import type { Law, Report } from "./law.ts";

const RECORDS = "backendrecords.lbcf.tkestack.io";
const FINALIZER = "lbcf.tkestack.io/deregister-backend";
const OUR_ENTRY = /^azlb-/;
/** Longer than a write that was decided earlier can wait to be sent. */
const WANTED_FOR_MS = 300_000;

export interface RecordLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly cluster: SimulatedKubernetes;
  readonly nowMs: () => number;
}

/** An entry of a pool: `pool id address`, in lower case. */
type EntryKey = string;

/** The pods of an app, and the pools that they should be in. */
interface PodSelection {
  readonly app: string;
  readonly pools: readonly string[];
  /** Every one of its load balancers has a pool. */
  readonly isWhole: boolean;
}

interface BoundStatus {
  readonly name: string;
  readonly lbInfo?: { readonly loadBalancer?: string; readonly pool?: string };
  readonly deletionTimestamp?: string;
}

export class RecordLaw implements Law {
  readonly #options: RecordLawOptions;
  readonly #wantedSinceMs = new Map<EntryKey, number>();
  /** Put back by another client. */
  readonly exempt = new Set<EntryKey>();

  constructor(options: RecordLawOptions) {
    this.#options = options;
  }

  onOurWrite({ caller, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      const [had, has] = [entriesIn(before), entriesIn(after)];
      for (const entry of has) if (!had.has(entry)) this.#checkAdded(`${caller} ${method}`, entry);
      for (const entry of had) if (!has.has(entry)) this.#checkRemoved(`${caller} ${method}`, entry);
    }
  }

  onOthersWrite({ touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      const had = entriesIn(before);
      for (const entry of entriesIn(after)) if (!had.has(entry)) this.exempt.add(entry);
    }
  }

  onChange({ collection, type, object }: HistoryEntry): void {
    if (collection === "pods" || collection.endsWith(".lbcf.tkestack.io")) this.#updateWanted();
    if (collection !== RECORDS || type !== "DELETED") return;
    const entry = entryOfRecord(object);
    const isLeft = [...this.entries()].includes(entry) && !this.exempt.has(entry);
    if (isLeft && !this.#isRecorded(entry))
      this.#options.report("record", `${object.metadata.name} went while ${entry} is still in the pool`);
  }

  /** The controllers' entries in all pools. */
  *entries(): Iterable<EntryKey> {
    for (const resource of resourcesOf(this.#options.azure, LOAD_BALANCER)) yield* entriesIn(resource);
  }

  /** The entries that should exist, and whether each should be `Down`; `undefined`: the node is unknown. */
  wanted(): ReadonlyMap<EntryKey, boolean | undefined> {
    const { cluster } = this.#options;
    const draining = new Map(cluster.objects("nodes").map((node) => [node.metadata.name, isDraining(node)]));
    const wanted = new Map<EntryKey, boolean | undefined>();
    for (const { app, pools } of [...this.#groups(), ...this.#binds()]) {
      const pods = cluster.objects("pods").filter((pod) => isServing(pod, app));
      for (const pool of pools)
        for (const pod of pods) wanted.set(entryKey(pool, addressOfPod(pod)), draining.get(nodeOf(pod)));
    }
    return wanted;
  }

  /** The entries that a pod should have; none while one of its load balancers does not exist yet. */
  wantedEntriesOf(pod: KubeObject): readonly EntryKey[] {
    const its = [...this.#groups(), ...this.#binds()].filter(({ app }) => pod.metadata.labels?.["app"] === app);
    if (!its.every(({ isWhole }) => isWhole)) return [];
    return its.flatMap(({ pools }) => pools.map((pool) => entryKey(pool, addressOfPod(pod))));
  }

  *#groups(): Iterable<PodSelection> {
    const { cluster } = this.#options;
    const known = new Map(
      cluster.objects("loadbalancers.lbcf.tkestack.io").flatMap((balancer) => {
        const { lbInfo } = (balancer["status"] ?? {}) as { lbInfo?: { pool?: string } };
        const isGoing = balancer.metadata.deletionTimestamp !== undefined;
        return isGoing || lbInfo?.pool === undefined ? [] : [[balancer.metadata.name ?? "", lbInfo.pool] as const];
      }),
    );
    for (const { metadata, spec } of cluster.objects("backendgroups.lbcf.tkestack.io")) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const { loadBalancers = [] } = spec as { loadBalancers?: string[] };
      const pools = loadBalancers.flatMap((name) => known.get(name) ?? []);
      yield { app: metadata.name ?? "", pools, isWhole: pools.length === loadBalancers.length };
    }
  }

  /** A load balancer of a Bind that another client deletes is not created again (docs/reliability.md, known limits). */
  *#binds(): Iterable<PodSelection> {
    for (const { metadata, spec, status } of this.#options.cluster.objects("binds.lbcf.tkestack.io")) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const { loadBalancers } = spec as { loadBalancers: { name: string }[] };
      const { loadBalancerStatuses = [] } = (status ?? {}) as { loadBalancerStatuses?: BoundStatus[] };
      const inSpec = new Set(loadBalancers.map(({ name }) => name));
      const pools = loadBalancerStatuses.flatMap(({ name, lbInfo, deletionTimestamp }) =>
        inSpec.has(name) && deletionTimestamp === undefined && this.#exists(lbInfo?.loadBalancer)
          ? (lbInfo?.pool ?? [])
          : [],
      );
      yield { app: BIND.app, pools, isWhole: pools.length === loadBalancers.length };
    }
  }

  #exists(id = ""): boolean {
    return this.#options.azure.resources.has(id.toLowerCase());
  }

  #updateWanted(): void {
    const wanted = this.wanted();
    for (const entry of this.#wantedSinceMs.keys()) if (!wanted.has(entry)) this.#wantedSinceMs.delete(entry);
    for (const entry of wanted.keys())
      if (!this.#wantedSinceMs.has(entry)) this.#wantedSinceMs.set(entry, this.#options.nowMs());
  }

  #checkAdded(what: string, entry: EntryKey): void {
    if (!this.#isRecorded(entry)) this.#options.report("record", `${what} put ${entry} into a pool without a record`);
  }

  #checkRemoved(what: string, entry: EntryKey): void {
    const sinceMs = this.#wantedSinceMs.get(entry);
    if (sinceMs === undefined || this.#options.nowMs() - sinceMs < WANTED_FOR_MS) return;
    this.#options.report("backend", `${what} took ${entry} out, which is wanted there`);
  }

  #isRecorded(entry: EntryKey): boolean {
    return this.#options.cluster
      .objects(RECORDS)
      .some((record) => record.metadata.finalizers?.includes(FINALIZER) === true && entryOfRecord(record) === entry);
  }
}

export function entriesIn(resource: Resource | undefined): ReadonlySet<EntryKey> {
  if (resource?.type !== LOAD_BALANCER) return new Set();
  return new Set(
    partsOf(resource, "backendAddressPools").flatMap((pool) =>
      entriesOf(pool)
        .filter((entry) => OUR_ENTRY.test(nameOf(entry)))
        .map((entry) => entryKey(`${resource.id}/backendAddressPools/${nameOf(pool)}`, addressIn(entry))),
    ),
  );
}

export function entryKey(pool: string, address: string): EntryKey {
  return `${pool} ${address}`.toLowerCase();
}

function entryOfRecord(record: KubeObject): EntryKey {
  const { lbInfo } = record["spec"] as { lbInfo?: { pool?: string } };
  const { backendAddr } = (record["status"] ?? {}) as { backendAddr?: string };
  return entryKey(lbInfo?.pool ?? "", backendAddr ?? "");
}

function isServing(pod: KubeObject, app: string): boolean {
  const isReady = isTrue(pod, isGated(pod) ? "ContainersReady" : "Ready");
  return pod.metadata.labels?.["app"] === app && pod.metadata.deletionTimestamp === undefined && isReady;
}

function nodeOf(pod: KubeObject): string | undefined {
  return (pod["spec"] as { nodeName?: string }).nodeName;
}
