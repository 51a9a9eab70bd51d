/**
 * Puts the rules at some addresses of a Service under the Service's own name, and changes nothing that they open. For
 * addresses that the Service is about to lose: a rule that is shared by content does not tell whose its addresses are, and
 * an address of which neither Azure nor the status tells any more that it was the Service's would stay open for ever. What
 * stands under its own name is closed with the Service's next write, or when the Service goes.
 */
import { securityGroupId } from "../../model/ids.ts";
import { canonicalAddress, familyOf } from "../../util/cidr.ts";
import type { Owner } from "../../outcome.ts";
import { reconciled, type Reconciled, SETTLED } from "../reconciled.ts";
import { absentSecurityGroup, ownRulesOf, type SecurityGroupInput } from "./desired-security-group.ts";
import type { AccessRule, Opening } from "./fragment.ts";
import { mergeSecurityGroup } from "./merge-security-group.ts";
import { accessRuleOf, kindOf, securityGroupIndex, sharedRuleName } from "./security-rules.ts";

/** Of shared rules only what no other Service wants at the address. */
export function reconcileOwnNames(
  input: SecurityGroupInput,
  owner: Owner,
  released: readonly string[],
): Reconciled<"securityGroup"> {
  const { securityGroup, config } = input;
  if (securityGroup === undefined) return SETTLED;
  const nowhere = { IPv4: [], IPv6: [] };
  const absent = absentSecurityGroup(input, owner, { current: nowhere, nodes: nowhere, released });
  const { holders, managed } = securityGroupIndex(securityGroup);
  const shared = absent.addresses.flatMap((address) =>
    (holders.get(address) ?? [])
      .filter((name) => kindOf(name).kind === "shared" && !isWantedThere(absent.others, name, address))
      .map((name) => ({ name, address })),
  );
  if (shared.length === 0) return SETTLED;
  const renamed = shared.flatMap(({ name, address }): AccessRule[] => {
    const rule = managed.get(name)?.rule;
    const family = familyOf(address);
    return rule === undefined || family === undefined ? [] : [{ ...accessRuleOf(rule, family, [address]), own: true }];
  });
  const rules = [...ownRulesOf(input, owner, () => true), ...renamed];
  const fragment = { ...absent, rules, cleanLegacy: false };
  return reconciled(mergeSecurityGroup(securityGroup, [fragment]), () => ({
    kind: "securityGroup" as const,
    id: securityGroupId(config),
    fragment,
    why: `the rules of ${owner.key} at ${released.join(", ")}, which it is about to leave, get its name`,
  }));
}

function isWantedThere(others: readonly Opening[], name: string, address: string): boolean {
  return others.some(({ rules }) =>
    rules.some(
      (rule) =>
        sharedRuleName(rule).toLowerCase() === name && rule.destinations.map(canonicalAddress).includes(address),
    ),
  );
}
