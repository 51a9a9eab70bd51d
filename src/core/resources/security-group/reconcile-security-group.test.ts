import assert from "node:assert/strict";
import { test } from "node:test";
import { FINALIZER } from "../../intent/ownership.ts";
import { aPort, aService, CONFIG, type ServiceShape } from "../../../../test/support/core-fixtures.ts";
import { aFrontend, aLoadBalancer, aRule } from "../../../../test/support/fragments.ts";
import { intentOf } from "../../../../test/support/parsed-service.ts";
import type { PublicIP, SecurityGroup, SecurityRule } from "../../model/arm.ts";
import type { Service } from "../../model/kubernetes.ts";
import { ownerOf } from "../../intent/ownership.ts";
import type { Observed } from "../../observed.ts";
import type { AccessRule, ServiceAddresses } from "./fragment.ts";
import { mergeSecurityGroup } from "./merge-security-group.ts";
import type { Reconciled } from "../reconciled.ts";
import { reconcileSecurityGroup, releaseSecurityGroup } from "./reconcile-security-group.ts";
import { destinationsOf, newRule, portsOf, sharedRuleName, sourcesOf } from "./security-rules.ts";

type World = Pick<
  Observed,
  "config" | "otherServices" | "listed" | "securityGroup" | "nodes" | "loadBalancers" | "members"
>;

const EMPTY: SecurityGroup = { id: "/nsg", name: "nsg", properties: { securityRules: [] } };
const NODES: ServiceAddresses["nodes"] = { IPv4: ["10.240.0.4", "10.240.0.5"], IPv6: [] };
const NO_FLOATING = { "azure-disable-load-balancer-floating-ip": "true" };
const INTERNAL = { "azure-load-balancer-internal": "true" };

function world(securityGroup: SecurityGroup | undefined, ...otherServices: readonly Service[]): World {
  const cluster = { nodes: [], loadBalancers: [], members: new Map<string, readonly string[]>() };
  return { config: CONFIG, otherServices, listed: {}, securityGroup, ...cluster };
}

function at(address: string, more: Partial<ServiceAddresses> = {}): ServiceAddresses {
  return { current: { IPv4: address === "" ? [] : [address], IPv6: [] }, released: [], nodes: NODES, ...more };
}

function reconcile(
  seen: World,
  service: Service,
  addresses: ServiceAddresses,
  changed = true,
): Reconciled<"securityGroup"> {
  return reconcileSecurityGroup({ ...seen, service }, intentOf(service), addresses, { changed });
}

function release(seen: World, service: Service, addresses: ServiceAddresses): Reconciled<"securityGroup"> {
  return releaseSecurityGroup({ ...seen, service }, ownerOf(service), addresses);
}

/** The group after what was decided. */
function applied({ securityGroup }: World, decision: Reconciled<"securityGroup">): SecurityGroup {
  assert.ok(securityGroup !== undefined);
  if (decision.kind === "settled") return securityGroup;
  assert.ok(decision.kind === "act", JSON.stringify(decision));
  const { outcome } = mergeSecurityGroup(
    securityGroup,
    decision.steps.map(({ fragment }) => fragment),
  );
  assert.ok(outcome.kind === "put", outcome.kind);
  return outcome.body;
}

const line = (rule: SecurityRule): string =>
  `${rule.properties.access} ${sourcesOf(rule).join()} → ${destinationsOf(rule).join()} ${portsOf(rule).join()}`;
const lines = (group: SecurityGroup): readonly string[] => (group.properties.securityRules ?? []).map(line);

/** All of these Services, one after the other, each knowing the others. */
function built(...services: readonly (readonly [Service, string])[]): SecurityGroup {
  const everyone = services.map(([service]) => service);
  return services.reduce((group, [service, address]) => {
    const seen = world(group, ...everyone);
    return applied(seen, reconcile(seen, service, at(address)));
  }, EMPTY);
}

const web = (shape: ServiceShape = {}): Service => aService({ ingress: ["20.0.0.1"], ...shape });

test("a new Service is opened, and then settled", () => {
  const group = built([web(), "20.0.0.1"]);
  assert.deepEqual(lines(group), ["Allow Internet → 20.0.0.1 80"]);
  assert.equal(reconcile(world(group), web(), at("20.0.0.1")).kind, "settled");
});

