/**
 * The events of admin states: on each Node as it happens, and on the Services of the load balancer once for all the
 * nodes of a burst. The texts are `core/admin-state/admin-state-events.ts`'s, emitting them `../events.ts`'s.
 */
import {
  poolDrainedEvent,
  stateFailedEvent,
  nodeStateEvent,
  poolText,
  serviceStateEvent,
  nodeTaintedEvent,
} from "../../core/admin-state/admin-state-events.ts";
import { type AdminStatePool, drainReasons, isDrained } from "../../core/admin-state/reconcile-admin-state.ts";
import type { LoadBalancer } from "../../core/model/arm.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { EventText } from "../../core/events/event-reasons.ts";
import { nameOfId, parentId } from "../../core/model/ids.ts";
import type { Node, Service } from "../../core/model/kubernetes.ts";
import { loadBalancerIndex, poolsOf } from "../../core/resources/load-balancer/load-balancer-index.ts";
import { baseName } from "../../core/model/names.ts";
import { NODES, SERVICES } from "../../kube/client/resources.ts";
import type { Events } from "../events.ts";
import type { PoolUpdate } from "./admin-state-manager.ts";
import type { Transition } from "./admin-state-controller.ts";

export interface AdminStateEventsOptions {
  readonly events: Events;
  readonly services: () => Iterable<Service>;
  readonly clock: Clock;
}

/** What the events on the Services of one load balancer will say. */
interface Burst {
  loadBalancer: LoadBalancer;
  /** By name: the last state of each node. */
  readonly nodes: Map<string, "Down" | "None">;
  /** Pools in which no node takes new connections any more: by name in lower case, as they are called in events. */
  readonly drained: Map<string, string>;
}

/** Nodes are doomed in bursts; a Service gets one event for a burst. */
const BURST_MS = 500;
/** Events on hundreds of Services are spread out, so that they do not delay the writes to Azure. */
const SERVICES_AT_A_TIME = 10;
const BETWEEN_MS = 100;

export class AdminStateEvents {
  readonly #options: AdminStateEventsOptions;
  /** By id of the load balancer. */
  readonly #bursts = new Map<string, Burst>();
  /** One burst after the other. */
  #emitting: Promise<void> = Promise.resolve();

  constructor(options: AdminStateEventsOptions) {
    this.#options = options;
  }

  settled({ node, state }: Transition, updates: readonly PoolUpdate[]): void {
    const pools = updates.map(({ place }) => nameOf(place));
    this.#emit(node, nodeStateEvent(state, drainReasons(node), pools));
    for (const { place, loadBalancer } of updates) {
      if (loadBalancer === null) continue;
      const burst = this.#burstOf(loadBalancer);
      burst.nodes.set(node.metadata.name, state);
      const pool = loadBalancerIndex(loadBalancer).pools.get(place.pool.name.toLowerCase());
      if (state === "None" || pool === undefined || !isDrained(pool)) continue;
      burst.drained.set(place.pool.name.toLowerCase(), nameOf(place));
      this.#emit(node, poolDrainedEvent(nameOf(place)));
    }
  }

  /** Once for each pool of a transition: the next attempt would say the same. */
  failed({ key, node, state }: Transition, poolId: string, why: string): void {
    const pool = poolText(nameOfId(parentId(poolId)), nameOfId(poolId));
    this.#options.events.emitOnce(NODES, node, stateFailedEvent(state, pool, why), `${key} ${poolId}`);
  }

  tainted(node: Node, event: string): void {
    this.#emit(node, nodeTaintedEvent(event));
  }

  evicted(node: Node, text: EventText | undefined): void {
    if (text !== undefined) this.#emit(node, text);
  }

  /** The node's transition is over, or the node is gone. */
  forget(node: Node): void {
    this.#options.events.settle(node);
  }

  #burstOf(loadBalancer: LoadBalancer): Burst {
    const id = loadBalancer.id.toLowerCase();
    const burst = this.#bursts.get(id);
    if (burst !== undefined) return Object.assign(burst, { loadBalancer });
    const begun: Burst = { loadBalancer, nodes: new Map(), drained: new Map() };
    this.#bursts.set(id, begun);
    this.#options.clock.setTimer(BURST_MS, () => {
      this.#emitting = this.#emitting.then(() => this.#emitOnServices(id, begun));
    });
    return begun;
  }

  async #emitOnServices(id: string, { loadBalancer, nodes, drained }: Burst): Promise<void> {
    const { clock, events, services } = this.#options;
    this.#bursts.delete(id); // nodes that come from now on belong to the next
    const index = loadBalancerIndex(loadBalancer);
    const concerned = [...services()].filter(({ metadata }) => index.parts.has(baseName(metadata.uid)));
    for (let at = 0; at < concerned.length; at += SERVICES_AT_A_TIME) {
      if (at > 0) await clock.sleep(BETWEEN_MS);
      for (const service of concerned.slice(at, at + SERVICES_AT_A_TIME)) {
        const used = poolsOf(index, baseName(service.metadata.uid));
        for (const text of serviceTexts(nodes, drained, used)) events.emit(SERVICES, service, text, "none");
      }
    }
  }

  #emit(node: Node, text: EventText): void {
    this.#options.events.emit(NODES, node, text, "all");
  }
}

function nameOf({ loadBalancer, pool }: AdminStatePool): string {
  return poolText(loadBalancer.name, pool.name);
}

/** `used`: the pools that serve the Service. */
function serviceTexts(nodes: Burst["nodes"], drained: Burst["drained"], used: ReadonlySet<string>): EventText[] {
  const having = (state: string): string[] => [...nodes].filter((entry) => entry[1] === state).map(([name]) => name);
  const [down, none] = [having("Down"), having("None")];
  return [
    ...(down.length > 0 ? [serviceStateEvent("Down", down)] : []),
    ...(none.length > 0 ? [serviceStateEvent("None", none)] : []),
    ...[...drained].filter(([pool]) => used.has(pool)).map(([, text]) => poolDrainedEvent(text)),
  ];
}
