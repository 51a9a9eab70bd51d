/**
 * The spans of drains: one from the moment that a node's taint is seen, or its absence, until that is in effect in every pool;
 * in it one for each pool, with the event `written` and the calls to Azure within it. Without a tracer it does nothing.
 */
import { type AdminStatePool, drainReasons } from "../../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { Span, Tracer } from "../../core/util/tracer.ts";

export class DrainSpans {
  readonly #tracer: Tracer | undefined;
  /** By UID of the node. */
  readonly #open = new Map<string, Span>();

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  /** The node asks for this state from now on. */
  begin(node: Node, state: "Down" | "None"): void {
    if (this.#tracer === undefined) return;
    this.end(node, "the node asks for something else");
    const { name, uid } = node.metadata;
    const attributes = {
      "k8s.node.name": name,
      "k8s.node.uid": uid,
      "azlb.admin_state": state,
      "azlb.drain.reasons": drainReasons(node),
    };
    this.#open.set(uid, this.#tracer.start(state === "Down" ? "drain" : "undrain", { attributes }));
  }

  /** The write of one pool for the node. */
  ofPool({ metadata: { uid } }: Node, { id, loadBalancer, pool }: AdminStatePool): Span | undefined {
    const drain = this.#open.get(uid);
    if (drain === undefined) return undefined;
    const attributes = { "azlb.resource.id": id, "azlb.load_balancer": loadBalancer.name, "azlb.pool": pool.name };
    return this.#tracer?.start("set admin state", { attributes, on: [drain] });
  }

  /** In effect in every pool; `problem`: or never. */
  end({ metadata: { uid } }: Node, problem?: string): void {
    this.#open.get(uid)?.end(problem);
    this.#open.delete(uid);
  }
}
