/**
 * Puts what many Services want into the security group that they share with each other, with people and with other
 * clusters. Whatever is not a rule of ours goes back as it was read, in its place; so do addresses in rules of ours that
 * none of these Services is known to have, since another cluster may share the group.
 *
 * Priorities as the incumbent gives them: a rule keeps its own; a new one that allows gets the lowest free from 500 up,
 * one that denies the highest free from 4095 down. Rules that go in the same write still occupy theirs.
 */
import type { SecurityGroup, SecurityRule } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import {
  ACCEPTED,
  type Answer,
  answersOf,
  type Merged,
  type Rejection,
  sortedByOwner,
  type Warning,
} from "../../outcome.ts";
import { mergeTags } from "../../model/tags.ts";
import type { SecurityGroupFragment } from "./fragment.ts";
import { type DraftedRule, LIMITS, SecurityGroupDraft } from "./security-group-draft.ts";
import {
  securityGroupIndex,
  type SecurityGroupIndex,
  type Usage,
  destinationsOf,
  newRule,
  rewrittenRule,
  withDestinations,
} from "./security-rules.ts";

const FIRST_PRIORITY = 500;
const LAST_PRIORITY = 4_095;
/** So full, and people should know before it is too late. */
const NEARLY_FULL = 0.9;

type Rules = readonly SecurityRule[];

/** `undefined`: the group does not exist. It is never created; nothing is left to remove from it either. */
export function mergeSecurityGroup(
  seen: SecurityGroup | undefined,
  fragments: readonly SecurityGroupFragment[],
): Merged<SecurityGroup> {
  const batch = sortedByOwner(fragments);
  if (seen === undefined) return withoutGroup(fragments);
  const index = securityGroupIndex(seen);
  const draft = new SecurityGroupDraft(index, batch);
  const answers = new Map<SecurityGroupFragment, Answer>();
  for (const fragment of batch) {
    const rejection = draft.accept(fragment);
    if (rejection !== undefined) answers.set(fragment, { kind: "refused", rejection });
  }
  const accepted = batch.filter((fragment) => !answers.has(fragment));
  const { changed, usage } = draft.result;
  const rules = mergedRules(seen.properties.securityRules ?? [], { index, changed, accepted });
  const tags = accepted.reduce<SecurityGroup["tags"]>(tagged, seen.tags);
  const isSame = rules === undefined && tags === seen.tags;
  const warnings = isSame ? [] : warningsOf(index.usage, usage);
  for (const fragment of accepted)
    answers.set(fragment, { kind: "accepted", warnings: fragment.rules.length > 0 ? warnings : [] });
  return {
    outcome: isSame
      ? { kind: "unchanged" }
      : { kind: "put", body: bodyOf(seen, rules ?? seen.properties.securityRules ?? [], tags) },
    answers: answersOf(fragments, answers),
  };
}

/** What the merge of one fragment comes to: without its body and warnings, which take a pass over the rules. */
export function mergedAlone(
  seen: SecurityGroup | undefined,
  fragment: SecurityGroupFragment,
): Pick<Merged<unknown>, "outcome" | "answers"> {
  if (seen === undefined) return withoutGroup([fragment]);
  const index = securityGroupIndex(seen);
  const draft = new SecurityGroupDraft(index, [fragment]);
  const rejection = draft.accept(fragment);
  if (rejection !== undefined) return { outcome: { kind: "unchanged" }, answers: [{ kind: "refused", rejection }] };
  const isChanged =
    draft.isChanged || legacyOf(index, [fragment]).size > 0 || tagged(seen.tags, fragment) !== seen.tags;
  return { outcome: isChanged ? { kind: "put", body: undefined } : { kind: "unchanged" }, answers: [ACCEPTED] };
}

function withoutGroup(fragments: readonly SecurityGroupFragment[]): Merged<SecurityGroup> {
  const refused: Answer = { kind: "refused", rejection: NO_GROUP };
  const answers = fragments.map(({ rules }) => (rules.length > 0 ? refused : ACCEPTED));
  return { outcome: { kind: "unchanged" }, answers };
}

const NO_GROUP: Rejection = {
  kind: "rejection",
  reason: "SecurityGroupMissing",
  message:
    "the security group of the cloud config does not exist, and a controller never creates it: create it, or correct " +
    "securityGroupName or securityGroupResourceGroup",
};

