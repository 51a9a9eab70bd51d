/**
 * Decides where a new flow goes: pick a member, evaluate its security groups, look up its loopback port in the member
 * table. Pure.
 */
import type { HealthOf } from "./eligible-members.ts";
import { eligibleMembers } from "./eligible-members.ts";
import { memberFor } from "./flow-hash.ts";
import type { Flow, Frontend, Member } from "./forwarding.ts";

/**
 *   noEligibleMember | no member is up
 *   securityGroup    | denied by a rule, or a public Standard load balancer without any security group
 *   unmapped         | the member table has no loopback port for the member
 *   memberRefused    | nothing listens on that port, or the machine does not answer
 *   limit            | the data plane holds `maxFlows` flows already
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

export interface AdmissionContext {
  readonly healthOf: HealthOf;
  /** Evaluates the member's security groups against the translated flow. */
  readonly access: (member: Member, flow: Flow, frontend: Frontend) => { allowed: boolean; rule: string };
  readonly targetOf: (member: Member, port: number) => number | undefined;
  /** Its machine does not answer. */
  readonly isStopped: (member: Member) => boolean;
}

export function admitFlow(frontend: Frontend, flow: Flow, context: AdmissionContext): Admission {
  const { rule, backendPort } = frontend;
  const member = memberFor(flow, rule.distribution, eligibleMembers(rule, context.healthOf));
  if (member === undefined) return { kind: "refuse", reason: "noEligibleMember" };
  const { allowed, rule: securityRule } = context.access(member, translated(frontend, flow, member), frontend);
  if (!allowed) return { kind: "refuse", reason: "securityGroup", member, securityRule };
  const targetPort = context.targetOf(member, backendPort);
  if (targetPort === undefined) return { kind: "refuse", reason: "unmapped", member };
  if (context.isStopped(member)) return { kind: "refuse", reason: "memberRefused", member };
  return { kind: "forward", member, targetPort };
}

/** The flow after destination NAT; with floating IP the destination stays the frontend's address. */
function translated({ rule, backendPort }: Frontend, flow: Flow, member: Member): Flow {
  const destinationAddress = rule.floatingIp ? rule.address : member.ip;
  return { ...flow, destinationAddress, destinationPort: backendPort };
}
