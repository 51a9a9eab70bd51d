/**
 * Which node a pool entry is of, as the cluster is at this moment. Writes ask when they leave, not when they were
 * decided, so that one which waited long brings no doomed node back and holds no cleared one down.
 */
import type { Compute } from "../../core/backends/compute.ts";
import { ipConfigurationFinder } from "../../core/backends/machines.ts";
import { nodeFinder, type NodeFinder } from "../../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { Snapshot } from "../snapshot.ts";

export class NewestTaints {
  readonly #nodes: Snapshot<Node>;
  #compute: Compute | undefined;
  #made: { readonly nodes: readonly Node[]; readonly compute: Compute | undefined; readonly nodeOf: NodeFinder };

  constructor(nodes: Snapshot<Node>) {
    this.#nodes = nodes;
    this.#made = { nodes: [], compute: undefined, nodeOf: nodeFinder([]) };
  }

  /** The machines behind the nodes, where pools hold network interfaces. */
  learn(compute: Compute): void {
    this.#compute = compute;
  }

  get nodeOf(): NodeFinder {
    const nodes = this.#nodes.values;
    const compute = this.#compute;
    if (this.#made.nodes !== nodes || this.#made.compute !== compute) {
      const byIPConfiguration = compute && ipConfigurationFinder(nodes, compute);
      this.#made = { nodes, compute, nodeOf: nodeFinder(nodes, byIPConfiguration) };
    }
    return this.#made.nodeOf;
  }
}
