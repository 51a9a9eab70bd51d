import assert from "node:assert/strict";
import { test } from "node:test";
import { byOwner } from "../../../../test/support/by-owner.ts";
import type { SecurityGroup, SecurityRule } from "../../model/arm.ts";
import type { Merged } from "../../outcome.ts";
import type { SecurityGroupFragment, AccessRule } from "./fragment.ts";
import { mergeSecurityGroup as merge } from "./merge-security-group.ts";
import { destinationsOf, newRule, ownRuleName, portsOf, sharedRuleName, sourcesOf } from "./security-rules.ts";

const mergeSecurityGroup = byOwner(merge, ({ owner }) => owner.key);

function allow(ports: readonly number[], destinations: readonly string[], sources = ["Internet"]): AccessRule {
  return { family: "IPv4", access: "Allow", protocol: "Tcp", sources, ports, destinations };
}

function deny(destinations: readonly string[]): AccessRule {
  return { family: "IPv4", access: "Deny", protocol: "*", sources: ["*"], ports: [], destinations };
}

type Shape = Partial<Omit<SecurityGroupFragment, "owner">>;

function fragment(name: string, rules: readonly AccessRule[], shape: Shape = {}): SecurityGroupFragment {
  return {
    owner: { key: `default/${name}`, uid: name, base: `a${name}` },
    rules,
    ownRules: false,
    addresses: [...new Set(rules.flatMap((rule) => rule.destinations))],
    others: [],
    cleanLegacy: true,
    tags: {},
    systemTags: [],
    ...shape,
  };
}

const SSH: SecurityRule = {
  name: "foreign-ssh",
  properties: {
    protocol: "Tcp",
    access: "Allow",
    direction: "Inbound",
    priority: 200,
    sourceAddressPrefix: "1.2.3.4/32",
    destinationAddressPrefix: "*",
    destinationPortRange: "22",
    sourcePortRange: "*",
    somethingNew: { since: "tomorrow" },
  },
};

function group(...securityRules: readonly SecurityRule[]): SecurityGroup {
  return { id: "/nsg", name: "nsg", etag: "e", properties: { securityRules, defaultSecurityRules: [{ x: 1 }] } };
}

function ours(rule: AccessRule, priority: number): SecurityRule {
  return newRule(rule, { name: sharedRuleName(rule), priority, destinations: rule.destinations });
}

function put({ outcome }: Pick<Merged<SecurityGroup>, "outcome">): SecurityGroup {
  assert.ok(outcome.kind === "put", outcome.kind);
  return outcome.body;
}

/** Priority, access, sources, destinations and ports of all rules but the foreign one. */
function lines(body: SecurityGroup): readonly string[] {
  return (body.properties.securityRules ?? [])
    .filter((rule) => rule !== SSH)
    .map((rule) => {
      const { priority, access } = rule.properties;
      return `${priority} ${access} ${sourcesOf(rule).join()} → ${destinationsOf(rule).join()} ${portsOf(rule).join()}`;
    });
}

const merged = (seen: SecurityGroup, ...fragments: SecurityGroupFragment[]): readonly string[] =>
  lines(put(mergeSecurityGroup(seen, fragments)));

test("the first rule gets priority 500 and stands behind what was there", () => {
  const body = put(mergeSecurityGroup(group(SSH), [fragment("a", [allow([80], ["20.0.0.1"])])]));
  assert.equal(body.properties.securityRules?.[0], SSH);
  assert.deepEqual(lines(body), ["500 Allow Internet → 20.0.0.1 80"]);
  assert.equal(body.etag, "e");
  assert.deepEqual(body.properties["defaultSecurityRules"], [{ x: 1 }]);
});

test("Services with the same ports and sources share a rule", () => {
  const seen = group(ours(allow([80], ["20.0.0.1"]), 500));
  assert.deepEqual(merged(seen, fragment("b", [allow([80], ["20.0.0.2"])])), [
    "500 Allow Internet → 20.0.0.1,20.0.0.2 80",
  ]);
});

