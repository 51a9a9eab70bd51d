/**
 * At the start: accounts for the evictions that ended while no controller ran, so that their Nodes are not in the cache. Which
 * these are is `core/admin-state/missed-evictions.ts`'s.
 */
import { type EndEvent, END_REASONS, goneNode, missedEviction } from "../../core/admin-state/missed-evictions.ts";
import type { Log } from "../../core/util/log.ts";
import { errorText } from "../../core/util/text.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { EVENTS, type KubeObject } from "../../kube/client/resources.ts";
import type { DrainAccounts } from "./drain-accounts.ts";
import type { PreemptionWatch } from "./preemption-watch.ts";

export interface MissedEvictionsOptions {
  readonly client: KubeClient;
  readonly preemptions: PreemptionWatch;
  readonly accounts: DrainAccounts;
  readonly log: Log;
}

/** Where Kubernetes has the Events of Nodes. */
const NAMESPACE = "default";

/** Never fails. */
export async function accountForMissed(options: MissedEvictionsOptions, signal: AbortSignal): Promise<void> {
  const { client, preemptions, accounts, log } = options;
  const names = await preemptions.goneNodes();
  if (names.length === 0 || signal.aborted) return;
  try {
    const lists = END_REASONS.map((reason) =>
      client.list<EndEvent & KubeObject>(EVENTS, { namespace: NAMESPACE, fieldSelector: `reason=${reason}` }, signal),
    );
    const ends = (await Promise.all(lists)).flatMap(({ items }) => items);
    for (const name of names) {
      const node = goneNode(name);
      const missed = missedEviction(node, preemptions.noticesOf(name), ends, preemptions.trust());
      if (missed !== undefined) accounts.foundGone(node, missed);
    }
  } catch (error) {
    if (!signal.aborted) log.warn(`evictions of Nodes that have gone are not accounted for: ${errorText(error)}`);
  }
}
