/**
 * What becomes of a new flow: the load balancer picks a member, the member's security groups have their say, and the
 * table of members tells where on this machine it listens. Pure.
 */
import type { HealthOf } from "./eligible-members.ts";
import { eligibleMembers } from "./eligible-members.ts";
import { memberFor } from "./flow-hash.ts";
import type { Flow, Frontend, Member } from "./forwarding.ts";

/**
 *   noEligibleMember | nobody is up
 *   securityGroup    | a rule, or the want of any on a public Standard load balancer
 *   unmapped         | the table of members does not say where the member listens
 *   memberRefused    | nothing listens there
 *   limit            | more flows than this data plane holds
 */
export type RefusalReason = "noEligibleMember" | "securityGroup" | "unmapped" | "memberRefused" | "limit";

export type Admission =
  | { readonly kind: "forward"; readonly member: Member; readonly targetPort: number }
  | {
      readonly kind: "refuse";
      readonly reason: RefusalReason;
      readonly member?: Member;
      /** The security rule that decided. */
      readonly securityRule?: string;
    };

export interface Surroundings {
  readonly healthOf: HealthOf;
  /** What the member's security groups say to a flow that has been translated. */
  readonly verdict: (member: Member, flow: Flow, frontend: Frontend) => { allowed: boolean; rule: string };
  readonly targetOf: (member: Member, port: number) => number | undefined;
}

export function admitFlow(frontend: Frontend, flow: Flow, around: Surroundings): Admission {
  const { rule, backendPort } = frontend;
  const member = memberFor(flow, rule.distribution, eligibleMembers(rule, around.healthOf));
  if (member === undefined) return { kind: "refuse", reason: "noEligibleMember" };
  const { allowed, rule: securityRule } = around.verdict(member, translated(frontend, flow, member), frontend);
  if (!allowed) return { kind: "refuse", reason: "securityGroup", member, securityRule };
  const targetPort = around.targetOf(member, backendPort);
  if (targetPort === undefined) return { kind: "refuse", reason: "unmapped", member };
  return { kind: "forward", member, targetPort };
}

/** As the member's security groups see it: with floating IP the destination stays the frontend's address. */
function translated({ rule, backendPort }: Frontend, flow: Flow, member: Member): Flow {
  const destinationAddress = rule.floatingIp ? rule.address : member.ip;
  return { ...flow, destinationAddress, destinationPort: backendPort };
}
