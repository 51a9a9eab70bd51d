/** Lists of the API for a terminal: Services that are not settled, one node, one load balancer. */
import { pluralize } from "../util/text.ts";
import type { BalancerView } from "./balancers.ts";
import type { NodePage } from "./node-list.ts";
import { isStuck, line } from "./render-detail.ts";
import type { ServiceLine } from "./service-list.ts";

/** `lines`: those that are not settled. Worst first: what a person must change, then what time changes, then drift. */
export function renderServices(lines: readonly ServiceLine[], settled: number): string[] {
  const rank = (one: ServiceLine): number => (one.state === "refused" ? 0 : isStuck(one) ? 1 : one.isDrifted ? 3 : 2);
  const sorted = lines.toSorted((one, other) => rank(one) - rank(other));
  const width = Math.max(0, ...sorted.map(({ namespace, name }) => namespace.length + name.length + 1));
  const rest = `${pluralize(settled, "Service")} ${settled === 1 ? "is as it asks" : "are as they ask"}`;
  return [
    ...sorted.map((one) => {
      const state = one.isDrifted ? "drifted" : one.throttledUntil === undefined ? one.state : "throttled";
      const why = [one.reason, one.message].filter((part) => part !== undefined).join(": ");
      return `${state.padEnd(10)}  ${`${one.namespace}/${one.name}`.padEnd(width)}  ${why || "under way"}`;
    }),
    ...(sorted.length > 0 ? [""] : []),
    rest,
  ];
}

export function renderNode(node: NodePage["items"][number]): string[] {
  const { name, addresses, state, drain, due, pools, services } = node;
  const stands = {
    serves: "takes new connections",
    draining: `draining (${drain.join(", ")}): ${pools.every(({ adminState }) => adminState === "Down") ? "no new connections" : "waits for Down"}`,
    excluded: "kept out of load balancers: it is being deleted, or excluded by a label or taint",
    "in no pool": "in no pool of a load balancer",
  }[state];
  return [
    line("Node", `${name} (${addresses.join(", ") || "no address"})`),
    line("state", stands),
    ...(due === undefined ? [] : [line("goes", `at ${due} or later`)]),
    ...pools.map(({ loadBalancer, pool, adminState }) => line("pool", `${pool} of ${loadBalancer}: ${adminState}`)),
    line("serves", pluralize(services, "Service")),
  ];
}

const MOST_NAMED = 10;

export function renderBalancer(balancer: BalancerView): string[] {
  const { name, isManaged, provisioningState, services, foreign, quota, pools } = balancer;
  const others = [...foreign.frontends, ...foreign.rules];
  const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : "";
  return [
    line("balancer", `${name}${isManaged ? "" : ", not the controller's: untouched"}`),
    ...(provisioningState === undefined ? [] : [line("in Azure", provisioningState)]),
    line("serves", pluralize(services, "Service")),
    ...quota.map(({ of, used, most }) => line("limit", `${of} ${used} of ${most}`)),
    ...pools.map(({ name: pool, members, down }) =>
      line("pool", `${pool}: ${pluralize(members, "member")}${down === 0 ? "" : `, ${down} Down`}`),
    ),
    ...(others.length === 0
      ? []
      : [line("foreign", `${others.slice(0, MOST_NAMED).join(", ")}${more}: not ours, untouched`)]),
  ];
}
