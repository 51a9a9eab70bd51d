/** The rules that a fragment wants in the security group, by name, each with the addresses that it is to open. */
import { canonicalAddress } from "../../util/cidr.ts";
import { type AccessRule, isNarrowDenial, isWideDenial, type Opening, type SecurityGroupFragment } from "./fragment.ts";
import { type SecurityGroupIndex, ownRuleName, sharedRuleName } from "./security-rules.ts";

export interface WantedRule {
  readonly name: string;
  readonly rule: AccessRule;
  /** In canonical spelling. */
  readonly destinations: Set<string>;
}

/** By name in lower case, in the order in which new ones get their priorities. */
export type WantedRules = Map<string, WantedRule>;

/** `present`: UIDs of owners with a fragment of their own in this batch, which counts instead of `others`. */
export function wantedRules(
  index: SecurityGroupIndex,
  fragment: SecurityGroupFragment,
  present: ReadonlySet<string>,
): WantedRules {
  const wanted: WantedRules = new Map();
  addOpening(wanted, fragment, (rule) =>
    isOwn(fragment, rule) ? ownRuleName(fragment.owner.base, rule) : sharedRuleName(rule),
  );
  for (const other of fragment.others) {
    if (!present.has(other.owner.uid))
      addOpening(wanted, other, (rule, address) => whereItStands(index, other, rule, address));
  }
  return wanted;
}

/** An address that `nameOf` has no name for is passed over. */
function addOpening(
  wanted: WantedRules,
  { rules }: Opening,
  nameOf: (rule: AccessRule, address: string) => string | undefined,
): void {
  for (const rule of rules) {
    const byName = new Map<string, Set<string>>();
    for (const address of rule.destinations.map(canonicalAddress)) {
      const name = nameOf(rule, address);
      if (name !== undefined) byName.set(name, (byName.get(name) ?? new Set()).add(address));
    }
    const found = [...byName].map(([name, destinations]): [string, WantedRule] => [
      name.toLowerCase(),
      { name, rule, destinations },
    ]);
    mergeWanted(wanted, new Map(found));
  }
}

/** What is merged in stays whole: `into` has sets of its own. */
export function mergeWanted(into: WantedRules, more: WantedRules): void {
  for (const [key, rule] of more) {
    const known = into.get(key);
    if (known === undefined) into.set(key, { ...rule, destinations: new Set(rule.destinations) });
    else for (const address of rule.destinations) known.destinations.add(address);
  }
}

function isOwn({ ownRules }: Opening, { own }: AccessRule): boolean {
  return ownRules || own === true;
}

/**
 * Another Service's rules are not this one's to make nor to move: what it has open stays open where it is, also under its own
 * name where it should share (`own-names.ts`). What it has not opened yet it opens itself, when it is ready to close it again.
 * Its denial of all ports alone is narrowed to its own, where this Service comes to the address.
 */
function whereItStands(
  index: SecurityGroupIndex,
  other: Opening,
  rule: AccessRule,
  address: string,
): string | undefined {
  const holders = index.holders.get(address) ?? [];
  const namesOf = (one: AccessRule): string[] => {
    const own = ownRuleName(other.owner.base, one);
    if (isNarrowDenial(one)) return isOwn(other, one) ? [own] : [];
    return isOwn(other, one) ? [own, sharedRuleName(one)] : [sharedRuleName(one), own];
  };
  const isThere = (name: string): boolean => holders.includes(name.toLowerCase());
  const standing = namesOf(rule).find(isThere);
  if (standing !== undefined || !isNarrowDenial(rule)) return standing;
  const stays = other.rules.some(
    (one) => isWideDenial(one) && one.destinations.some((written) => canonicalAddress(written) === address),
  );
  const isWide = namesOf({ ...rule, protocol: "*", ports: [] }).some(isThere);
  return isWide && !stays ? ownRuleName(other.owner.base, rule) : undefined;
}