test("what is there already is left alone", () => {
  const seen = group(SSH, ours(allow([80], ["20.0.0.1", "20.0.0.2"]), 700));
  assert.equal(mergeSecurityGroup(seen, [fragment("a", [allow([80], ["20.0.0.1"])])]).outcome.kind, "unchanged");
});

test("spellings of an address are one address", () => {
  const rule = { ...allow([80], ["2603:0:0::1"]), family: "IPv6" } as const;
  const seen = group(ours({ ...rule, destinations: ["2603::1/128"] }, 500));
  const wanted = fragment("a", [{ ...rule, destinations: ["2603::1"] }]);
  assert.equal(mergeSecurityGroup(seen, [wanted]).outcome.kind, "unchanged");
});

test("a changed port gets a new rule while the old one still occupies its priority", () => {
  const seen = group(SSH, ours(allow([80, 443], ["20.0.0.1"]), 500));
  assert.deepEqual(merged(seen, fragment("a", [allow([8080], ["20.0.0.1"])])), ["501 Allow Internet → 20.0.0.1 8080"]);
});

test("a shared rule loses the address that left it and keeps the others", () => {
  const seen = group(ours(allow([80], ["20.0.0.1", "20.0.0.2"]), 500));
  assert.deepEqual(merged(seen, fragment("a", [], { addresses: ["20.0.0.1"] })), ["500 Allow Internet → 20.0.0.2 80"]);
});

test("without a wanted rule, what was there before stays", () => {
  const seen = group(SSH, ours(allow([80], ["20.0.0.1"]), 500));
  assert.deepEqual(put(mergeSecurityGroup(seen, [fragment("a", [], { addresses: ["20.0.0.1"] })])), group(SSH));
});

test("addresses of unknown owners stay: another cluster may share the group", () => {
  const seen = group(ours(allow([80], ["20.0.0.1", "99.9.9.9"]), 500));
  assert.deepEqual(merged(seen, fragment("a", [], { addresses: ["20.0.0.1"] })), ["500 Allow Internet → 99.9.9.9 80"]);
});

test("denials come from the end, and foreign priorities are taken whatever their direction", () => {
  const outbound = { ...SSH, name: "out", properties: { ...SSH.properties, direction: "Outbound", priority: 500 } };
  const last = { ...SSH, name: "last", properties: { ...SSH.properties, priority: 4_095 } };
  const wanted = fragment("a", [allow([80], ["20.0.0.1"], ["1.2.3.0/24"]), deny(["20.0.0.1"])]);
  assert.deepEqual(merged(group(outbound, last), wanted).slice(2), [
    "501 Allow 1.2.3.0/24 → 20.0.0.1 80",
    "4094 Deny * → 20.0.0.1 *",
  ]);
});

test("many fragments get priorities by owner, then in their own order", () => {
  const b = fragment("b", [allow([80], ["20.0.0.2"])]);
  const a = fragment("a", [allow([53], ["20.0.0.1"]), allow([443], ["20.0.0.1"])]);
  assert.deepEqual(merged(group(), b, a), [
    "500 Allow Internet → 20.0.0.1 53",
    "501 Allow Internet → 20.0.0.1 443",
    "502 Allow Internet → 20.0.0.2 80",
  ]);
});

test("what a sharer of the address wants stays open, its denial too", () => {
  const seen = group(ours(allow([80], ["20.0.0.1"], ["1.2.3.0/24"]), 500), ours(deny(["20.0.0.1"]), 4_095));
  const { owner } = fragment("a", []);
  const others = [{ owner, ownRules: false, rules: [allow([80], ["20.0.0.1"], ["1.2.3.0/24"]), deny(["20.0.0.1"])] }];
  assert.deepEqual(merged(seen, fragment("b", [allow([81], ["20.0.0.1"])], { others })), [
    "500 Allow 1.2.3.0/24 → 20.0.0.1 80",
    "4095 Deny * → 20.0.0.1 *",
    "501 Allow Internet → 20.0.0.1 81",
  ]);
});

