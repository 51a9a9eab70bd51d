/** What the agent writes to the API server: Events, and the taints of its own Node. It touches no other object. */
import { untilSettled } from "../core/util/until-settled.ts";
import type { KubeClient, NewObject } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { EVENTS, NODES } from "../kube/client/resources.ts";
import { reconcileTaints, type TaintedNode, type TaintRules } from "./node-taints.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

/** Other clients change Nodes too; after so many conflicts in a row the caller tries again later. */
const MOST_CONFLICTS = 5;

export class NodeWriter {
  readonly #client: KubeClient;
  readonly #nodeName: string;

  constructor(client: KubeClient, nodeName: string) {
    this.#client = client;
    this.#nodeName = nodeName;
  }

  /** An Event that is there already is left as it is: it says the same. */
  async announce(event: NewObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.create(EVENTS, event, signal);
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error;
    }
  }

  /** Writes and removes the agent's own taints; see `reconcileTaints`. */
  reconcile(
    events: readonly ScheduledEvent[],
    isComplete: boolean,
    rules: TaintRules,
    signal: AbortSignal,
  ): Promise<void> {
    const name = this.#nodeName;
    const round = async (): Promise<true | undefined> => {
      const node = await this.#client.get<TaintedNode>(NODES, { name }, signal);
      const patch = reconcileTaints(node, events, isComplete, rules);
      if (patch === undefined) return true;
      const { uid, resourceVersion } = node.metadata;
      try {
        await this.#client.patch(NODES, { name }, { merge: patch }, { uid, resourceVersion }, signal);
        return true;
      } catch (error) {
        if (isFailure(error, "conflict")) return undefined;
        throw error;
      }
    };
    return untilSettled(`the taints of ${name}`, round, MOST_CONFLICTS).then(() => {});
  }
}