/** Only config tags are ever put on it, so without any there is nothing to prune either. */
function tagged(tags: SecurityGroup["tags"], fragment: SecurityGroupFragment): SecurityGroup["tags"] {
  return Object.keys(fragment.tags).length === 0 ? tags : mergeTags(tags, fragment.tags, fragment.systemTags);
}

function bodyOf(seen: SecurityGroup, securityRules: Rules, tags: SecurityGroup["tags"]): SecurityGroup {
  return {
    ...seen,
    ...(tags === undefined ? {} : { tags }),
    properties: { ...seen.properties, securityRules },
  };
}

interface Drafted {
  readonly index: SecurityGroupIndex;
  readonly changed: ReadonlyMap<string, DraftedRule>;
  readonly accepted: readonly SecurityGroupFragment[];
}

/** `undefined`: as they were read. */
function mergedRules(seen: Rules, { index, changed, accepted }: Drafted): Rules | undefined {
  const legacy = legacyOf(index, accepted);
  if (changed.size === 0 && legacy.size === 0) return undefined;
  const kept = seen.flatMap((rule): Rules => {
    const name = rule.name.toLowerCase();
    const gone = legacy.get(name);
    if (gone !== undefined) return withoutLegacy(rule, gone);
    const drafted = changed.get(name);
    return drafted === undefined ? [rule] : changedRule(rule, drafted);
  });
  const added = [...changed].flatMap(([name, drafted]) => (index.managed.has(name) ? [] : drafted));
  return [...kept, ...newRules(added, index)];
}

function changedRule(seen: SecurityRule, { wanted, destinations }: DraftedRule): Rules {
  if (destinations.length === 0) return [];
  return [wanted === undefined ? withDestinations(seen, destinations) : rewrittenRule(seen, wanted.rule, destinations)];
}

function newRules(added: readonly DraftedRule[], index: SecurityGroupIndex): Rules {
  const taken = new Set(index.priorities);
  return added.flatMap(({ wanted, destinations }): Rules => {
    if (wanted === undefined) return [];
    const priority = freePriority(taken, wanted.rule.access);
    taken.add(priority);
    return [newRule(wanted.rule, { name: wanted.name, priority, destinations })];
  });
}

/** A group holds fewer rules than there are priorities, so one is always free. */
function freePriority(taken: ReadonlySet<number>, access: "Allow" | "Deny"): number {
  const step = access === "Allow" ? 1 : -1;
  let priority = access === "Allow" ? FIRST_PRIORITY : LAST_PRIORITY;
  while (taken.has(priority)) priority += step;
  return priority;
}

/** Rules of old → all of them, or the addresses that go. */
type Legacy = ReadonlyMap<string, "all" | ReadonlySet<string>>;

function legacyOf(index: SecurityGroupIndex, fragments: readonly SecurityGroupFragment[]): Legacy {
  const legacy = new Map<string, "all" | Set<string>>();
  for (const { owner, addresses, cleanLegacy } of fragments) {
    if (!cleanLegacy) continue;
    for (const name of index.legacy.get(owner.base.toLowerCase()) ?? []) legacy.set(name, "all");
    for (const address of addresses) {
      for (const name of index.legacyShared.get(address) ?? []) {
        const known = legacy.get(name);
        if (known !== "all") legacy.set(name, (known ?? new Set()).add(address));
      }
    }
  }
  return legacy;
}

function withoutLegacy(rule: SecurityRule, gone: "all" | ReadonlySet<string>): Rules {
  if (gone === "all") return [];
  const left = destinationsOf(rule).filter((address) => !gone.has(canonicalAddress(address)));
  return left.length === 0 ? [] : [withDestinations(rule, left)];
}

function warningsOf(before: Usage, after: Usage): Warning[] {
  const full = (Object.keys(LIMITS) as (keyof Usage)[]).filter(
    (what) => after[what] > before[what] && after[what] > NEARLY_FULL * LIMITS[what],
  );
  if (full.length === 0) return [];
  const state = full.map((what) => `${after[what]} of ${LIMITS[what]} ${what}`).join(", ");
  const message = `the security group is nearly full: ${state}. Services with the same ports and sources share rules`;
  return [{ reason: "SecurityGroupNearlyFull", message }];
}
