/**
 * What one Service must have written to the security group: its fragment where it should be served, the absence of it
 * where it should not. Whatever else the group holds is left to its owners.
 *
 * A Service that has not changed is settled with what it has, as long as that opens exactly what it wants: rules that
 * should be its own may still be shared ones, and rules of releases up to 1.28 may still be there. Both are put right
 * by its next write, so that taking over a cluster writes nothing.
 */
import { keyText } from "../../config/cluster-config.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { securityGroupId } from "../../model/ids.ts";
import { type Service, serviceKey } from "../../model/kubernetes.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import type { Owner, Rejection } from "../../outcome.ts";
import { reconciled, type Reconciled, SETTLED } from "../reconciled.ts";
import {
  absentSecurityGroup,
  DESIRED_FORM,
  desiredSecurityGroup,
  partlyAbsentSecurityGroup,
  type RuleForm,
  type SecurityGroupInput,
} from "./desired-security-group.ts";
import type { SecurityGroupFragment, ServiceAddresses } from "./fragment.ts";
import { opensOnNodes } from "./access-rules.ts";
import { followsNodesOnly } from "./follow-nodes.ts";
import { mergedAlone, mergeSecurityGroup } from "./merge-security-group.ts";
import { securityGroupIndex, type Usage, usageOf, destinationsOf } from "./security-rules.ts";
import { sharersOf } from "./shared-addresses.ts";

/** An event is a sentence or two; a rule may be of a thousand Services. */
const MOST_NAMED = 3;

/** `changed`: the Service is not what was last applied. @design reconcileSecurityGroup */
export function reconcileSecurityGroup(
  input: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
  { changed }: { readonly changed: boolean },
): Reconciled<"securityGroup"> {
  const fragment = desiredSecurityGroup(input, intent, addresses, { changed });
  const why = `who may reach ${intent.owner.key}`;
  const isAcceptable = (form: RuleForm): boolean => {
    const lenient =
      form === DESIRED_FORM ? fragment : desiredSecurityGroup(input, intent, addresses, { changed, form });
    return reconcile(input, { ...lenient, cleanLegacy: false }, why).kind === "settled";
  };
  const forms = changed ? [] : formsThatMayStand(fragment, input.service);
  if (forms.some(isAcceptable)) return SETTLED;
  const isForNodes = !changed && opensOnNodes(intent) && followsNodes(input, fragment, addresses);
  return reconcile(input, isForNodes ? { ...fragment, followsNodes: true } : fragment, why);
}

function followsNodes(
  { securityGroup }: SecurityGroupInput,
  fragment: SecurityGroupFragment,
  addresses: ServiceAddresses,
): boolean {
  if (securityGroup === undefined) return false;
  const { outcome } = mergeSecurityGroup(securityGroup, [{ ...fragment, cleanLegacy: false }]);
  return outcome.kind === "put" && followsNodesOnly(securityGroup, outcome.body, addresses);
}

/**
 * What may stand until the Service changes: rules of old, shared rules in place of its own, denials of all ports where
 * it is served already, denials of its own ports where it was not alone.
 */
function formsThatMayStand(fragment: SecurityGroupFragment, { status }: Service): readonly RuleForm[] {
  const isServed = (status.loadBalancer.ingress ?? []).length > 0;
  const isOwn = fragment.ownRules || fragment.rules.some(({ own }) => own);
  const denies = [fragment, ...fragment.others].some(({ rules }) => rules.some(({ access }) => access === "Deny"));
  const names = isOwn ? (["desired", "shared"] as const) : (["desired"] as const);
  const denials = denies
    ? (["desired", ...(isServed ? (["wide"] as const) : []), "narrow"] as const)
    : (["desired"] as const);
  const forms = names.flatMap((one) => denials.map((other): RuleForm => ({ names: one, denials: other })));
  return [DESIRED_FORM, ...forms.slice(1)];
}

/** The Service should not be served at these addresses. A security group that is not there holds nothing to close. */
export function releaseSecurityGroup(
  input: SecurityGroupInput,
  owner: Owner,
  addresses: ServiceAddresses,
): Reconciled<"securityGroup"> {
  const why = `${owner.key} leaves ${addresses.released.join(", ")}`;
  return reconcile(input, absentSecurityGroup(input, owner, addresses), why);
}

/** The Service should not be served at these addresses any more, and goes on at others. */
export function releaseSomeAddresses(
  input: SecurityGroupInput,
  owner: Owner,
  released: readonly string[],
): Reconciled<"securityGroup"> {
  const why = `${owner.key} leaves ${released.join(", ")}`;
  return reconcile(input, partlyAbsentSecurityGroup(input, owner, released), why);
}

function reconcile(
  input: SecurityGroupInput,
  fragment: SecurityGroupFragment,
  why: string,
): Reconciled<"securityGroup"> {
  const { config, securityGroup } = input;
  const id = securityGroupId(config);
  const result = reconciled(mergedAlone(securityGroup, fragment), () => ({
    kind: "securityGroup" as const,
    id,
    fragment,
    why,
  }));
  if (result.kind !== "reject") return result;
  return { kind: "reject", rejection: { ...result.rejection, message: refusalText(input, result.rejection) } };
}

/** With what only the decision knows: the names of the config, or who takes the room. */
function refusalText(input: SecurityGroupInput, { reason, message }: Rejection): string {
  const { config } = input;
  if (reason === "SecurityGroupFull") return [message, ...largestUser(input)].join(". ");
  if (reason !== "SecurityGroupMissing") return message;
  return (
    `${keyText("securityGroupName", config)}: there is no security group "${config.securityGroupName}" in resource group ` +
    `"${config.securityGroupResourceGroup}", and a controller never creates it: create it, or correct securityGroupName ` +
    "or securityGroupResourceGroup"
  );
}

/** The rule that takes most of what the group has least of, and the Services that it was made for. */
function largestUser(input: SecurityGroupInput): readonly string[] {
  const rules = input.securityGroup?.properties.securityRules ?? [];
  const shares = rules.flatMap((rule) =>
    Object.entries(usageOf([rule])).map(([what, count]) => ({ rule, what, count: count as number })),
  );
  const [largest] = shares.toSorted((one, other) => other.count - one.count);
  if (largest === undefined || input.securityGroup === undefined) return [];
  const { rule, what, count } = largest;
  const addresses = new Set(destinationsOf(rule).map(canonicalAddress));
  const keys = sharersOf(input, "", addresses).map(serviceKey).slice(0, MOST_NAMED);
  const whose = keys.length === 0 ? "" : ` (Service ${keys.join(", ")})`;
  const { usage } = securityGroupIndex(input.securityGroup);
  return [`${count} of ${usage[what as keyof Usage]} ${what} are in rule "${rule.name}"${whose}`];
}
