/**
 * Keeps the cluster's pools equal to its nodes, once per load balancer however many Services stand on it, and pools of
 * Services equal to the nodes with their endpoints. Runs when a node or the nodes of an EndpointSlice change in something
 * that pools depend on, and at every resync.
 */
import type { AzureStep } from "../../core/steps.ts";
import type { Clock, Random } from "../../core/util/clock.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { Log } from "../../core/util/log.ts";
import { nodeConflicts } from "../../core/backends/contested-nodes.ts";
import { eventText } from "../../core/events/event-reasons.ts";
import { isDraining } from "../../core/admin-state/reconcile-admin-state.ts";
import type { PoolsInput } from "../../core/resources/managed-pools.ts";
import { reconcilePools, unrecordedNames } from "../../core/resources/reconcile-pools.ts";
import { untilSettled } from "../../core/util/until-settled.ts";
import type { Reflector } from "../../kube/cache/reflector.ts";
import { NODES, sameJson } from "../../kube/client/resources.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import type { Events } from "../events.ts";
import type { AzureStepExecutor } from "../service/step-executor.ts";
import { nextAttempt } from "../service/next-attempt.ts";
import type { Observer } from "../service/observer.ts";
import type { LoopMetrics } from "../loop-metrics.ts";
import type { MemberLists } from "./member-list.ts";
import type { CachedEndpointSlice, CachedNode } from "../projections.ts";
import { errorText } from "../../core/util/text.ts";

export interface PoolControllerOptions {
  readonly nodes: Pick<Reflector<CachedNode>, "subscribe">;
  /** With several load balancers: pools of Services follow their endpoints. */
  readonly endpointSlices?: Pick<Reflector<CachedEndpointSlice>, "subscribe"> | undefined;
  readonly observer: Pick<Observer, "observePools" | "awaitedMs">;
  readonly executor: Pick<AzureStepExecutor, "write">;
  readonly members: Pick<MemberLists, "rememberNames">;
  readonly events: Pick<Events, "emit">;
  readonly loopMetrics: Pick<LoopMetrics, "addQueue">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The nodes, or the pools' members, are others than before, and the pools follow them: rules that name nodes may be looked at. */
  readonly onMembersChanged: () => void;
}

/** All pools are one piece of work: they follow the same nodes. */
const ALL_POOLS = "pools";
/** Nodes come in bursts; a burst is one write. */
const GATHER_MS = 50;

export class PoolController {
  readonly #options: PoolControllerOptions;
  readonly #queue: WorkQueue;
  /** Conflicts between nodes that events were emitted for: each is news once, until it is over. */
  #conflicts: ReadonlySet<string> = new Set();
  /** Names of nodes that went, until the member lists have them: a node may go before a look has seen it. */
  readonly #departed = new Set<string>();
  /** What the Services have not been told yet. */
  #haveNodesChanged = false;
  #haveMembersChanged = false;

  constructor(options: PoolControllerOptions) {
    this.#options = options;
    const { loopMetrics, clock, random, log } = options;
    this.#queue = new WorkQueue({
      clock,
      random,
      workers: 1,
      work: (job) => this.#sync(job),
      onError: (_, error) => log.error(`pools: ${String(error)}`),
    });
    loopMetrics.addQueue("pools", this.#queue);
  }

  /** Call once the caches are filled. */
  start(): void {
    this.#options.nodes.subscribe((change) => {
      if (change.kind === "deleted") this.#departed.add(change.object.metadata.name);
      if (change.kind === "updated" && !concernsPools(change.old, change.object)) return;
      this.#haveNodesChanged = true;
      this.resync(GATHER_MS);
    });
    this.#options.endpointSlices?.subscribe((change) => {
      if (change.kind !== "updated" || !sameJson(change.old.nodeNames, change.object.nodeNames)) this.resync(GATHER_MS);
    });
    this.#queue.start();
  }

  resync(afterMs = 0): void {
    this.#queue.add(ALL_POOLS, { afterMs });
  }

  stop(patienceMs: number): Promise<void> {
    return this.#queue.stop(patienceMs);
  }

  async #sync({ failures, signal }: Job): Promise<Verdict> {
    const haveNodesChanged = this.#haveNodesChanged; // one that changes from here on may be seen by the next look only
    this.#haveNodesChanged = false;
    try {
      const { awaitedMs } = await untilSettled("the pools", () => this.#round(signal));
      this.#tellChange(haveNodesChanged);
      return awaitedMs === undefined ? { kind: "done" } : { kind: "again", afterMs: awaitedMs + GATHER_MS };
    } catch (error) {
      this.#haveNodesChanged ||= haveNodesChanged;
      const { afterMs } = nextAttempt(error, failures);
      this.#options.log.warn(`pools: ${errorText(error)}`);
      return { kind: "retry", ...(afterMs !== undefined && { afterMs }) };
    }
  }

  /** Every Service is looked at then, so not after each of many looks that change nothing. */
  #tellChange(haveNodesChanged: boolean): void {
    if (!haveNodesChanged && !this.#haveMembersChanged) return;
    this.#haveMembersChanged = false;
    this.#options.onMembersChanged();
  }

  /** `awaitedMs`: a node's machine is not listed yet, and is worth another look then. */
  async #round(signal: AbortSignal): Promise<{ readonly awaitedMs: number | undefined } | undefined> {
    const { observer } = this.#options;
    const input = await observer.observePools(signal);
    this.#tellConflicts(input.nodes);
    if (await this.#remember(input)) return undefined;
    const steps = reconcilePools(input);
    if (steps.length === 0) return { awaitedMs: observer.awaitedMs(input) };
    this.#haveMembersChanged = true;
    await this.#applyAll(steps);
    return undefined;
  }

  /** Whether the member lists have changed, so that the pools must be looked at again. */
  async #remember(input: PoolsInput): Promise<boolean> {
    const departed = [...this.#departed];
    const unrecorded = unrecordedNames(input, departed);
    for (const { id, names } of unrecorded) await this.#options.members.rememberNames(id, names);
    for (const name of departed) this.#departed.delete(name);
    return unrecorded.length > 0;
  }

  #tellConflicts(nodes: readonly Node[]): void {
    const conflicts = new Set<string>();
    for (const { node, message } of nodeConflicts(nodes)) {
      const id = `${node.metadata.uid} ${message}`;
      conflicts.add(id);
      if (!this.#conflicts.has(id)) this.#options.events.emit(NODES, node, eventText("NodeAddressConflict", message));
    }
    this.#conflicts = conflicts;
  }

  /** All are tried, so that one bad machine or load balancer holds up no other; the first failure is thrown. */
  async #applyAll(steps: readonly AzureStep[]): Promise<void> {
    const results = await Promise.allSettled(steps.map((step) => this.#options.executor.write(step, "create")));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

/**
 * Readiness, heartbeats and images change all the time; membership depends on none of them. A doomed node stays where it
 * is, and its admin state is not set here first: see `admin-state-controller.ts`.
 */
function concernsPools(old: Node, now: Node): boolean {
  const parts = ({ metadata, spec, status }: Node): unknown => [
    metadata.uid,
    metadata.labels,
    metadata.deletionTimestamp,
    spec.providerID,
    (spec.taints ?? []).filter((taint) => !isDraining(taint)),
    status.addresses,
  ];
  return !sameJson(parts(old), parts(now));
}
