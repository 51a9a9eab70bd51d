/**
 * What one Service must have written to the security group: its fragment where it should be served, the absence of it
 * where it should not. Whatever else the group holds is left to its owners.
 *
 * A Service that has not changed is settled with what it has, as long as that opens exactly what it wants: rules that
 * should be its own may still be shared ones, and rules of releases up to 1.28 may still be there. Both are put right
 * by its next write, so that taking over a cluster writes nothing.
 */
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { securityGroupId } from "../../model/ids.ts";
import type { Owner } from "../../outcome.ts";
import { reconciled, type Reconciled, SETTLED } from "../reconciled.ts";
import { absentSecurityGroup, desiredSecurityGroup, type SecurityGroupInput } from "./desired-security-group.ts";
import type { SecurityGroupFragment, ServiceAddresses } from "./fragment.ts";
import { mergeSecurityGroup } from "./merge-security-group.ts";

/** `changed`: the Service is not what was last applied. @design reconcileSecurityGroup */
export function reconcileSecurityGroup(
  input: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
  { changed }: { readonly changed: boolean },
): Reconciled<"securityGroup"> {
  const fragment = desiredSecurityGroup(input, intent, addresses, { changed });
  const why = `who may reach ${intent.owner.key}`;
  const isAcceptable = (lenient: SecurityGroupFragment): boolean => reconcile(input, lenient, why).kind === "settled";
  return !changed && asItStands(fragment).some(isAcceptable) ? SETTLED : reconcile(input, fragment, why);
}

/** What may stand until the Service changes: rules of old, and shared rules in place of its own. */
function asItStands(fragment: SecurityGroupFragment): readonly SecurityGroupFragment[] {
  const withLegacy = { ...fragment, cleanLegacy: false };
  return fragment.ownRules ? [withLegacy, { ...withLegacy, ownRules: false }] : [withLegacy];
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

function reconcile(
  { config, securityGroup }: SecurityGroupInput,
  fragment: SecurityGroupFragment,
  why: string,
): Reconciled<"securityGroup"> {
  const id = securityGroupId(config);
  return reconciled(mergeSecurityGroup(securityGroup, [fragment]), () => ({
    kind: "securityGroup",
    id,
    fragment,
    why,
  }));
}
