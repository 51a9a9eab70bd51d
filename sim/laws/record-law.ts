/**
 * Backends with a memory (LBCF): what stands in a load balancer has a record, and who should serve stays.
 *
 *   law     | what must not happen
 *   --------|----------------------------------------------------------------------------------------------------
 *   record  | a write of ours puts an entry into a pool that no record with that address and a finalizer stands for
 *   record  | a record goes while its entry is in the pool, and no other record stands for that
 *   backend | a write of ours takes out the entry of a pod that has been wanted there for a while
 *
 * Entries that others put back are theirs.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import { BIND } from "../actions/lbcf.ts";
import type { ClusterSide } from "../environment/simulated-kubernetes.ts";
import { addressOfPod, isGated, isTrue } from "../actions/pods.ts";
import { LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import { addressIn, entriesOf, isDoomed } from "./backend-law.ts";
import type { Law, Report } from "./law.ts";

const RECORDS = "backendrecords.lbcf.tkestack.io";
const FINALIZER = "lbcf.tkestack.io/deregister-backend";
const OUR_ENTRY = /^azlb-/;
/** Longer than a write that was decided before waits for its turn. */
const WANTED_FOR_MS = 300_000;

export interface RecordLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly cluster: ClusterSide;
  readonly nowMs: () => number;
}

/** `pool id address`, in lower case. */
type Place = string;

/** Whose pods are to be in which pools. */
interface BatchWindow {
  readonly app: string;
  readonly pools: readonly string[];
  /** All of its load balancers have a pool. */
  readonly isWhole: boolean;
}

interface BoundStatus {
  readonly name: string;
  readonly lbInfo?: { readonly loadBalancer?: string; readonly pool?: string };
  readonly deletionTimestamp?: string;
}

export class RecordLaw implements Law {
  readonly #options: RecordLawOptions;
  readonly #wantedSinceMs = new Map<Place, number>();
  /** Put back by others. */
  readonly exempt = new Set<Place>();

  constructor(options: RecordLawOptions) {
    this.#options = options;
  }

  onOurWrite({ who, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      const [had, has] = [placesIn(before), placesIn(after)];
      for (const place of has) if (!had.has(place)) this.#ofNew(`${who} ${method}`, place);
      for (const place of had) if (!has.has(place)) this.#ofGone(`${who} ${method}`, place);
    }
  }

  onOthersWrite({ touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      const had = placesIn(before);
      for (const place of placesIn(after)) if (!had.has(place)) this.exempt.add(place);
    }
  }

