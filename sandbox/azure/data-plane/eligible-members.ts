/**
 * Decides which members receive new flows, and which members' established connections are reset. Pure.
 *
 *   rule           | admin state | new flows                           | established TCP
 *   ---------------|-------------|-------------------------------------|-----------------------------------------
 *   without probe  | any         | yes                                 | kept
 *   with probe     | Up          | yes                                 | kept
 *                  | Down        | no                                  | kept
 *                  | None        | if its probe says up                | kept, unless all are probed down (below)
 *
 * All probed down: no member receives new flows, or with `AllProbedUp` every member that is not `Down` does. A Basic
 * load balancer then resets established connections, a Standard one only in a pool of one member.
 */
import type { ForwardingRule, Member } from "./forwarding.ts";
import type { Health } from "./probe-state.ts";

export type HealthOf = (member: Member) => Health;

export function eligibleMembers(
  { probe, members }: Pick<ForwardingRule, "probe" | "members">,
  healthOf: HealthOf,
): readonly Member[] {
  if (probe === undefined) return members;
  const eligible = members.filter((member) => isEligible(member, healthOf));
  if (eligible.length > 0 || !probe.allDownMeansUp) return eligible;
  return members.filter((member) => member.adminState !== "Down");
}

function isEligible(member: Member, healthOf: HealthOf): boolean {
  if (member.adminState !== "None") return member.adminState === "Up";
  return healthOf(member) === "up";
}

/** The members whose established TCP connections are reset because every probe is down. */
export function membersCutOff(
  rule: Pick<ForwardingRule, "probe" | "members" | "sku">,
  healthOf: HealthOf,
): readonly Member[] {
  if (rule.probe === undefined || rule.probe.allDownMeansUp) return [];
  if (rule.sku === "Standard" && rule.members.length > 1) return [];
  if (rule.members.some((member) => member.adminState === "Up")) return [];
  const probed = rule.members.filter((member) => member.adminState === "None");
  return probed.every((member) => healthOf(member) === "down") ? probed : [];
}
