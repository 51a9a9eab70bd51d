/** What one Service asks for, or says about itself, changes nothing that another Service or another cluster has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import type { PublicIP, SecurityRule } from "../model/arm.ts";
import {
  destinationsOf,
  newRule,
  portsOf,
  sharedRuleName,
  sourcesOf,
} from "../resources/security-group/security-rules.ts";
import type { AccessRule } from "../resources/security-group/fragment.ts";
import { APPLIED_ANNOTATION } from "./applied-state.ts";

const NO_FLOATING = { [`${PREFIX}azure-disable-load-balancer-floating-ip`]: "true" };
const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const DENY = { [`${PREFIX}azure-deny-all-except-load-balancer-source-ranges`]: "true" };
const ADDITIONAL = `${PREFIX}azure-additional-public-ips`;
const RANGES = { loadBalancerSourceRanges: ["192.0.2.0/24"] };

function service(name: string, annotations: Readonly<Record<string, string>>, spec: object) {
  return { metadata: { name, annotations }, spec };
}

function rulesOf({ securityGroup }: CoreWorld): readonly SecurityRule[] {
  return securityGroup?.properties.securityRules ?? [];
}

/** What is open or closed at these addresses, one line a rule and address. */
function linesAt(world: CoreWorld, addresses: readonly string[]): readonly string[] {
  return rulesOf(world)
    .flatMap((rule) =>
      destinationsOf(rule)
        .filter((address) => addresses.includes(address))
        .map(
          (address) =>
            `${rule.properties.access} ${rule.properties.protocol} ${sourcesOf(rule).join()} → ${address} ${portsOf(rule).join()}`,
        ),
    )
    .toSorted();
}

/** Rules of another cluster, named as that cluster's controller names them. */
function shareGroup(world: CoreWorld, rules: readonly AccessRule[]): void {
  const { securityGroup } = world;
  assert.ok(securityGroup !== undefined);
  const bodies = rules.map((rule, at) =>
    newRule(rule, { name: sharedRuleName(rule), priority: 600 + at, destinations: rule.destinations }),
  );
  const securityRules = [...rulesOf(world), ...bodies];
  world.securityGroup = { ...securityGroup, properties: { ...securityGroup.properties, securityRules } };
}

const ALLOW = { family: "IPv4", access: "Allow", protocol: "Tcp", sources: ["Internet"] } as const;
const DENY_ALL = { family: "IPv4", access: "Deny", protocol: "*", sources: ["*"], ports: [] } as const;
const THEIR_NODES = ["10.250.0.4", "10.250.0.5"];
const THEIR_ADDRESSES = ["20.99.0.1", "20.99.0.2"];

describe("rules of another cluster on the same security group stay", () => {
  test("when a Service without a floating IP has its node port, comes, changes and goes", () => {
    const world = new CoreWorld();
    const manifest = service("web", NO_FLOATING, { ports: [{ port: 80, nodePort: 30_080 }] });
    shareGroup(world, [
      { ...ALLOW, ports: [30_080], destinations: THEIR_NODES },
      { ...ALLOW, ports: [30_080, 30_081], destinations: THEIR_NODES },
    ]);
    const before = linesAt(world, THEIR_NODES);
    world.apply(manifest);
    world.settle();
    assert.deepEqual(linesAt(world, THEIR_NODES), before, "created");
    world.annotate("web", { [`${PREFIX}azure-disable-load-balancer-floating-ip`]: null });
    world.settle();
    assert.deepEqual(linesAt(world, THEIR_NODES), before, "with a floating IP");
    world.annotate("web", NO_FLOATING);
    world.settle();
    world.delete("web");
    world.settle();
    assert.deepEqual(linesAt(world, THEIR_NODES), before, "deleted");
  });

  const open: readonly AccessRule[] = [
    { ...ALLOW, ports: [80], destinations: THEIR_ADDRESSES },
    { ...DENY_ALL, destinations: THEIR_ADDRESSES },
  ];

  for (const status of ["changing", "0123456789abcdef"]) {
    test(`when the annotation ${APPLIED_ANNOTATION} claims their addresses (${status})`, () => {
      const world = new CoreWorld();
      shareGroup(world, open);
      const before = linesAt(world, THEIR_ADDRESSES);
      world.apply(service("web", {}, { ports: [{ port: 80 }] }));
      world.settle();
      world.annotate("web", { [APPLIED_ANNOTATION]: `${status} addresses=${THEIR_ADDRESSES.join()}` });
      world.settle();
      assert.deepEqual(linesAt(world, THEIR_ADDRESSES), before, "annotated");
      world.annotate("web", { [APPLIED_ANNOTATION]: `${status} addresses=${THEIR_ADDRESSES.join()}` });
      world.delete("web");
      world.settle();
      assert.deepEqual(linesAt(world, THEIR_ADDRESSES), before, "deleted");
    });
  }

  test("when a Service names their address as an additional one, and takes that back", () => {
    const world = new CoreWorld();
    shareGroup(world, open);
    const before = linesAt(world, THEIR_ADDRESSES);
    world.apply(service("web", { [ADDITIONAL]: THEIR_ADDRESSES.join() }, { ports: [{ port: 80 }] }));
    const rejection = world.settle().get("web");
    assert.equal(rejection?.reason, "AddressTaken");
    assert.match(rejection?.message ?? "", /azure-additional-public-ips: "20\.99\.0\.1".*k8s-azure-lb_/);
    world.annotate("web", { [APPLIED_ANNOTATION]: `changing addresses=${THEIR_ADDRESSES.join()}` });
    world.settle();
    assert.deepEqual(linesAt(world, THEIR_ADDRESSES), before, "named");
    world.annotate("web", { [ADDITIONAL]: null });
    world.settle();
    world.delete("web");
    world.settle();
    assert.deepEqual(linesAt(world, THEIR_ADDRESSES), before, "taken back");
  });
});