  onChange({ collection, type, object }: HistoryEntry): void {
    if (collection === "pods" || collection.endsWith(".lbcf.tkestack.io")) this.#see();
    if (collection !== RECORDS || type !== "DELETED") return;
    const place = placeOfRecord(object);
    const isLeft = [...this.entries()].includes(place) && !this.exempt.has(place);
    if (isLeft && !this.#isRecorded(place))
      this.#options.report("record", `${object.metadata.name} went while ${place} is still in the pool`);
  }

  /** Entries of ours in all pools. */
  *entries(): Iterable<Place> {
    for (const resource of resourcesOf(this.#options.azure, LOAD_BALANCER)) yield* placesIn(resource);
  }

  /** What should be in the pools: place → is it to be `Down`? `undefined` where there is no node to tell. */
  wanted(): ReadonlyMap<Place, boolean | undefined> {
    const { cluster } = this.#options;
    const doomed = new Map(cluster.objects("nodes").map((node) => [node.metadata.name, isDoomed(node)]));
    const wanted = new Map<Place, boolean | undefined>();
    for (const { app, pools } of [...this.#groups(), ...this.#binds()]) {
      const pods = cluster.objects("pods").filter((pod) => isServing(pod, app));
      for (const pool of pools)
        for (const pod of pods) wanted.set(placeOf(pool, addressOfPod(pod)), doomed.get(nodeOf(pod)));
    }
    return wanted;
  }

  /** Where a pod is to be; nowhere for certain while one of the load balancers is not made. */
  placesOf(pod: KubeObject): readonly Place[] {
    const its = [...this.#groups(), ...this.#binds()].filter(({ app }) => pod.metadata.labels?.["app"] === app);
    if (!its.every(({ isWhole }) => isWhole)) return [];
    return its.flatMap(({ pools }) => pools.map((pool) => placeOf(pool, addressOfPod(pod))));
  }

  *#groups(): Iterable<BatchWindow> {
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

  /** What others delete of a Bind is not made again (docs/reliability.md). */
  *#binds(): Iterable<BatchWindow> {
    for (const { metadata, spec, status } of this.#options.cluster.objects("binds.lbcf.tkestack.io")) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const { loadBalancers } = spec as { loadBalancers: { name: string }[] };
      const { loadBalancerStatuses = [] } = (status ?? {}) as { loadBalancerStatuses?: BoundStatus[] };
      const inSpec = new Set(loadBalancers.map(({ name }) => name));
      const pools = loadBalancerStatuses.flatMap(({ name, lbInfo, deletionTimestamp }) =>
        inSpec.has(name) && deletionTimestamp === undefined && this.#isThere(lbInfo?.loadBalancer)
          ? (lbInfo?.pool ?? [])
          : [],
      );
      yield { app: BIND.app, pools, isWhole: pools.length === loadBalancers.length };
    }
  }

  #isThere(id = ""): boolean {
    return this.#options.azure.resources.has(id.toLowerCase());
  }

  #see(): void {
    const wanted = this.wanted();
    for (const place of this.#wantedSinceMs.keys()) if (!wanted.has(place)) this.#wantedSinceMs.delete(place);
    for (const place of wanted.keys())
      if (!this.#wantedSinceMs.has(place)) this.#wantedSinceMs.set(place, this.#options.nowMs());
  }

  #ofNew(what: string, place: Place): void {
    if (!this.#isRecorded(place)) this.#options.report("record", `${what} put ${place} into a pool without a record`);
  }

  #ofGone(what: string, place: Place): void {
    const sinceMs = this.#wantedSinceMs.get(place);
    if (sinceMs === undefined || this.#options.nowMs() - sinceMs < WANTED_FOR_MS) return;
    this.#options.report("backend", `${what} took ${place} out, which is wanted there`);
  }

  #isRecorded(place: Place): boolean {
    return this.#options.cluster
      .objects(RECORDS)
      .some((record) => record.metadata.finalizers?.includes(FINALIZER) === true && placeOfRecord(record) === place);
  }
}

export function placesIn(resource: Resource | undefined): ReadonlySet<Place> {
  if (resource?.type !== LOAD_BALANCER) return new Set();
  return new Set(
    partsOf(resource, "backendAddressPools").flatMap((pool) =>
      entriesOf(pool)
        .filter((entry) => OUR_ENTRY.test(nameOf(entry)))
        .map((entry) => placeOf(`${resource.id}/backendAddressPools/${nameOf(pool)}`, addressIn(entry))),
    ),
  );
}

export function placeOf(pool: string, address: string): Place {
  return `${pool} ${address}`.toLowerCase();
}

function placeOfRecord(record: KubeObject): Place {
  const { lbInfo } = record["spec"] as { lbInfo?: { pool?: string } };
  const { backendAddr } = (record["status"] ?? {}) as { backendAddr?: string };
  return placeOf(lbInfo?.pool ?? "", backendAddr ?? "");
}

function isServing(pod: KubeObject, app: string): boolean {
  const isReady = isTrue(pod, isGated(pod) ? "ContainersReady" : "Ready");
  return pod.metadata.labels?.["app"] === app && pod.metadata.deletionTimestamp === undefined && isReady;
}

function nodeOf(pod: KubeObject): string | undefined {
  return (pod["spec"] as { nodeName?: string }).nodeName;
}
