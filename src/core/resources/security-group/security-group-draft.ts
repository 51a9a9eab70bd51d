/**
 * A security group in the making: fragments go in one after the other, each wholly or (where the group has no room for
 * it) not at all. Kept as differences to what was read, so that a fragment costs what it touches and nothing more.
 *
 * The order of fragments does not matter for what the group opens: an address loses a rule only if no
 * fragment of the batch wants it there.
 */
import type { Rejection } from "../../outcome.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { type AccessRule, isNarrowDenial, isWideDenial, type Opening, type SecurityGroupFragment } from "./fragment.ts";
import {
  type SecurityGroupIndex,
  type Usage,
  means,
  ownRuleName,
  portsOf,
  sharedRuleName,
  sourcesOf,
} from "./security-rules.ts";

interface WantedRule {
  readonly name: string;
  readonly rule: AccessRule;
  /** In canonical spelling. */
  readonly destinations: Set<string>;
}

/** By name in lower case, in the order in which new ones get their priorities. */
type WantedRules = Map<string, WantedRule>;

/** Azure's, over all rules of a group; sources, destinations and ports are counted each by itself. */
export const LIMITS: Usage = { rules: 1_000, sources: 4_000, destinations: 4_000, ports: 4_000 };
const LIMITED = Object.keys(LIMITS) as readonly (keyof Usage)[];
const NOTHING: Usage = { rules: 0, sources: 0, destinations: 0, ports: 0 };

/** What becomes of one rule. */
interface RuleChange {
  /** Its meaning, if an accepted fragment wants it. */
  wanted: WantedRule | undefined;
  readonly added: Set<string>;
  readonly removed: Set<string>;
}

/** A rule that differs from what was read. */
export interface DraftedRule {
  /** Its meaning, if an accepted fragment wants it. */
  readonly wanted: WantedRule | undefined;
  /** Spelt as they were read, or canonically where they are new. Empty: the rule goes. */
  readonly destinations: readonly string[];
}

interface DraftResult {
  /** By name, new ones included, in the order they were first wanted. */
  readonly changed: ReadonlyMap<string, DraftedRule>;
  readonly usage: Usage;
}

/** One address in one rule. */
interface Spot {
  readonly rule: string;
  readonly address: string;
}

/** Names of rules are in lower case throughout. */
export class SecurityGroupDraft {
  readonly #index: SecurityGroupIndex;
  readonly #wantedBy: ReadonlyMap<SecurityGroupFragment, WantedRules>;
  readonly #wantedByAnyone: WantedRules = new Map();
  readonly #changes = new Map<string, RuleChange>();
  #usage: Usage;

