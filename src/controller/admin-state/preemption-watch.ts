/**
 * Turns the first `PreemptScheduled` or `TerminateScheduled` event of a node into the taint that says so durably: events are gone after an hour,
 * and with the process that saw them. One patch writes the taint and the record of the event (`preemption-annotation.ts`), under
 * the version of the Node that was decided on. What the taint leads to is `admin-state-controller.ts`'s.
 *
 * One watch of core/v1 sees the events of events.k8s.io too: the API server keeps both in one store. Those that are there
 * at the start count like new ones.
 */
import { BACKOFF } from "../../core/retry.ts";
import type { Clock, Random } from "../../core/util/clock.ts";
import {
  type EventTrust,
  newestPreemption,
  NOTICE_REASONS,
  parsePreemptionEvent,
  type PreemptionEvent,
} from "../../core/admin-state/preemption-events.ts";
import { preemptionPatch } from "../../core/admin-state/preemption-annotation.ts";
import { type EvictionNotice, evictionNotice } from "../../core/admin-state/drain-account.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { Log } from "../../core/util/log.ts";
import { untilSettled } from "../../core/util/until-settled.ts";
import { logWatchHealth } from "../../kube/cache/log-watch-health.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import { Reflector } from "../../kube/cache/reflector.ts";
import { EVENTS, NODES, type KubeObject } from "../../kube/client/resources.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import type { LoopMetrics } from "../loop-metrics.ts";
import type { AdminStateEvents } from "./admin-state-events.ts";
import { projectNode, type CachedNode } from "../projections.ts";
import { errorText } from "../../core/util/text.ts";

export interface PreemptionWatchOptions {
  readonly client: KubeClient;
  readonly nodes: Reflector<CachedNode>;
  /** Where Events about Nodes are believed. Only these namespaces are watched. */
  readonly namespaces: readonly string[];
  readonly events: AdminStateEvents;
  /** A notice about the node has come. */
  readonly onNotice: (node: CachedNode) => void;
  readonly loopMetrics: LoopMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

type CachedEvent = PreemptionEvent & KubeObject;

const WORKERS = 20;
/** Other clients change Nodes too; after so many conflicts in a row the queue's backoff spaces the attempts out. */
const MOST_CONFLICTS = 5;

export class PreemptionWatch {
  readonly #options: PreemptionWatchOptions;
  /** One per namespace and reason: selectors know no "or". */
  readonly #reflectors: readonly Reflector<CachedEvent>[];
  readonly #queue: WorkQueue;

  constructor(options: PreemptionWatchOptions) {
    this.#options = options;
    const { client, loopMetrics, clock, random, log, namespaces } = options;
    const watched = namespaces.flatMap((namespace) => NOTICE_REASONS.map((reason) => ({ namespace, reason })));
    this.#reflectors = watched.map(
      ({ namespace, reason }) =>
        new Reflector({
          client,
          clock,
          random,
          ...logWatchHealth(log, clock, "eviction notices"),
          resource: EVENTS,
          selection: { namespace, fieldSelector: `reason=${reason}` },
          project: projectEvent,
          indexers: { node: ({ node }) => [node] },
        }),
    );
    this.#queue = new WorkQueue({
      clock,
      random,
      workers: WORKERS,
      backoff: BACKOFF.drain,
      work: (job) => this.#work(job),
      onError: (name, error) => log.error(`preemption of ${name}: ${String(error)}`),
    });
    for (const [at, { namespace, reason }] of watched.entries())
      loopMetrics.addWatch(`events/${namespace}/${reason}`, this.#reflectors[at]!);
    loopMetrics.addQueue("preemption", this.#queue);
  }

  /** Runs until the signal is aborted. Call once the Nodes are known. */
  async run(signal: AbortSignal): Promise<void> {
    for (const events of this.#reflectors) {
      events.subscribe(({ kind, object }) => {
        if (kind !== "deleted") this.#queue.add(object.node);
      });
    }
    // an event may arrive before its Node
    this.#options.nodes.subscribe(({ kind, object }) => {
      if (kind === "added" && this.noticesOf(object.metadata.name).length > 0) this.#queue.add(object.metadata.name);
    });
    this.#queue.start();
    await Promise.all(this.#reflectors.map((events) => events.run(signal)));
  }

  stop(patienceMs: number): Promise<void> {
    return this.#queue.stop(patienceMs);
  }

  /** What is known of the eviction of the node. */
  noticeOf(node: Node): EvictionNotice | undefined {
    return evictionNotice(node, this.noticesOf(node.metadata.name), this.trust());
  }

  /** Names of Nodes that there are notices about, and that are not there. Resolves when the notices are known. */
  async goneNodes(): Promise<readonly string[]> {
    await Promise.all(this.#reflectors.map(({ synced }) => synced));
    const named = this.#reflectors.flatMap(({ store }) => [...store.values()].map(({ node }) => node));
    return [...new Set(named)].filter((name) => name !== "" && this.#options.nodes.store.get(name) === undefined);
  }

  noticesOf(name: string): readonly CachedEvent[] {
    return this.#reflectors.flatMap((events) => events.store.by("node", name));
  }

  trust(): EventTrust {
    const { namespaces, clock } = this.#options;
    return { namespaces, nowMs: clock.nowMs() };
  }

  #work({ key: name, signal }: Job): Promise<Verdict> {
    let node = this.#options.nodes.store.get(name);
    if (node !== undefined) this.#options.onNotice(node);
    const round = async (): Promise<Verdict | undefined> => {
      const event = node && newestPreemption(node, this.noticesOf(name), this.trust());
      if (node === undefined || event === undefined) return { kind: "done" };
      try {
        await this.#note(node, event, signal);
        return { kind: "done" };
      } catch (error) {
        if (isFailure(error, "notFound")) return { kind: "done" };
        if (!isFailure(error, "conflict")) return this.#later(node, error);
      }
      node = await this.#readAnew(name, signal);
      return undefined;
    };
    return untilSettled(`the taint of ${name}`, round, MOST_CONFLICTS);
  }

  async #note(node: CachedNode, event: PreemptionEvent, signal: AbortSignal): Promise<void> {
    const { client, events } = this.#options;
    const { name, uid, resourceVersion } = node.metadata;
    const patch = preemptionPatch(node, event);
    await client.patch(NODES, { name }, { strategic: patch }, { uid, resourceVersion }, signal);
    if (patch.spec !== undefined) events.tainted(node, event.message);
  }

  /** The next decision must rest on a version at least as new as the one that was refused. */
  async #readAnew(name: string, signal: AbortSignal): Promise<CachedNode | undefined> {
    try {
      return projectNode(await this.#options.client.get(NODES, { name }, signal));
    } catch (error) {
      if (isFailure(error, "notFound")) return undefined;
      throw error;
    }
  }

  #later(node: CachedNode, error: unknown): Verdict {
    const why = errorText(error);
    this.#options.log.warn(`cannot taint ${node.metadata.name}, which is about to be evicted: ${why}`);
    return { kind: "retry" };
  }
}

function projectEvent(object: KubeObject): CachedEvent {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const event = parsePreemptionEvent(object);
  return { ...event, metadata: { name, uid, resourceVersion, ...(namespace !== undefined && { namespace }) } };
}
