/** A Service leaves load balancers. One that is deleted with it lets go of the machines in its pools first. */
import type { LoadBalancer } from "../model/arm.ts";
import { desiredBackendPool } from "../resources/backend-pool/desired-backend-pool.ts";
import { absentNicPools, ownIPConfigurations } from "../resources/nic-pools/desired-nic-pools.ts";
import { ownEntries } from "../resources/backend-pool/own-entries.ts";
import { isPreConfigured, membersOf } from "../resources/reconcile-pools.ts";
import { absentLoadBalancer } from "../resources/load-balancer/desired-load-balancer.ts";
import type { Disposable, LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { reconcileLoadBalancer } from "../resources/load-balancer/reconcile-load-balancer.ts";
import { reconcileNicPools } from "../resources/nic-pools/reconcile-nic-pools.ts";
import { type Reconciled, SETTLED } from "../resources/reconciled.ts";
import { poolName } from "../model/names.ts";
import type { AzureStep, Decision } from "../steps.ts";
import type { Observed } from "../observed.ts";
import { surroundingsOn } from "./other-services.ts";
import { act, reject } from "./rounds.ts";
import type { Owner } from "../outcome.ts";

export function leaveLoadBalancers(
  observed: Observed,
  owner: Owner,
  loadBalancers: readonly LoadBalancer[],
): Decision | undefined {
  const steps: AzureStep[] = [];
  for (const seen of loadBalancers) {
    const disposable = disposableOf(observed, seen);
    const fragment = absentLoadBalancer({ owner, seen, disposable, ...surroundingsOn(observed, seen.name) });
    const result = reconcileLoadBalancer(seen.id, seen, fragment);
    if (result.kind === "reject") return reject(result.rejection);
    if (result.kind !== "act") continue;
    const detachments = detachmentsOf(observed, seen);
    if (detachments.kind !== "act") steps.push(...result.steps);
    else if (result.deletes) steps.push(...detachments.steps);
    else steps.push(...result.steps.map((step) => ({ ...step, fragment: amongOthers(step.fragment) })));
  }
  return act(steps); // what stays is told by the write: others may leave in the same one
}

/** Others may leave in the same write; then the last of them must take the machines out before the load balancer goes. */
function amongOthers(fragment: LoadBalancerFragment): LoadBalancerFragment {
  const { disposable } = fragment;
  return disposable === undefined ? fragment : { ...fragment, disposable: { ...disposable, hasMachines: true } };
}

/** What of a load balancer is the cluster's own. `undefined`: it stays, another tool fills its pools. */
export function disposableOf(observed: Observed, loadBalancer: LoadBalancer): Disposable | undefined {
  const { config, nodes, compute } = observed;
  if (isPreConfigured(config, loadBalancer.name)) return undefined;
  const known = membersOf(observed, loadBalancer);
  const pools = [poolName(config.clusterName, "IPv4"), poolName(config.clusterName, "IPv6")];
  if (config.poolType === "nodeIP") return { pools, entries: desiredBackendPool({ config, nodes, known }, "IPv4").own };
  const interfaces = compute && ownIPConfigurations({ config, nodes, compute, loadBalancer, known });
  return { pools, entries: ownEntries(nodes, known, interfaces) };
}

function detachmentsOf(observed: Observed, loadBalancer: LoadBalancer): Reconciled<"nicPools"> {
  const { config, nodes, compute } = observed;
  if (config.poolType === "nodeIP" || compute === undefined) return SETTLED;
  const known = membersOf(observed, loadBalancer);
  return reconcileNicPools(absentNicPools({ config, nodes, compute, loadBalancer, known }));
}
