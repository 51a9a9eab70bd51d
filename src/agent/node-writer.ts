/**
 * What the agent writes to the API server: Events, and the taints of its own Node. It touches no other object.
 *
 * A right to taint Nodes is used only where the policy of `deploy/agent-policy.yaml` keeps it to one Node: with
 * `needsPolicy` each taint is preceded by a rehearsal of a change that the policy refuses. Where the API server would let it pass,
 * nothing is tainted: the Events are there, and the controller taints.
 */
import { untilSettled } from "../core/util/until-settled.ts";
import type { KubeClient, NewObject } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { EVENTS, NODES } from "../kube/client/resources.ts";
import { type NodePatch, reconcileTaints, type TaintedNode, type TaintRules } from "./node-taints.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

/** The right to taint is there, and the policy that keeps it to one Node is not. */
export class UnboundAgent extends Error {
  override readonly name = "UnboundAgent";

  constructor(node: string) {
    super(
      `node/${node} is not tainted: no policy keeps this agent from other Nodes. Apply deploy/agent-policy.yaml; until then only Events are written, and the controller taints`,
    );
  }
}

export interface NodeWriterOptions {
  readonly client: KubeClient;
  readonly nodeName: string;
  /** `false`: whoever runs the agent has chosen its identity and answers for its rights. */
  readonly needsPolicy: boolean;
}

/** No agent may write this, by the policy. */
const REFUSED_CHANGE = { metadata: { annotations: { "azlb.io/agent-policy-check": "" } } };
/** Other clients change Nodes too; after so many conflicts in a row the caller tries again later. */
const MOST_CONFLICTS = 5;

export class NodeWriter {
  readonly #client: KubeClient;
  readonly #nodeName: string;
  readonly #needsPolicy: boolean;

  constructor({ client, nodeName, needsPolicy }: NodeWriterOptions) {
    this.#client = client;
    this.#nodeName = nodeName;
    this.#needsPolicy = needsPolicy;
  }

  /** An Event that is there already is left as it is: it says the same. */
  async announce(event: NewObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.create(EVENTS, event, signal);
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error;
    }
  }

  /** Fails unless the policy binds this agent, or need not. A right that is missing altogether is told by the write itself. */
  async checkBound(signal: AbortSignal): Promise<void> {
    if (!this.#needsPolicy) return;
    try {
      await this.#client.rehearsePatch(NODES, { name: this.#nodeName }, { merge: REFUSED_CHANGE }, signal);
    } catch (error) {
      if (isFailure(error, "forbidden")) return;
      throw error;
    }
    throw new UnboundAgent(this.#nodeName);
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
      if (addsTaints(node, patch)) await this.checkBound(signal);
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

function addsTaints(node: TaintedNode, { spec }: NodePatch): boolean {
  const there = node.spec?.taints ?? [];
  return spec?.taints.some((taint) => !there.includes(taint)) ?? false;
}