  constructor(index: SecurityGroupIndex, fragments: readonly SecurityGroupFragment[]) {
    this.#index = index;
    this.#usage = index.usage;
    const present = new Set(fragments.map((fragment) => fragment.owner.uid));
    this.#wantedBy = new Map(fragments.map((fragment) => [fragment, wantedRules(index, fragment, present)]));
    for (const wanted of this.#wantedBy.values()) mergeWanted(this.#wantedByAnyone, wanted);
  }

  /** What has come of all fragments that were accepted. */
  get result(): DraftResult {
    const changed = [...this.#changes].filter(([name, change]) => this.#isChanged(name, change));
    const rules = changed.map(([name, change]): [string, DraftedRule] => [name, this.#drafted(name, change)]);
    return { changed: new Map(rules), usage: this.#usage };
  }

  /** Whether any rule differs from what was read. */
  get isChanged(): boolean {
    return [...this.#changes].some(([name, change]) => this.#isChanged(name, change));
  }

  /** Answers why the fragment cannot stand, and then leaves things as they were. */
  accept(fragment: SecurityGroupFragment): Rejection | undefined {
    const wanted: WantedRules = this.#wantedBy.get(fragment) ?? new Map();
    const additions = this.#additionsFor(wanted);
    const removals = this.#removalsFor(fragment);
    const touched = new Set([...wanted.keys(), ...removals.map((spot) => spot.rule)]);

    const before = this.#weightOf(touched);
    const meanings = new Map([...touched].map((name) => [name, this.#changes.get(name)?.wanted]));
    for (const [name, rule] of wanted) this.#changeOf(name).wanted ??= rule;
    this.#move(additions, removals);
    const after = plus(minus(this.#usage, before), this.#weightOf(touched));
    const full = LIMITED.find((what) => after[what] > LIMITS[what] && after[what] > this.#usage[what]);
    if (full === undefined) {
      this.#usage = after;
      return undefined;
    }
    this.#move(removals, additions);
    for (const [name, meaning] of meanings) this.#changeOf(name).wanted = meaning;
    return rejectionOf(full, after[full]);
  }

  #additionsFor(wanted: WantedRules): readonly Spot[] {
    return [...wanted].flatMap(([rule, { destinations }]) =>
      [...destinations].filter((address) => !this.#holds(rule, address)).map((address) => ({ rule, address })),
    );
  }

  /** From rules of all: the fragment's addresses. From the Service's own rules: everything that no fragment wants. */
  #removalsFor({ owner, addresses }: SecurityGroupFragment): readonly Spot[] {
    const claimed = addresses.flatMap((address) =>
      (this.#index.holders.get(address) ?? []).map((rule) => ({ rule, address })),
    );
    const own = (this.#index.own.get(owner.base.toLowerCase()) ?? []).flatMap((rule) =>
      [...(this.#index.managed.get(rule)?.destinations.keys() ?? [])].map((address) => ({ rule, address })),
    );
    return [...claimed, ...own].filter(
      ({ rule, address }) =>
        this.#wantedByAnyone.get(rule)?.destinations.has(address) !== true && this.#holds(rule, address),
    );
  }

  #holds(rule: string, address: string): boolean {
    const change = this.#changes.get(rule);
    if (change?.added.has(address) === true) return true;
    return this.#index.managed.get(rule)?.destinations.has(address) === true && change?.removed.has(address) !== true;
  }

  #move(additions: readonly Spot[], removals: readonly Spot[]): void {
    for (const { rule, address } of additions) {
      const change = this.#changeOf(rule);
      if (!change.removed.delete(address)) change.added.add(address);
    }
    for (const { rule, address } of removals) {
      const change = this.#changeOf(rule);
      if (!change.added.delete(address)) change.removed.add(address);
    }
  }

  #changeOf(rule: string): RuleChange {
    const known = this.#changes.get(rule);
    if (known !== undefined) return known;
    const change: RuleChange = { wanted: undefined, added: new Set(), removed: new Set() };
    this.#changes.set(rule, change);
    return change;
  }

  #isChanged(name: string, { wanted, added, removed }: RuleChange): boolean {
    return added.size > 0 || removed.size > 0 || this.#isMistaken(name, wanted?.rule);
  }

  #drafted(name: string, { wanted, added, removed }: RuleChange): DraftedRule {
    const seen = [...(this.#index.managed.get(name)?.destinations ?? [])];
    const kept = seen.filter(([address]) => !removed.has(address)).map(([, written]) => written);
    return { wanted, destinations: [...kept, ...added] };
  }

  /** Another client gave a rule of ours another meaning. */
  #isMistaken(name: string, wanted: AccessRule | undefined): boolean {
    const seen = this.#index.managed.get(name)?.rule;
    return seen !== undefined && wanted !== undefined && !means(seen, wanted);
  }

  #weightOf(rules: ReadonlySet<string>): Usage {
    let sum = NOTHING;
    for (const name of rules) sum = plus(sum, this.#weightOfRule(name));
    return sum;
  }

  #weightOfRule(name: string): Usage {
    const change = this.#changes.get(name);
    const seen = this.#index.managed.get(name);
    const destinations = (seen?.destinations.size ?? 0) + (change?.added.size ?? 0) - (change?.removed.size ?? 0);
    if (destinations <= 0) return NOTHING;
    const wanted = change?.wanted?.rule;
    if (wanted === undefined && seen === undefined) return NOTHING;
    const sources = wanted?.sources.length ?? (seen === undefined ? 0 : sourcesOf(seen.rule).length);
    const ports =
      wanted === undefined ? (seen === undefined ? 0 : portsOf(seen.rule).length) : wanted.ports.length || 1;
    return { rules: 1, sources, destinations, ports };
  }
}

function plus(one: Usage, other: Usage): Usage {
  return {
    rules: one.rules + other.rules,
    sources: one.sources + other.sources,
    destinations: one.destinations + other.destinations,
    ports: one.ports + other.ports,
  };
}

function minus(one: Usage, { rules, sources, destinations, ports }: Usage): Usage {
  return plus(one, { rules: -rules, sources: -sources, destinations: -destinations, ports: -ports });
}

function rejectionOf(full: keyof Usage, count: number): Rejection {
  const message =
    `the security group has no room: it would have ${count} ${full}, and Azure allows ${LIMITS[full]}. Remove rules ` +
    "that nobody needs, give Services the same ports and source ranges so that they share rules, or name fewer ranges";
  return { kind: "rejection", reason: "SecurityGroupFull", message };
}

/**
 * The rules that a fragment wants, by name, each with the addresses that it is to open. `present`: UIDs of owners with a
 * fragment of their own in this batch, which counts instead of `others`.
 */
function wantedRules(
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
function mergeWanted(into: WantedRules, more: WantedRules): void {
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
