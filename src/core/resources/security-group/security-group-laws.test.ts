/** What holds of every merge, whatever the group, the Services and their order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../../test/support/laws.ts";
import type { SecurityGroup, SecurityRule } from "../../model/arm.ts";
import type { SecurityGroupFragment, AccessRule, Opening } from "./fragment.ts";
import { mergedAlone, mergeSecurityGroup } from "./merge-security-group.ts";
import { destinationsOf, kindOf, newRule, ownRuleName, sharedRuleName } from "./security-rules.ts";

/** Addresses of Services, few, so that they are shared; and addresses without a Service. */
const ADDRESSES = ["20.0.0.1", "20.0.0.2", "20.0.0.3", "20.0.0.4", "2603::1", "2603::2"];
const STRANGERS = ["99.0.0.1", "99.0.0.2"];
/** Names of other people's rules, some of which look a little like ours. */
const FOREIGN = ["ssh", "k8s-azure-lb-mine", "web-tcp-80-in"];

const shape = fc.record({
  protocol: fc.constantFrom("Tcp", "Udp"),
  sources: fc.constantFrom(["Internet"], ["Storage"], ["1.2.3.0/24", "5.6.7.8/32"]),
  ports: fc.uniqueArray(fc.constantFrom(53, 80, 443), { minLength: 1 }),
  isDenial: fc.boolean(),
});

function ruleOf(
  { protocol, sources, ports, isDenial }: typeof shape extends fc.Arbitrary<infer S> ? S : never,
  address: string,
): AccessRule {
  const family = address.includes(":") ? "IPv6" : "IPv4";
  const destinations = [address];
  if (isDenial) return { family, access: "Deny", protocol: "*", sources: ["*"], ports: [], destinations };
  return { family, access: "Allow", protocol, sources, ports, destinations };
}

/** One Service: what it wants for each of its addresses, and what it gives up. */
const wish = fc.record({
  addresses: fc.uniqueArray(fc.constantFrom(...ADDRESSES), { maxLength: 2 }),
  released: fc.uniqueArray(fc.constantFrom(...ADDRESSES), { maxLength: 1 }),
  shapes: fc.array(shape, { maxLength: 2 }),
  ownRules: fc.boolean(),
});

const openings = fc.array(wish, { maxLength: 6 }).map((wishes) =>
  wishes.map((wish, at) => ({
    ...wish,
    owner: { key: `default/s${at}`, uid: `s${at}`, base: `as${at}` },
    rules: wish.addresses.flatMap((address) => wish.shapes.map((shape) => ruleOf(shape, address))),
  })),
);

/** As the decisions make them: each knows what all others want for the addresses that it claims. */
const fragments = openings.map((all): SecurityGroupFragment[] =>
  all.map(({ owner, rules, ownRules, addresses, released }) => {
    const claimed = [...new Set([...addresses, ...released])];
    const others = all
      .filter((other) => other.owner !== owner)
      .map((other): Opening => ({
        ...other,
        rules: other.rules.filter((rule) => rule.destinations.every((address) => claimed.includes(address))),
      }));
    return { owner, rules, ownRules, addresses: claimed, others, cleanLegacy: true, tags: {}, systemTags: [] };
  }),
);

/** Rules of others, of ours with strangers' addresses, and rules of old. */
const seenRules = fc
  .uniqueArray(
    fc.oneof(
      fc.record({ name: fc.constantFrom(...FOREIGN), unknown: fc.string() }),
      fc.record({
        shape,
        addresses: fc.uniqueArray(fc.constantFrom(...ADDRESSES.slice(0, 4), ...STRANGERS), { minLength: 1 }),
        own: fc.option(fc.constantFrom("as0", "as1", "azz"), { nil: undefined }),
      }),
      fc.record({
        legacy: fc.constantFrom("as0", "as9", "shared"),
        address: fc.constantFrom(...ADDRESSES, ...STRANGERS),
      }),
    ),
    { selector: (rule) => ("shape" in rule ? nameOf(rule) : "name" in rule ? rule.name : rule.legacy), maxLength: 8 },
  )
  .map((rules) => rules.map((rule, at) => seenRule(rule, 500 + at * 2)));

interface OurShape {
  readonly shape: Parameters<typeof ruleOf>[0];
  readonly addresses: readonly string[];
  readonly own: string | undefined;
}
type SeenShape =
  | OurShape
  | { readonly name: string; readonly unknown: string }
  | { readonly legacy: string; readonly address: string };

function nameOf({ shape, own }: OurShape): string {
  const rule = ruleOf(shape, ADDRESSES[0] ?? "");
  return own === undefined ? sharedRuleName(rule) : ownRuleName(own, rule);
}

function seenRule(rule: SeenShape, priority: number): SecurityRule {
  if ("shape" in rule) {
    const wanted = ruleOf(rule.shape, ADDRESSES[0] ?? "");
    return newRule(wanted, { name: nameOf(rule), priority, destinations: rule.addresses });
  }
  const properties = { protocol: "Tcp", access: "Allow", direction: "Inbound", priority };
  if ("name" in rule) return { name: rule.name, properties: { ...properties, surprise: rule.unknown } };
  const name = `${rule.legacy}-TCP-80-Internet`;
  return { name, properties: { ...properties, destinationAddressPrefix: rule.address } };
}

const group = seenRules.map((securityRules): SecurityGroup => ({
  id: "/nsg",
  name: "nsg",
  properties: { securityRules },
}));

