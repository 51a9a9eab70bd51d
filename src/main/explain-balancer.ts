/** `azlb explain lb/NAME` by an own look at Azure. */
import { nodeFinder } from "../core/admin-state/reconcile-admin-state.ts";
import { ipConfigurationFinder } from "../core/backends/machines.ts";
import { balancersOf, type BalancerView } from "../core/view/balancers.ts";
import { renderBalancer } from "../core/view/render-lists.ts";
import type { ClusterView } from "./cluster-view.ts";

/** The command names a load balancer that does not exist. */
class NoSuchBalancer extends Error {
  override readonly name = "NoSuchBalancer";
}

export async function explainBalancer(
  view: ClusterView,
  name: string,
): Promise<{ readonly text: string; readonly data: BalancerView }> {
  const { config, classFilter } = view;
  const { compute, ...inventory } = await view.inventory();
  const { nodes } = inventory;
  const nodeOf = nodeFinder(nodes, compute && ipConfigurationFinder(nodes, compute));
  const balancers = balancersOf({
    ...inventory,
    config,
    classFilter,
    nodeOf,
    findAny: (key) => view.find(key),
    standings: new Map(),
    unready: undefined,
  });
  const found = balancers.find((one) => one.name.toLowerCase() === name.toLowerCase());
  const names = balancers.map((one) => one.name).join(", ") || "none";
  if (found === undefined) throw new NoSuchBalancer(`there is no load balancer ${name}; there are: ${names}`);
  return { text: `${renderBalancer(found).join("\n")}\n`, data: found };
}