test("a sharer's own fragment decides for it", () => {
  const seen = group(ours(allow([80], ["20.0.0.1"]), 500));
  const a = fragment("a", [allow([8080], ["20.0.0.1"])]);
  const stale = [{ owner: a.owner, ownRules: false, rules: [allow([80], ["20.0.0.1"])] }];
  const b = fragment("b", [allow([81], ["20.0.0.1"])], { others: stale });
  assert.deepEqual(merged(seen, a, b), ["501 Allow Internet → 20.0.0.1 8080", "502 Allow Internet → 20.0.0.1 81"]);
});

test("a rule of ours that another client changed is put right, and keeps what we don't know", () => {
  const rule = ours(allow([80], ["20.0.0.1"]), 500);
  const bent = { ...rule, properties: { ...rule.properties, sourceAddressPrefix: "*", description: "mine" } };
  const body = put(mergeSecurityGroup(group(bent), [fragment("a", [allow([80], ["20.0.0.1"])])]));
  assert.deepEqual(lines(body), ["500 Allow Internet → 20.0.0.1 80"]);
  assert.equal(body.properties.securityRules?.[0]?.properties["description"], "mine");
});

test("rules of one's own bear the Service's name and hold nothing else", () => {
  const rule = allow([80], ["20.0.0.1"]);
  const wanted = fragment("a", [rule], { ownRules: true });
  const body = put(mergeSecurityGroup(group(ours(allow([80], ["20.0.0.1", "20.0.0.2"]), 500)), [wanted]));
  assert.deepEqual(lines(body), ["500 Allow Internet → 20.0.0.2 80", "501 Allow Internet → 20.0.0.1 80"]);
  assert.equal(body.properties.securityRules?.[1]?.name, ownRuleName("aa", rule));
  const gone = put(mergeSecurityGroup(body, [fragment("a", [], { addresses: [] })]));
  assert.deepEqual(lines(gone), ["500 Allow Internet → 20.0.0.2 80"]);
});

test("a sharer that wants rules of its own keeps its shared one until it changes", () => {
  const seen = group(ours(allow([80], ["20.0.0.1"]), 500), ours(allow([81], ["20.0.0.1"]), 501));
  const { owner } = fragment("a", []);
  const others = [{ owner, ownRules: true, rules: [allow([80], ["20.0.0.1"])] }];
  const settled = mergeSecurityGroup(seen, [fragment("b", [allow([81], ["20.0.0.1"])], { others })]);
  assert.equal(settled.outcome.kind, "unchanged");
});

const LEGACY: readonly SecurityRule[] = [
  { ...SSH, name: "aa-TCP-80-Internet" },
  { ...SSH, name: "ab-TCP-80-Internet" },
  { ...SSH, name: "shared-TCP-80-Internet", properties: { ...SSH.properties, destinationAddressPrefix: "20.0.0.1" } },
];

test("rules of old go with the Service's next write, other Services' stay", () => {
  const body = put(mergeSecurityGroup(group(...LEGACY), [fragment("a", [allow([80], ["20.0.0.1"])])]));
  assert.deepEqual(
    body.properties.securityRules?.map((rule) => rule.name),
    ["ab-TCP-80-Internet", sharedRuleName(allow([80], []))],
  );
  const kept = fragment("a", [], { addresses: ["20.0.0.1"], cleanLegacy: false });
  assert.equal(mergeSecurityGroup(group(...LEGACY), [kept]).outcome.kind, "unchanged");
});

test("a shared rule of old loses the Service's address only", () => {
  const shared = {
    ...LEGACY[2]!,
    properties: { ...SSH.properties, destinationAddressPrefixes: ["20.0.0.1", "20.0.0.2"] },
  };
  const { destinationAddressPrefix: _, ...properties } = shared.properties;
  const body = put(
    mergeSecurityGroup(group({ ...shared, properties }), [fragment("a", [], { addresses: ["20.0.0.1"] })]),
  );
  assert.deepEqual(destinationsOf(body.properties.securityRules?.[0] ?? SSH), ["20.0.0.2"]);
});