test("an address that it gives up is closed", () => {
  const group = built([web(), "20.0.0.1"]);
  const flipped = web({ annotations: INTERNAL });
  const decision = reconcile(world(group), flipped, at("10.240.0.9", { released: ["20.0.0.1"] }));
  assert.deepEqual(lines(applied(world(group), decision)), []);
});

test("a missing group refuses Services that need it, and no others", () => {
  const missing = world(undefined);
  const decision = reconcile(missing, web(), at("20.0.0.1"));
  assert.equal(decision.kind === "reject" && decision.rejection.reason, "SecurityGroupMissing");
  assert.equal(reconcile(missing, web({ annotations: INTERNAL }), at("10.240.0.9")).kind, "settled");
  assert.equal(release(missing, web(), at("20.0.0.1")).kind, "settled");
});

test("a Service that leaves takes its rules along, those of old too", () => {
  const service = web();
  const { base } = ownerOf(service);
  const old: SecurityRule = {
    name: `${base}-TCP-80-Internet`,
    properties: {
      protocol: "Tcp",
      access: "Allow",
      direction: "Inbound",
      priority: 600,
      destinationAddressPrefix: "*",
    },
  };
  const group = built([service, "20.0.0.1"]);
  const withOld = { ...group, properties: { securityRules: [...(group.properties.securityRules ?? []), old] } };
  const seen = world(withOld);
  assert.equal(reconcile(seen, service, at("20.0.0.1"), false).kind, "settled", "a take-over writes nothing");
  assert.equal(reconcile(seen, service, at("20.0.0.1")).kind, "act", "its next change cleans up");
  assert.deepEqual(lines(applied(seen, release(seen, service, at("20.0.0.1")))), []);
});

test("rules of its own come with its next change", () => {
  const group = built([web(), "20.0.0.1"]);
  const own = web({ annotations: { "azure-shared-securityrule": "false" } });
  assert.equal(reconcile(world(group), own, at("20.0.0.1"), false).kind, "settled");
  const moved = applied(world(group), reconcile(world(group), own, at("20.0.0.1")));
  assert.match(moved.properties.securityRules?.[0]?.name ?? "", new RegExp(`_${ownerOf(own).base}_allow_`));
  assert.equal(reconcile(world(moved), own, at("20.0.0.1"), false).kind, "settled");
  assert.deepEqual(lines(applied(world(moved), reconcile(world(moved), web(), at("20.0.0.1")))), lines(group));
});

test("what is open in another way than it wants is put right even when it has not changed", () => {
  const group = built([web(), "20.0.0.1"]);
  const narrowed = web({ spec: { loadBalancerSourceRanges: ["1.2.3.0/24"] } });
  assert.equal(reconcile(world(group), narrowed, at("20.0.0.1"), false).kind, "act");
});

/** Bears the finalizer, as every Service does before its first write. */
function held(service: Service): Service {
  return { ...service, metadata: { ...service.metadata, finalizers: [FINALIZER] } };
}

const guarded = (more: ServiceShape = {}): Service =>
  web({
    name: "guarded",
    annotations: { "azure-deny-all-except-load-balancer-source-ranges": "true" },
    spec: { loadBalancerSourceRanges: ["1.2.3.0/24"] },
    ...more,
  });
const second = (more: ServiceShape = {}): Service =>
  held(aService({ name: "second", spec: { ports: [aPort(81)], loadBalancerIP: "20.0.0.1" }, ...more }));
const BOTH = ["Allow 1.2.3.0/24 → 20.0.0.1 80", "Deny * → 20.0.0.1 80", "Allow Internet → 20.0.0.1 81"];

test("a denial stays when a Service that shares the address comes, changes and goes", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  assert.deepEqual(lines(group), BOTH);
  const seen = world(group, guarded(), second());
  assert.equal(reconcile(seen, second(), at("20.0.0.1")).kind, "settled");
  assert.deepEqual(lines(applied(seen, release(seen, second(), at("20.0.0.1")))), BOTH.slice(0, 2));
  assert.deepEqual(lines(applied(seen, release(seen, guarded(), at("20.0.0.1")))), BOTH.slice(2));
});

test("who is about to share an address by pinning it counts before its status says so", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  assert.equal(reconcile(world(group, guarded(), second()), guarded(), at("20.0.0.1")).kind, "settled");
});

