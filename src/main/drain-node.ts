/**
 * Drains a node by hand, and ends that: writes the taint under the version of the Node that was read, and with a view of
 * Azure waits until every pool has the state. What a taint means is the core's; setting states in Azure is the
 * controller's.
 */
import {
  drainedTaints,
  type DrainEffect,
  entriesOfNode,
  type NodeEntry,
  undrainedTaints,
} from "../core/admin-state/drain-taint.ts";
import { poolText } from "../core/admin-state/admin-state-events.ts";
import { desiredAdminState, drainReasons, hasAdminState } from "../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../core/model/kubernetes.ts";
import { untilSettled } from "../core/util/until-settled.ts";
import { internalAddresses } from "../core/view/node-list.ts";
import { projectNode } from "../controller/projections.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { NODES } from "../kube/client/resources.ts";
import { withClusterView, type ClusterView, type ViewOptions } from "./cluster-view.ts";
import { type ClusterChoice, openKubeClient } from "./kube-access.ts";
import { realClock } from "./real-clock.ts";
import { VERSION } from "./version.ts";

export type DrainChange = { readonly kind: "drain"; readonly effect: DrainEffect } | { readonly kind: "undrain" };

interface DrainRequest {
  readonly name: string;
  readonly change: DrainChange;
  /** Prints a line for the user. */
  readonly say: (line: string) => void;
}

/** A command names a Node that does not exist, or asks for what this cluster cannot do. */
class CannotDrain extends Error {
  override readonly name = "CannotDrain";
}

/** Other clients change Nodes too. */
const MOST_CONFLICTS = 10;
/** Each look is one list of load balancers, so that waiting costs little of Azure's read quota. */
const POLL_MS = 2000;

/** Writes the taint and does not wait for its effect. */
export async function changeDrain(request: DrainRequest & ClusterChoice): Promise<void> {
  const kube = openKubeClient({
    kubeconfig: request.kubeconfig,
    context: request.context,
    userAgent: `azlb/${VERSION}`,
  });
  try {
    await writeTaint(kube.client, request);
  } finally {
    await kube.close();
  }
}

/** Writes the taint and waits until Azure shows the state in every pool of the node. */
export function waitForDrain(request: DrainRequest & { readonly view: ViewOptions }): Promise<void> {
  return withClusterView(request.view, async (view) => {
    if (!hasAdminState(view.config)) {
      const why = view.config.sku === "standard" ? "enableLoadBalancerAdminState is false" : "loadBalancerSku is basic";
      throw new CannotDrain(`admin states are not set in this cluster (${why}), so a drain has no effect`);
    }
    const node = await writeTaint(view.client, request);
    const state = desiredAdminState(node);
    const entries = await untilInEffect(view, request, state);
    if (entries.length === 0) request.say(`node/${request.name} is in no pool of a load balancer`);
    for (const where of poolsOf(entries)) request.say(`  ${state === "Down" ? "Down" : "not Down"} in ${where}`);
    if (state === "Down" && entries.length > 0)
      request.say(`No new connection reaches it. ${await leftText(view, node)}`);
  });
}

async function leftText(view: ClusterView, node: Node): Promise<string> {
  const known = await view.connections(internalAddresses(node));
  if (known === undefined) return "Azure does not tell how many existing ones are left.";
  return `${known.open === 1 ? "1 existing one is" : `${known.open} existing ones are`} left (by the emulator's data plane).`;
}

/** Returns the Node as it is afterwards. */
async function writeTaint(client: KubeClient, { name, change, say }: DrainRequest): Promise<Node> {
  const round = async (): Promise<Node | undefined> => {
    const node = await readNode(client, name);
    const taints = change.kind === "drain" ? drainedTaints(node, change.effect) : undrainedTaints(node);
    if (taints === undefined) {
      say(`node/${name} ${change.kind === "drain" ? "was drained already" : "was not drained by hand"}`);
      return node;
    }
    const { uid, resourceVersion } = node.metadata;
    try {
      const spec = { taints: taints.length === 0 ? null : taints };
      const written = await client.patch(NODES, { name }, { merge: { spec } }, { uid, resourceVersion });
      say(`node/${name} ${change.kind === "drain" ? "drained" : "undrained"}`);
      return projectNode(written);
    } catch (error) {
      if (isFailure(error, "conflict")) return undefined;
      throw error;
    }
  };
  const node = await untilSettled(`node/${name}`, round, MOST_CONFLICTS);
  const left = drainReasons(node);
  if (change.kind === "undrain" && left.length > 0)
    say(`node/${name} stays without new connections: ${left.join(", ")} (remove that taint too if the node stays)`);
  return node;
}

async function readNode(client: KubeClient, name: string) {
  try {
    return projectNode(await client.get(NODES, { name }));
  } catch (error) {
    if (isFailure(error, "notFound")) throw new CannotDrain(`there is no Node ${name}`);
    throw error;
  }
}

/** The view's `--timeout` ends this. */
async function untilInEffect(
  view: ClusterView,
  { name, say }: DrainRequest,
  state: "Down" | "None",
): Promise<readonly NodeEntry[]> {
  for (let told = ""; ; await realClock.sleep(POLL_MS)) {
    const { places, nodeOf } = await view.pools();
    const entries = entriesOfNode(name, places, nodeOf);
    const others = entries.filter((entry) => (entry.state === "Down") !== (state === "Down"));
    if (others.length === 0) return entries;
    const line = `waiting for ${poolsOf(others).join(" and ")}`;
    if (line !== told) say(line);
    told = line;
  }
}

function poolsOf(entries: readonly NodeEntry[]): string[] {
  return [...new Set(entries.map(({ place }) => poolText(place.loadBalancer.name, place.pool.name)))];
}