test("rules that go to application security groups, and names that only look like ours, are foreign", () => {
  const rule = ours(allow([80], []), 500);
  const { destinationAddressPrefixes: _, ...properties } = rule.properties;
  const grouped = { ...rule, properties: { ...properties, destinationApplicationSecurityGroups: [{ id: "/asg" }] } };
  const alike = { ...SSH, name: "k8s-azure-lb-mine", properties: { ...SSH.properties, priority: 600 } };
  const seen = group(grouped, alike);
  const body = put(mergeSecurityGroup(seen, [fragment("a", [allow([81], ["20.0.0.1"])])]));
  assert.deepEqual(body.properties.securityRules?.slice(0, 2), [grouped, alike]);
});

test("config tags are put on, and only they make a write of their own", () => {
  const seen = group(ours(allow([80], ["20.0.0.1"]), 500));
  const wanted = fragment("a", [allow([80], ["20.0.0.1"])], { tags: { env: "prod" }, systemTags: ["aks"] });
  assert.deepEqual(put(mergeSecurityGroup(seen, [wanted])).tags, { env: "prod" });
  assert.equal(mergeSecurityGroup({ ...seen, tags: { ENV: "prod" } }, [wanted]).outcome.kind, "unchanged");
});

test("a group that does not exist refuses a Service that wants a rule, and stops none from leaving", () => {
  const { outcome, refused } = mergeSecurityGroup(undefined, [
    fragment("a", [allow([80], ["20.0.0.1"])]),
    fragment("b", []),
  ]);
  assert.equal(outcome.kind, "unchanged");
  assert.deepEqual(
    refused.map(({ owner, rejection }) => [owner, rejection.reason]),
    [["default/a", "SecurityGroupMissing"]],
  );
});

/** So many foreign rules that one more of ours fits. */
const crowd = (count: number): readonly SecurityRule[] =>
  Array.from({ length: count }, (_, at) => ({
    ...SSH,
    name: `f${at}`,
    properties: { ...SSH.properties, priority: 100 + at },
  }));

test("a full group refuses who comes last by name, lets others leave, and lets who fits stay", () => {
  const seen = group(...crowd(998), ours(allow([9], ["20.0.0.9"]), 3_000));
  const fragments = [
    fragment("a", [allow([80], ["20.0.0.1"])]),
    fragment("b", [allow([81], ["20.0.0.2"])]),
    fragment("c", [allow([80], ["20.0.0.3"])]),
    fragment("d", [allow([10], ["20.0.0.9"])]),
  ];
  const result = mergeSecurityGroup(seen, fragments);
  assert.deepEqual(
    result.refused.map(({ owner, rejection }) => [owner, rejection.reason]),
    [["default/b", "SecurityGroupFull"]],
  );
  assert.match(result.refused[0]?.rejection.message ?? "", /1001 rules, and Azure allows 1000/);
  assert.deepEqual(lines(put(result)).slice(998), [
    "1098 Allow Internet → 20.0.0.1,20.0.0.3 80",
    "1099 Allow Internet → 20.0.0.9 10",
  ]);
  assert.deepEqual(
    new Set(result.warnings.map(({ owner }) => owner)),
    new Set(["default/a", "default/c", "default/d"]),
  );
});

test("too many destinations are refused too", () => {
  const many = Array.from({ length: 3_999 }, (_, at) => `20.0.${at >> 8}.${at & 255}`);
  const seen = group(ours(allow([80], many), 500));
  const result = mergeSecurityGroup(seen, [fragment("a", [allow([80], ["30.0.0.1", "30.0.0.2"])])]);
  assert.match(result.refused[0]?.rejection.message ?? "", /4001 destinations/);
  assert.equal(result.outcome.kind, "unchanged");
});