test("one that pins it and was refused before its first write keeps nothing open", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  const refused = { ...second(), metadata: { ...second().metadata, finalizers: [] } };
  const seen = world(group, guarded(), refused);
  assert.deepEqual(lines(applied(seen, reconcile(seen, guarded(), at("20.0.0.1")))), [
    "Allow 1.2.3.0/24 → 20.0.0.1 80",
    "Deny * → 20.0.0.1 *",
  ]);
});

test("one that was refused after its first write keeps what it has, though neither status nor spec name the address", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  const annotations = { "azure-load-balancer-tcp-idle-timeout": "soon" };
  const refused = held(aService({ name: "second", annotations, spec: { ports: [aPort(443)] } }));
  const tags = { "k8s-azure-service": "default/guarded,default/second" };
  const shared: PublicIP = { id: "/pip", name: "pip", tags, properties: { ipAddress: "20.0.0.1" } };
  const seen = { ...world(group, guarded(), refused), listed: { publicIP: new Map([["rg", [shared]]]) } };
  assert.equal(reconcile(seen, guarded(), at("20.0.0.1")).kind, "settled");
  const others: PublicIP = { ...shared, tags: { "k8s-azure-service": "default/guarded" } };
  const untagged = { ...seen, listed: { publicIP: new Map([["rg", [others]]]) } };
  assert.equal(reconcile(untagged, guarded(), at("20.0.0.1")).kind, "act", "it never came to this address");
});

test("so does who names the public IP", () => {
  const named = second({ annotations: { "azure-pip-name": "mine" }, spec: { ports: [aPort(81)] } });
  const mine: PublicIP = { id: "/pip", name: "Mine", properties: { ipAddress: "20.0.0.1" } };
  const seen = { ...world(EMPTY, guarded(), named), listed: { publicIP: new Map([["rg", [mine]]]) } };
  const group = applied(seen, reconcile(seen, named, at("20.0.0.1")));
  const again = { ...seen, securityGroup: group };
  assert.deepEqual(lines(applied(again, reconcile(again, guarded(), at("20.0.0.1")))).toSorted(), BOTH.toSorted());
});

test("who is being deleted wants nothing any more", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  const leaving = second({ ingress: ["20.0.0.1"] });
  const deleted = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const seen = world(group, guarded(), deleted);
  const alone = ["Allow 1.2.3.0/24 → 20.0.0.1 80", "Deny * → 20.0.0.1 *"];
  assert.deepEqual(lines(applied(seen, reconcile(seen, guarded(), at("20.0.0.1")))), alone);
});

test("an address shared with a Service that cannot be read is left alone", () => {
  const group = built([guarded(), "20.0.0.1"], [second(), "20.0.0.1"]);
  const unreadable = guarded({ annotations: { "azure-load-balancer-tcp-idle-timeout": "soon" } });
  const seen = world(group, unreadable, second());
  assert.equal(release(seen, second(), at("20.0.0.1")).kind, "settled");
});

test("what another Service still serves at the address stays open, though it asks for other ports: Azure may refuse its change", () => {
  const first = web({ name: "first" });
  const group = built([first, "20.0.0.1"], [second(), "20.0.0.1"]);
  const frontend = aFrontend("shared", "pip");
  const pip: PublicIP = {
    id: frontend.properties.publicIPAddress?.id ?? "",
    name: "pip",
    properties: { ipAddress: "20.0.0.1" },
  };
  const changed = second({ ingress: ["20.0.0.1"], spec: { ports: [aPort(82)], loadBalancerIP: "20.0.0.1" } });
  const seen = { ...world(group, first, changed), listed: { publicIP: new Map([["rg", [pip]]]) } };
  const serving = (port: number, protocol?: string): World => {
    const rules = [aRule(`${ownerOf(changed).base}-81`, "shared", port, protocol)];
    return { ...seen, loadBalancers: [aLoadBalancer({ frontends: [frontend], rules })] };
  };
  assert.equal(reconcile(serving(81), first, at("20.0.0.1")).kind, "settled");
  for (const other of [seen, serving(82), serving(81, "Udp")])
    assert.deepEqual(lines(applied(other, reconcile(other, first, at("20.0.0.1")))), ["Allow Internet → 20.0.0.1 80"]);
  const own = serving(81);
  assert.ok(!lines(applied(own, reconcile(own, changed, at("20.0.0.1")))).includes("Allow Internet → 20.0.0.1 81"));
});

