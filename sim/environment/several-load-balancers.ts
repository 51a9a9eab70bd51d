/**
 * Clusters with more than one Standard load balancer of a kind: the keys of their cloud config, and the labels that decide
 * which nodes and Services each of a list has. How these change during a history is `actions/placement.ts`.
 *
 *   several | load balancers
 *   --------|-----------------------------------------------------------------------------------------------------
 *   list    | `kubernetes` for any; `second` for any Service, and the nodes of every other slot; `apps` for the Services of
 *           | namespaces with the label team=apps
 *   fleet   | a further one is made where a Service would have more rules than a load balancer takes
 */
import type { Setup } from "../campaign/history.ts";

export const SECOND_LOAD_BALANCER = "second";
export const TEAM_LOAD_BALANCER = "apps";
export const LISTED_LOAD_BALANCERS = ["kubernetes", SECOND_LOAD_BALANCER, TEAM_LOAD_BALANCER] as const;
export const TEAM_LABEL = { key: "team", value: "apps" } as const;
const HALF = { half: "second" } as const;
export const FLEET_NAMES = ["kubernetes", "kubernetes-fleet-2"] as const;
const FLEET_MAX = 3;
/** Of one load balancer of a fleet: two or three Services fill it. */
const FLEET_RULES = 5;

/** Added to the cloud config. */
export function severalConfigOf({ several }: Pick<Setup, "several">): Readonly<Record<string, unknown>> {
  if (several === undefined) return {};
  if (several === "fleet") {
    return { loadBalancerFleet: { max: FLEET_MAX }, loadBalancerLimits: `rules=${FLEET_RULES}` };
  }
  const [first, second, ofTeam] = LISTED_LOAD_BALANCERS;
  return {
    multipleStandardLoadBalancerConfigurations: [
      { name: first, primaryVMSet: "no-such-set-1" },
      { name: second, primaryVMSet: "no-such-set-2", nodeSelector: { matchLabels: HALF } },
      {
        name: ofTeam,
        primaryVMSet: "no-such-set-3",
        serviceNamespaceSelector: { matchLabels: { [TEAM_LABEL.key]: TEAM_LABEL.value } },
      },
    ],
  };
}

/** Of the node of a slot, where there is a list. */
export function labelsOfSlot(slot: number): Readonly<Record<string, string>> {
  return isOfSecond(slot) ? HALF : {};
}

function isOfSecond(slot: number): boolean {
  return slot % 2 === 1;
}

/** Those of the existing load balancers of the list that a node with these labels may belong to. */
export function placesOf(labels: Readonly<Record<string, string>>, existing: readonly string[]): readonly string[] {
  const isSelected = labels["half"] === HALF.half && existing.includes(SECOND_LOAD_BALANCER);
  return isSelected ? [SECOND_LOAD_BALANCER] : existing.filter((name) => name !== SECOND_LOAD_BALANCER);
}
