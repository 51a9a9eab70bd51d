/**
 * What is said about admin states: on each Node as it happens, and on the Services of the load balancer once for all the
 * nodes of a burst. The words are `core/admin-state/admin-state-events.ts`'s.
 */
import {
  poolDrainedEvent,
  stateFailedEvent,
  nodeStateEvent,
  poolText,
  serviceStateEvent,
  nodeTaintedEvent,
} from "../../core/admin-state/admin-state-events.ts";
import type { AdminStatePool } from "../../core/admin-state/admin-state-pools.ts";
import { drainReasons } from "../../core/admin-state/desired-admin-state.ts";
import { isDrained } from "../../core/admin-state/reconcile-admin-state.ts";
import type { LoadBalancer } from "../../core/model/arm.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { EventText } from "../../core/events/event-reasons.ts";
import { nameOfId, parentId } from "../../core/model/ids.ts";
import type { Node, Service } from "../../core/model/kubernetes.ts";
import type { Log } from "../../core/util/log.ts";
import { indexOf } from "../../core/resources/load-balancer/load-balancer-index.ts";
import { baseName } from "../../core/model/names.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { PoolUpdate } from "./admin-state-manager.ts";
import type { Transition } from "./draining-nodes.ts";

export interface AdminStateEventsOptions {
  readonly recorder: EventRecorder;
  readonly services: () => Iterable<Service>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the Services of one load balancer will be told. */
interface Burst {
  loadBalancer: LoadBalancer;
  /** By name: the last state of each node. */
  readonly nodes: Map<string, "Down" | "None">;
  /** Pools in which nobody is left. */
  readonly drained: Set<string>;
}

/** Nodes are doomed in bursts; a Service hears of a burst once. */
const BURST_MS = 500;
/** Hundreds of Services are told little by little: what is said must not delay what is done. */
const TOLD_AT_A_TIME = 10;
const BETWEEN_MS = 100;

export class AdminStateEvents {
  readonly #options: AdminStateEventsOptions;
  /** By id of the load balancer. */
  readonly #bursts = new Map<string, Burst>();
  /** Pools whose failure was told: the next try is the same story. */
  readonly #told = new WeakMap<Transition, Set<string>>();

  /** One burst after the other. */
  #telling: Promise<void> = Promise.resolve();

  constructor(options: AdminStateEventsOptions) {
    this.#options = options;
  }

  settled({ node, state }: Transition, updates: readonly PoolUpdate[]): void {
    const pools = updates.map(({ place }) => nameOf(place));
    this.#sayOfNode(node, nodeStateEvent(state, drainReasons(node), pools));
    for (const { place, loadBalancer } of updates) {
      if (loadBalancer === null) continue;
      const burst = this.#burstOf(loadBalancer);
      burst.nodes.set(node.metadata.name, state);
      const pool = indexOf(loadBalancer).pools.get(place.pool.name.toLowerCase());
      if (state === "None" || pool === undefined || !isDrained(pool)) continue;
      burst.drained.add(nameOf(place));
      this.#sayOfNode(node, poolDrainedEvent(nameOf(place)));
    }
  }

  failed(transition: Transition, poolId: string, why: string): void {
    const told = this.#told.get(transition) ?? new Set<string>();
    if (told.has(poolId)) return;
    this.#told.set(transition, told.add(poolId));
    const pool = poolText(nameOfId(parentId(poolId)), nameOfId(poolId));
    this.#sayOfNode(transition.node, stateFailedEvent(transition.state, pool, why));
  }

  tainted(node: Node, event: string): void {
    this.#sayOfNode(node, nodeTaintedEvent(event));
  }

  #burstOf(loadBalancer: LoadBalancer): Burst {
    const id = loadBalancer.id.toLowerCase();
    const burst = this.#bursts.get(id);
    if (burst !== undefined) return Object.assign(burst, { loadBalancer });
    const begun: Burst = { loadBalancer, nodes: new Map(), drained: new Set() };
    this.#bursts.set(id, begun);
    this.#options.clock.setTimer(BURST_MS, () => {
      this.#telling = this.#telling.then(() => this.#tellServices(id, begun));
    });
    return begun;
  }

  async #tellServices(id: string, { loadBalancer, nodes, drained }: Burst): Promise<void> {
    const { clock, services } = this.#options;
    this.#bursts.delete(id); // whoever comes from now on belongs to the next
    const { parts } = indexOf(loadBalancer);
    const concerned = [...services()].filter(({ metadata }) => parts.has(baseName(metadata.uid)));
    const sayings = sayingsOf(nodes, drained);
    for (let at = 0; at < concerned.length; at += TOLD_AT_A_TIME) {
      if (at > 0) await clock.sleep(BETWEEN_MS);
      for (const service of concerned.slice(at, at + TOLD_AT_A_TIME)) this.#sayOfService(service, sayings);
    }
  }

  #sayOfService({ metadata: { namespace, name, uid } }: Service, sayings: readonly EventText[]): void {
    const about = { apiVersion: "v1", kind: "Service", namespace, name, uid };
    for (const { type, reason, message } of sayings) this.#options.recorder.record({ about, type, reason, message });
  }

  #sayOfNode({ metadata: { name, uid } }: Node, { type, reason, message }: EventText): void {
    const { recorder, log } = this.#options;
    recorder.record({ about: { apiVersion: "v1", kind: "Node", name, uid }, type, reason, message });
    log[type === "Warning" ? "warn" : "info"](`${reason}: ${message}`, { node: name });
  }
}

function nameOf({ loadBalancer, pool }: AdminStatePool): string {
  return poolText(loadBalancer.name, pool.name);
}

function sayingsOf(nodes: Burst["nodes"], drained: Burst["drained"]): EventText[] {
  const having = (state: string): string[] => [...nodes].filter((entry) => entry[1] === state).map(([name]) => name);
  const [down, none] = [having("Down"), having("None")];
  return [
    ...(down.length > 0 ? [serviceStateEvent("Down", down)] : []),
    ...(none.length > 0 ? [serviceStateEvent("None", none)] : []),
    ...[...drained].map(poolDrainedEvent),
  ];
}