const low = (name: string, port: number, annotations: ServiceShape["annotations"] = NO_FLOATING): Service =>
  aService({ name, annotations, spec: { ports: [aPort(port)] }, ingress: [`20.0.0.${port % 256}`] });

test("without a floating IP Services share the nodes and keep each other's ports", () => {
  const [one, two] = [low("one", 80), low("two", 81)];
  const group = built([one, "20.0.0.80"], [two, "20.0.0.81"]);
  assert.deepEqual(lines(group), [
    "Allow Internet → 10.240.0.4,10.240.0.5 30080",
    "Allow Internet → 10.240.0.4,10.240.0.5 30081",
  ]);
  const seen = world(group, one, two);
  assert.equal(reconcile(seen, one, at("20.0.0.80")).kind, "settled");
  assert.deepEqual(lines(applied(seen, release(seen, one, at("20.0.0.80")))), [
    "Allow Internet → 10.240.0.4,10.240.0.5 30081",
  ]);
});

test("a node that came is opened, one that left is closed", () => {
  const one = low("one", 80);
  const group = built([one, "20.0.0.80"]);
  const nodes = { IPv4: ["10.240.0.5", "10.240.0.6"], IPv6: [] };
  const decision = reconcile(world(group, one), one, at("20.0.0.80", { nodes, released: ["10.240.0.4"] }), false);
  assert.deepEqual(lines(applied(world(group), decision)), ["Allow Internet → 10.240.0.5,10.240.0.6 30080"]);
});

test("a node that went unseen is closed too, by a look and by the Service's deletion", () => {
  const one = low("one", 80);
  const group = built([one, "20.0.0.80"]);
  const nodes = { IPv4: ["10.240.0.5"], IPv6: [] };
  const seen = world(group, one);
  const decision = reconcile(seen, one, at("20.0.0.80", { nodes }), false);
  assert.deepEqual(lines(applied(seen, decision)), ["Allow Internet → 10.240.0.5 30080"]);
  assert.deepEqual(lines(applied(seen, release(seen, one, at("20.0.0.80", { nodes })))), []);
});

test("a node that went unseen is closed too when the Service has lost another of its ports meanwhile", () => {
  const two = aService({ name: "one", annotations: NO_FLOATING, spec: { ports: [aPort(80), aPort(81)] } });
  const group = built([two, "20.0.0.80"]);
  const one = low("one", 80, {});
  const seen = world(group, one);
  const nodes = { IPv4: ["10.240.0.5"], IPv6: [] };
  const decision = reconcile(seen, one, at("20.0.0.80", { nodes }));
  assert.deepEqual(lines(applied(seen, decision)), ["Allow Internet → 20.0.0.80 80"]);
});

test("a Service that leaves the nodes keeps open what another opened there for a family that it has not published yet", () => {
  const nodes: ServiceAddresses["nodes"] = { IPv4: ["10.240.0.4"], IPv6: ["fd00::4"] };
  const spec = { ports: [{ ...aPort(80), nodePort: 30_080 }], ipFamilies: ["IPv4", "IPv6"] } as const;
  const dual = aService({ name: "dual", annotations: NO_FLOATING, ingress: ["20.0.0.80"], spec });
  const leaving = aService({ name: "leaving", annotations: NO_FLOATING, ingress: ["20.0.0.81"] });
  const both = { current: { IPv4: ["20.0.0.80"], IPv6: ["2603::80"] }, released: [], nodes };
  const empty = world(EMPTY, dual, leaving);
  const group = applied(empty, reconcile(empty, dual, both));
  const opened = ["Allow Internet → 10.240.0.4 30080", "Allow Internet → fd00::4 30080"];
  assert.deepEqual(lines(group), opened);
  const seen = world(group, dual, leaving);
  const decision = release(seen, leaving, at("20.0.0.81", { nodes }));
  assert.deepEqual(decision.kind === "settled" ? opened : lines(applied(seen, decision)), opened);
});