function after(seen: SecurityGroup, batch: readonly SecurityGroupFragment[]): SecurityGroup {
  const { outcome, answers } = mergeSecurityGroup(seen, batch);
  assert.ok(answers.every(({ kind }) => kind === "accepted"));
  return outcome.kind === "put" ? outcome.body : seen;
}

/** Which managed rules hold each address, whichever Service they belong to. */
function opened(body: SecurityGroup): Map<string, Set<string>> {
  const held = new Map<string, Set<string>>();
  for (const rule of body.properties.securityRules ?? []) {
    const { kind } = kindOf(rule.name.toLowerCase());
    if (kind !== "shared" && kind !== "own") continue;
    for (const address of destinationsOf(rule)) held.set(address, (held.get(address) ?? new Set()).add(rule.name));
  }
  return held;
}

function law(sentence: string, holds: (seen: SecurityGroup, batch: SecurityGroupFragment[]) => void): void {
  test(sentence, () => fc.assert(fc.property(group, fragments, holds), { numRuns: 300 }));
}

law("the order of fragments does not matter", (seen, batch) => {
  assert.deepEqual(after(seen, batch.toReversed()), after(seen, batch));
});

law("what was merged once is merged: the second time nothing changes", (seen, batch) => {
  assert.equal(mergeSecurityGroup(after(seen, batch), batch).outcome.kind, "unchanged");
});

law("an unchanged group is said to be so, and a changed one is", (seen, batch) => {
  const { outcome } = mergeSecurityGroup(seen, batch);
  if (outcome.kind === "put") assert.notDeepEqual(outcome.body, seen);
});

law("foreign rules stay the same objects in the same order", (seen, batch) => {
  const foreign = (body: SecurityGroup): SecurityRule[] =>
    (body.properties.securityRules ?? []).filter((rule) => FOREIGN.includes(rule.name));
  const [before, now] = [foreign(seen), foreign(after(seen, batch))];
  assert.equal(now.length, before.length);
  now.forEach((rule, at) => assert.equal(rule, before[at]));
});

law("addresses without a Service stay in rules without one", (seen, batch) => {
  const bases = new Set(batch.map(({ owner }) => owner.base));
  const stranger = (body: SecurityGroup): [string, string[]][] =>
    [...opened(body)]
      .filter(([address]) => STRANGERS.includes(address))
      .map(([address, names]): [string, string[]] => [
        address,
        [...names].filter((name) => ![...bases].some((base) => name.includes(`_${base}_`))),
      ])
      .filter(([, names]) => names.length > 0);
  assert.deepEqual(new Map(stranger(after(seen, batch))), new Map(stranger(seen)));
});

law("a claimed address is opened by exactly what a Service wants for it", (seen, batch) => {
  const held = opened(after(seen, batch));
  for (const address of new Set(batch.flatMap((fragment) => fragment.addresses))) {
    const wanted = batch.flatMap(({ owner, rules, ownRules }) =>
      rules
        .filter((rule) => rule.destinations.includes(address))
        .map((rule) => (ownRules ? ownRuleName(owner.base, rule) : sharedRuleName(rule))),
    );
    assert.deepEqual([...(held.get(address) ?? [])].sort(), [...new Set(wanted)].sort(), address);
  }
});

law("every rule has its own priority, and one that stays keeps its own", (seen, batch) => {
  const rules = after(seen, batch).properties.securityRules ?? [];
  assert.equal(new Set(rules.map((rule) => rule.properties.priority)).size, rules.length);
  const before = new Map(seen.properties.securityRules?.map((rule) => [rule.name, rule.properties.priority]));
  for (const { name, properties } of rules) assert.equal(properties.priority, before.get(name) ?? properties.priority);
});

law("no rule is left without a destination", (seen, batch) => {
  for (const rule of after(seen, batch).properties.securityRules ?? []) {
    if (!FOREIGN.includes(rule.name)) assert.ok(destinationsOf(rule).length > 0, rule.name);
  }
});

law("one after the other opens the same as all at once", (seen, batch) => {
  const together = opened(after(seen, batch));
  const oneByOne = [...batch, ...batch].reduce((body, fragment) => after(body, [fragment]), seen);
  const addresses = new Set(batch.flatMap((fragment) => fragment.addresses));
  for (const address of addresses) {
    assert.deepEqual([...(opened(oneByOne).get(address) ?? [])].sort(), [...(together.get(address) ?? [])].sort());
  }
});

law("when all have left, what only others had is what there was", (seen, batch) => {
  const foreignOnly = {
    ...seen,
    properties: {
      securityRules: (seen.properties.securityRules ?? []).filter((rule) => FOREIGN.includes(rule.name)),
    },
  };
  const leaving = batch.map((fragment) => ({ ...fragment, rules: [], others: [] }));
  assert.deepEqual(after(after(foreignOnly, batch), leaving), foreignOnly);
});

law("one fragment is decided as the merge of it alone, without its pass", (seen, batch) => {
  for (const fragment of batch) {
    const { outcome, answers } = mergeSecurityGroup(seen, [fragment]);
    const decided = mergedAlone(seen, fragment);
    assert.equal(decided.outcome.kind, outcome.kind);
    assert.deepEqual(
      decided.answers.map(({ kind }) => kind),
      answers.map(({ kind }) => kind),
    );
  }
});
