/**
 * Which nodes are held Down, why, and what last became of each, by UID: a node that is made anew under the same name
 * inherits nothing. For metrics, and to know when what was begun for a node is no longer what it asks for.
 */
import { desiredAdminState, drainReasons, type DrainReason } from "../../core/admin-state/desired-admin-state.ts";
import type { Node } from "../../core/model/kubernetes.ts";

/** A node asks for another state than before. */
export interface Transition {
  /** Tells it from earlier and later ones of the same node. */
  readonly key: string;
  readonly node: Node;
  readonly state: "Down" | "None";
  /** When the taint, or its absence, was seen; of the monotonic clock. */
  readonly seenMs: number;
}

const NO_REASONS: Readonly<Record<DrainReason, number>> = { "out-of-service": 0, "spot-eviction": 0 };

export class DrainingNodes {
  /** By UID: every node that is held Down. */
  readonly #reasons = new Map<string, readonly DrainReason[]>();
  /** By UID: the newest transition of each node, until it is over. */
  readonly #newest = new Map<string, Transition>();
  readonly #byKey = new Map<string, Transition>();
  #count = 0;

  /** The transition that this sight of the node begins, if it does. */
  see(node: Node, seenMs: number): Transition | undefined {
    const { uid } = node.metadata;
    const state = desiredAdminState(node);
    const wasDown = this.#reasons.has(uid);
    if (state === "Down") this.#reasons.set(uid, drainReasons(node));
    else this.#reasons.delete(uid);
    if (wasDown === (state === "Down")) return undefined;
    this.#end(this.#newest.get(uid));
    const transition = { key: `${uid} ${++this.#count}`, node, state, seenMs };
    this.#newest.set(uid, transition);
    this.#byKey.set(transition.key, transition);
    return transition;
  }

  forget({ metadata: { uid } }: Node): void {
    this.#reasons.delete(uid);
    this.#end(this.#newest.get(uid));
  }

  /** `undefined`: over, or the node asks for something else by now, or has gone. */
  current(key: string): Transition | undefined {
    return this.#byKey.get(key);
  }

  /** Every transition that is not over. */
  underway(): IterableIterator<Transition> {
    return this.#byKey.values();
  }

  over(transition: Transition): void {
    this.#end(transition);
  }

  get size(): number {
    return this.#reasons.size;
  }

  byReason(): Readonly<Record<DrainReason, number>> {
    const counts = { ...NO_REASONS };
    for (const reasons of this.#reasons.values()) for (const reason of reasons) counts[reason] += 1;
    return counts;
  }

  #end(transition: Transition | undefined): void {
    if (transition === undefined) return;
    this.#byKey.delete(transition.key);
    const { uid } = transition.node.metadata;
    if (this.#newest.get(uid) === transition) this.#newest.delete(uid);
  }
}