test("a node port that changed is closed, and so is one when the floating IP comes back", () => {
  const one = low("one", 80);
  const group = built([one, "20.0.0.80"]);
  const moved = low("one", 90);
  const seen = world(group, moved);
  assert.deepEqual(lines(applied(seen, reconcile(seen, moved, at("20.0.0.80")))), [
    "Allow Internet → 10.240.0.4,10.240.0.5 30090",
  ]);
  const floating = low("one", 80, {});
  const back = world(group, floating);
  assert.deepEqual(lines(applied(back, reconcile(back, floating, at("20.0.0.80")))), ["Allow Internet → 20.0.0.80 80"]);
});

test("a Service whose rules are left to people has them cleaned up once", () => {
  const group = built([web(), "20.0.0.1"]);
  const free = web({ annotations: { "azure-disable-load-balancer-nsg-rule": "true" } });
  assert.deepEqual(lines(applied(world(group), reconcile(world(group), free, at("20.0.0.1")))), []);
});

test("what the incumbent has written may stand until the Service changes", () => {
  const shared = (
    access: "Allow" | "Deny",
    ports: readonly number[],
    destinations: readonly string[],
  ): SecurityRule => {
    const meaning =
      access === "Allow" ? { protocol: "Tcp", sources: ["1.2.3.0/24"] } : { protocol: "*", sources: ["*"] };
    const rule: AccessRule = { family: "IPv4", access, ports, destinations, ...meaning };
    return newRule(rule, { name: sharedRuleName(rule), priority: 500 + ports.length, destinations });
  };
  const of = (...securityRules: readonly SecurityRule[]): SecurityGroup => ({
    ...EMPTY,
    properties: { securityRules },
  });
  const denies = { "azure-deny-all-except-load-balancer-source-ranges": "true" };
  const more = guarded({
    annotations: { ...denies, "azure-additional-public-ips": "20.9.9.9" },
    ingress: ["20.0.0.1", "20.9.9.9"],
  });
  const additional = of(shared("Allow", [80], ["20.0.0.1", "20.9.9.9"]), shared("Deny", [], ["20.0.0.1", "20.9.9.9"]));
  const nodes = ["10.240.0.4", "10.240.0.5"];
  const onNodes = of(shared("Allow", [30_080], nodes), shared("Deny", [], nodes));
  const low = guarded({ annotations: { ...denies, ...NO_FLOATING } });
  const sharing = of(shared("Allow", [80], ["20.0.0.1"]), shared("Deny", [], ["20.0.0.1"]));
  const cases: readonly (readonly [SecurityGroup, Service, readonly Service[], readonly string[]])[] = [
    [
      additional,
      more,
      [],
      [
        "Allow 1.2.3.0/24 → 20.0.0.1 80",
        "Deny * → 20.0.0.1 *",
        "Allow 1.2.3.0/24 → 20.9.9.9 80",
        "Deny * → 20.9.9.9 *",
      ],
    ],
    [onNodes, low, [], ["Allow 1.2.3.0/24 → 10.240.0.4,10.240.0.5 30080", "Deny * → 10.240.0.4,10.240.0.5 30080"]],
    [
      sharing,
      guarded(),
      [second({ ingress: ["20.0.0.1"] })],
      ["Allow 1.2.3.0/24 → 20.0.0.1 80", "Deny * → 20.0.0.1 80"],
    ],
  ];
  for (const [group, service, others, changed] of cases) {
    const seen = world(group, service, ...others);
    assert.equal(reconcile(seen, service, at("20.0.0.1"), false).kind, "settled");
    const after = applied(seen, reconcile(seen, service, at("20.0.0.1")));
    assert.deepEqual(lines(after), changed);
    assert.equal(reconcile(world(after, service, ...others), service, at("20.0.0.1"), false).kind, "settled");
  }
});

test("additional addresses are opened, and closed when they go", () => {
  const more = web({ annotations: { "azure-additional-public-ips": "20.9.9.9" }, ingress: ["20.0.0.1", "20.9.9.9"] });
  const group = built([more, "20.0.0.1"]);
  assert.deepEqual(lines(group), ["Allow Internet → 20.0.0.1 80", "Allow Internet → 20.9.9.9 80"]);
  const decision = reconcile(world(group), web(), at("20.0.0.1", { released: ["20.9.9.9"] }));
  assert.deepEqual(lines(applied(world(group), decision)), ["Allow Internet → 20.0.0.1 80"]);
});