describe("additional addresses", () => {
  test("are opened under the Service's name, and closed when they go, whatever was said in between", () => {
    const world = new CoreWorld();
    world.apply(service("web", { [ADDITIONAL]: "20.9.9.9" }, { ports: [{ port: 80 }] }));
    assert.deepEqual([...world.settle()], []);
    assert.deepEqual(linesAt(world, ["20.9.9.9"]), ["Allow Tcp Internet → 20.9.9.9 80"]);
    world.annotate("web", { [ADDITIONAL]: null, [APPLIED_ANNOTATION]: null });
    world.settle();
    assert.deepEqual(linesAt(world, ["20.9.9.9"]), []);
  });

  test("of two Services of the cluster may be the same", () => {
    const world = new CoreWorld();
    world.apply(service("web", { [ADDITIONAL]: "20.9.9.9" }, { ports: [{ port: 80 }] }));
    world.apply(service("api", { [ADDITIONAL]: "20.9.9.9" }, { ports: [{ port: 81 }] }));
    assert.deepEqual([...world.settle()], []);
    world.delete("web");
    world.settle();
    assert.deepEqual(linesAt(world, ["20.9.9.9"]), ["Allow Tcp Internet → 20.9.9.9 81"]);
  });

  test("stay open for a Service whose change is refused, whatever the other does there", () => {
    const world = new CoreWorld();
    world.apply(service("web", { [ADDITIONAL]: "20.9.9.9" }, { ports: [{ port: 80 }] }));
    world.apply(service("api", { [ADDITIONAL]: "20.9.9.9" }, { ports: [{ port: 81 }] }));
    world.apply(service("inside", INTERNAL, { ports: [{ port: 80 }] }));
    world.settle();
    const [{ ip: taken = "" } = {}] = world.service("inside").status.loadBalancer.ingress ?? [];
    world.annotate("web", { ...INTERNAL, [ADDITIONAL]: null, [`${PREFIX}azure-load-balancer-ipv4`]: taken });
    assert.equal(world.settle().get("web")?.reason, "PortConflict");
    world.respec("api", { ports: [{ port: 82, protocol: "TCP" }] });
    world.settle();
    const open = ["Allow Tcp Internet → 20.9.9.9 80", "Allow Tcp Internet → 20.9.9.9 82"];
    assert.deepEqual(linesAt(world, ["20.9.9.9"]), open);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-ipv4`]: null });
    world.settle();
    assert.deepEqual(linesAt(world, ["20.9.9.9"]), open.slice(1), "it closes them itself");
  });

  test("are never a node's: its ports are other Services'", () => {
    const world = new CoreWorld();
    const nodes = ["52.0.0.4", "52.0.0.5"];
    world.nodes = nodes.map((address, at) => aNode(`node${at}`, [address]));
    world.apply(service("victim", NO_FLOATING, { ports: [{ port: 80 }] }));
    world.settle();
    const before = linesAt(world, nodes);
    assert.equal(before.length, 2);
    world.apply(service("evil", { [ADDITIONAL]: nodes.join() }, { ports: [{ port: 81 }] }));
    const rejection = world.settle().get("evil");
    assert.equal(rejection?.reason, "AddressTaken");
    assert.match(rejection?.message ?? "", /"52\.0\.0\.4" is the address of node node0/);
    assert.deepEqual(linesAt(world, nodes), before);
    world.delete("evil");
    world.settle();
    assert.deepEqual(linesAt(world, nodes), before);
  });

  test("that a node gets later close nothing of other Services", () => {
    const world = new CoreWorld();
    world.apply(service("evil", { [ADDITIONAL]: "52.0.0.4" }, { ports: [{ port: 81 }] }));
    world.settle();
    world.nodes = [aNode("node0", ["52.0.0.4"])];
    world.apply(service("victim", NO_FLOATING, { ports: [{ port: 80 }] }));
    world.settle();
    const nodePort = world.service("victim").spec.ports[0]?.nodePort;
    const mine = `Allow Tcp Internet → 52.0.0.4 ${nodePort}`;
    assert.ok(linesAt(world, ["52.0.0.4"]).includes(mine));
    world.delete("evil");
    world.settle();
    assert.deepEqual(linesAt(world, ["52.0.0.4"]), [mine]);
  });
});

describe("what a Service denies on an address that it shares", () => {
  const ADDRESS = "10.240.0.77";
  const pinned = (name: string, port: number, annotations: Readonly<Record<string, string>>, spec: object = {}) =>
    service(name, { ...INTERNAL, ...annotations }, { ports: [{ port }], loadBalancerIP: ADDRESS, ...spec });
  const NARROW = ["Allow Tcp 192.0.2.0/24 → 10.240.0.77 9998", "Deny Tcp * → 10.240.0.77 9998"];

  test("are its own ports", () => {
    const world = new CoreWorld();
    world.apply(pinned("victim", 6379, {}));
    world.settle();
    world.apply(pinned("evil", 9998, DENY, RANGES));
    assert.deepEqual([...world.settle()], []);
    assert.deepEqual(linesAt(world, [ADDRESS]), NARROW);
    assert.deepEqual([...world.settle()], []);
    world.delete("evil");
    world.settle();
    assert.deepEqual(linesAt(world, [ADDRESS]), []);
  });

  test("are its own ports from the write on by which another Service comes, and stay denied when that one goes", () => {
    const world = new CoreWorld();
    world.apply(pinned("evil", 9998, DENY, RANGES));
    world.settle();
    assert.deepEqual(linesAt(world, [ADDRESS]), [NARROW[0], "Deny * * → 10.240.0.77 *"]);
    world.apply(pinned("victim", 6379, {}));
    world.settle();
    assert.deepEqual(linesAt(world, [ADDRESS]), NARROW);
    world.delete("victim");
    world.settle();
    assert.deepEqual(linesAt(world, [ADDRESS]), NARROW);
  });

  test("are its own node ports where it has no floating IP", () => {
    const world = new CoreWorld();
    const ports = [{ port: 80, nodePort: 30_080 }];
    world.apply(service("evil", { ...NO_FLOATING, ...DENY }, { ports, ...RANGES }));
    assert.deepEqual([...world.settle()], []);
    assert.deepEqual(linesAt(world, ["10.240.0.4"]), [
      "Allow Tcp 192.0.2.0/24 → 10.240.0.4 30080",
      "Deny Tcp * → 10.240.0.4 30080",
    ]);
  });
});

describe("a public IP", () => {
  const PIP_TAGS = `${PREFIX}azure-pip-tags`;
  const web = service("web", {}, { ports: [{ port: 80 }] });
  const all = (world: CoreWorld): PublicIP[] => [...world.publicIPs.values()].flat();

  test("is not given away by tags that differ in case, and goes with its Service", () => {
    for (const tags of [
      "K8S-AZURE-CLUSTER-NAME=zzz",
      "k8s-azure-cluster-name=other,K8S-AZURE-CLUSTER-NAME=zzz",
      "K8S-azure-SERVICE=default/x",
      "Team=a,TEAM=b",
    ]) {
      const world = new CoreWorld();
      world.apply(service("web", { [PIP_TAGS]: tags }, { ports: [{ port: 80 }] }));
      assert.deepEqual([...world.settle()], [], tags);
      assert.equal(all(world)[0]?.tags?.["k8s-azure-cluster-name"], "kubernetes", tags);
      world.delete("web");
      world.settle();
      assert.deepEqual(all(world), [], tags);
    }
  });

  test("under the Service's name without tags is used, and stays with a word", () => {
    const world = new CoreWorld();
    world.apply(web);
    world.settle();
    world.publicIPs = new Map([["rg", all(world).map((publicIP) => ({ ...publicIP, tags: {} }))]]);
    const settled = world.decide(world.service("web"));
    assert.deepEqual(settled.kind === "settled" && settled.warnings.map(({ reason }) => reason), ["PublicIPNotTagged"]);
    world.delete("web");
    const told: string[] = [];
    for (let round = 0; world.services.has("default/web") && round < 10; round++) {
      const leaving = world.service("web");
      const decision = world.decide(leaving);
      assert.ok(decision.kind === "act");
      told.push(...decision.warnings.map(({ reason, message }) => `${reason}: ${message}`));
      world.write(leaving, decision.steps);
    }
    assert.equal(all(world).length, 1);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? "", /^DeletePublicIPAddress: public IP "kubernetes-a.*" stays .* no tag k8s-azure-service/);
  });

  test("of a person keeps its DNS label and tags", () => {
    const world = new CoreWorld();
    const finance = world.putPublicIP("finance", {
      sku: { name: "Standard" },
      tags: { team: "finance" },
      properties: { publicIPAddressVersion: "IPv4", dnsSettings: { domainNameLabel: "finance" } },
    });
    const annotations = { [`${PREFIX}azure-pip-name`]: "finance", [`${PREFIX}azure-dns-label-name`]: "evil-label" };
    world.apply(service("web", { ...annotations, [PIP_TAGS]: "team=evil" }, { ports: [{ port: 80 }] }));
    assert.equal(world.settle().get("web")?.reason, "DNSLabelConflict");
    assert.deepEqual([all(world), world.loadBalancers], [[finance], []]);
    world.annotate("web", { [`${PREFIX}azure-dns-label-name`]: "finance" });
    assert.deepEqual([...world.settle()], []);
    world.delete("web");
    world.settle();
    assert.deepEqual(all(world), [finance]);
  });
});

describe("a Service that is refused changes nothing in Azure", () => {
  const stateOf = ({ loadBalancers, publicIPs, securityGroup }: CoreWorld) =>
    structuredClone({ loadBalancers, publicIPs: [...publicIPs], securityGroup });
  const ranges = Array.from({ length: 3_990 }, (_, at) => `11.${at >> 8}.${at & 255}.1/32`);
  const many = ranges.slice(0, 20).map((range) => range.replace("11.", "12."));

  for (const [kind, annotations] of [
    ["external", {}],
    ["internal", INTERNAL],
  ] as const) {
    test(`${kind}, where the security group is full; the Service that fills it is named`, () => {
      const world = new CoreWorld();
      world.apply(service("big", {}, { ports: [{ port: 80 }], loadBalancerSourceRanges: ranges }));
      assert.deepEqual([...world.settle()], []);
      const before = stateOf(world);
      world.apply(service("small", annotations, { ports: [{ port: 81 }], loadBalancerSourceRanges: many }));
      const rejection = world.settle().get("small");
      assert.equal(rejection?.reason, "SecurityGroupFull");
      assert.match(
        rejection?.message ?? "",
        /3990 of \d+ sources are in rule "k8s-azure-lb_\w+" \(Service default\/big\)/,
      );
      assert.deepEqual(stateOf(world), before);
    });
  }

  test("where its port is taken on a public IP that it shares", () => {
    const world = new CoreWorld();
    world.apply(service("victim", {}, { ports: [{ port: 80 }] }));
    world.settle();
    const [address = ""] = [...world.publicIPs.values()].flat().map(({ properties }) => properties.ipAddress);
    const before = stateOf(world);
    const pinned = { [`${PREFIX}azure-load-balancer-ipv4`]: address };
    world.apply(service("evil", pinned, { ports: [{ port: 80 }] }));
    assert.equal(world.settle().get("evil")?.reason, "PortConflict");
    assert.deepEqual(stateOf(world), before);
  });
});

test("what a Service has open at the nodes stays while its change is refused, whatever another Service without a floating IP decides", () => {
  const world = new CoreWorld();
  world.apply(service("web", NO_FLOATING, { ports: [{ port: 80, nodePort: 30_080 }] }));
  world.apply(service("shop", NO_FLOATING, { ports: [{ port: 81, nodePort: 30_081 }] }));
  world.settle();
  const before = rulesOf(world);
  world.annotate("web", { [`${PREFIX}azure-disable-load-balancer-floating-ip`]: null });
  assert.equal(world.decide(world.service("shop")).kind, "settled");
  assert.equal(rulesOf(world), before);
  world.settle();
  assert.deepEqual(
    rulesOf(world).filter(({ properties }) => properties.destinationPortRanges?.includes("30080")),
    [],
    "it closes them itself",
  );
});
