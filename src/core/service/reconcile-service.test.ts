import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aService, CONFIG, PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import { aFragment } from "../../../test/support/fragments.ts";
import type { LoadBalancer } from "../model/arm.ts";
import { mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { AzureStep, Decision, Step } from "../steps.ts";
import { withListed } from "../resources/observed-azure.ts";
import { destinationsOf } from "../resources/security-group/security-rules.ts";
import { APPLIED_ANNOTATION, isApplied } from "./applied-state.ts";
import { FINALIZER, ownerOf } from "../intent/ownership.ts";
import type { Rejection } from "../outcome.ts";
import type { Observed } from "../observed.ts";
import { publicIPGroups, publishedIngress, reconcileService } from "./reconcile-service.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const NO_LONGER_INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: null };
const web = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };

/** Every round of one Service until it is settled, each as the steps it took. */
function story(world: CoreWorld, name: string): string[] {
  const rounds: string[] = [];
  for (let round = 0; round < 30; round++) {
    const service = world.services.get(`default/${name}`);
    if (service === undefined) return [...rounds, "gone"];
    const decision = world.decide(service);
    if (decision.kind !== "act")
      return [...rounds, decision.kind === "reject" ? decision.rejection.reason : decision.kind];
    rounds.push(decision.steps.map(wordOf).join(" + "));
    world.write(service, decision.steps);
  }
  return assert.fail(`no end: ${rounds.join(", ")}`);
}

function rejectionOf(world: CoreWorld, name: string): Rejection {
  const decision = world.decide(world.service(name));
  return decision.kind === "reject" ? decision.rejection : assert.fail(`${name} is not rejected`);
}

function wordOf(step: Step): string {
  if (!("id" in step)) return step.kind;
  const target = step.id.split("/").at(step.kind === "backendPool" ? -3 : -1);
  return `${step.kind} ${target}`;
}

function lastSteps(decision: Decision): readonly Step[] {
  return decision.kind === "act" ? decision.steps : [];
}

function worldWith(manifest: Parameters<CoreWorld["apply"]>[0] = web, config: Partial<ClusterConfig> = {}): CoreWorld {
  const world = new CoreWorld(config);
  world.apply(manifest);
  return world;
}

const ingressOf = (world: CoreWorld, name = "web") => world.service(name).status.loadBalancer.ingress ?? [];
const pipOf = (world: CoreWorld, name = "web"): string =>
  `kubernetes-${[...world.known.values()].find((one) => one.name === name)?.base}`;
const pips = (world: CoreWorld): string[] => [...world.publicIPs.values()].flat().map(({ name }) => name);
const loadBalancers = (world: CoreWorld): string[] => world.loadBalancers.map(({ name }) => name);

describe("a Service comes and goes", () => {
  test("external: finalizer, public IP, load balancer, pool and access, status with the mark", () => {
    const world = worldWith();
    assert.deepEqual(story(world, "web"), [
      "addFinalizer",
      `publicIP ${pipOf(world)}`,
      "loadBalancer kubernetes + securityGroup nsg",
      "backendPool kubernetes",
      "updateStatus",
      "settled",
    ]);
    assert.equal(ingressOf(world)[0]?.ipMode, "VIP");
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("internal: no public IP, and the address that Azure gave", () => {
    const world = worldWith({ ...web, metadata: { name: "web", annotations: INTERNAL } });
    assert.deepEqual(story(world, "web"), [
      "addFinalizer",
      "loadBalancer kubernetes-internal",
      "backendPool kubernetes-internal",
      "updateStatus",
      "settled",
    ]);
    assert.match(ingressOf(world)[0]?.ip ?? "", /^10\.240\./);
  });

  test("deleted: access, load balancer, public IP, finalizer", () => {
    const world = worldWith();
    world.settle();
    world.delete("web");
    const pip = pipOf(world);
    assert.deepEqual(story(world, "web"), [
      "securityGroup nsg",
      "loadBalancer kubernetes",
      `publicIP ${pip}`,
      "removeFinalizer",
      "gone",
    ]);
    assert.deepEqual([loadBalancers(world), pips(world)], [[], []]);
  });

  test("no LoadBalancer any more: the same, and its status is cleared", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { type: "ClusterIP" });
    assert.deepEqual(story(world, "web").slice(-3), ["updateStatus", "removeFinalizer", "settled"]);
    assert.deepEqual(ingressOf(world), []);
    assert.equal(world.service("web").metadata.annotations?.[APPLIED_ANNOTATION], undefined);
  });

  test("a security group or load balancer that somebody has removed stops no deletion", () => {
    const world = worldWith();
    world.settle();
    world.securityGroup = undefined;
    world.loadBalancers = [];
    world.delete("web");
    assert.deepEqual(story(world, "web").at(-1), "gone");
    assert.deepEqual(pips(world), []);
  });

  test("a Service that cannot be read has nothing made, and can be deleted all the same", () => {
    const bad = { [`${PREFIX}azure-load-balancer-tcp-idle-timeout`]: "3" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations: bad } });
    assert.deepEqual(story(world, "web").length, 1);
    assert.deepEqual(pips(world), []);
    const later = worldWith();
    later.settle();
    later.annotate("web", bad);
    later.delete("web");
    assert.equal(story(later, "web").at(-1), "gone");
  });

  test("a resource group that does not exist: refused by name and key; what it has is found where it is, and deleted", () => {
    const key = `${PREFIX}azure-load-balancer-resource-group`;
    const world = worldWith();
    world.settle();
    world.annotate("web", { [key]: "Other-RG" });
    const unseen = (): Observed => {
      const observed = world.observe(world.service("web"));
      return {
        ...observed,
        listed: withListed(observed.listed, "publicIP", "other-rg", []),
        missingGroups: new Set(["other-rg"]),
      };
    };
    const refused = reconcileService(unseen());
    assert.ok(refused.kind === "reject", refused.kind);
    assert.equal(refused.rejection.reason, "ResourceGroupNotFound");
    assert.match(refused.rejection.message, new RegExp(`${key}: resource group "Other-RG" does not exist`));
    world.delete("web");
    for (let round = 0; round < 9 && world.services.size > 0; round++) {
      world.write(world.service("web"), lastSteps(reconcileService(unseen())));
    }
    assert.deepEqual([world.services.size, loadBalancers(world), pips(world)], [0, [], []]);
  });

  test("an internal Service needs no resource group for public IPs", () => {
    const annotations = {
      [`${PREFIX}azure-load-balancer-internal`]: "true",
      [`${PREFIX}azure-load-balancer-resource-group`]: "nowhere",
    };
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    world.settle();
    const missingGroups = new Set(["nowhere"]);
    assert.equal(reconcileService({ ...world.observe(world.service("web")), missingGroups }).kind, "settled");
  });

  test("of another class: not ours, and left alone", () => {
    const world = worldWith({ ...web, spec: { ...web.spec, loadBalancerClass: "other" } });
    assert.deepEqual(story(world, "web"), ["settled"]);
  });
});

describe("a Service changes", () => {
  test("a change is announced, applied and marked; nothing else is written", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { sessionAffinity: "ClientIP" });
    assert.deepEqual(story(world, "web"), ["updateStatus", "loadBalancer kubernetes", "updateStatus", "settled"]);
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("a change back in the middle is not taken for drift", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { sessionAffinity: "ClientIP" });
    const service = world.service("web");
    world.write(service, lastSteps(world.decide(service)));
    world.respec("web", { sessionAffinity: "None" });
    assert.ok(!isApplied(world.service("web"), world.config));
    assert.deepEqual(story(world, "web"), ["updateStatus", "settled"]);
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("an address that was opened but never told is closed before the frontend moves to another", () => {
    const world = worldWith({
      metadata: { name: "web", annotations: INTERNAL },
      spec: { ports: [{ port: 80 }], loadBalancerSourceRanges: ["10.0.0.0/8"] },
    });
    for (const told of ["addFinalizer", "loadBalancer", "securityGroup"]) {
      const service = world.service("web");
      const steps = lastSteps(world.decide(service)).filter(({ kind }) => kind === told);
      assert.equal(steps.length, 1, told);
      world.write(service, steps);
    }
    assert.equal(world.securityGroup?.properties.securityRules?.length, 2);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-ipv4`]: "10.240.200.6" });
    assert.equal(story(world, "web").at(-1), "settled");
    const opened = (world.securityGroup?.properties.securityRules ?? []).slice(1).flatMap(destinationsOf);
    assert.deepEqual(opened, ["10.240.200.6"]);
  });

  test("external to internal: the new side is published before the old one goes, and nothing stays", () => {
    const world = worldWith();
    world.settle();
    const pip = pipOf(world);
    world.annotate("web", INTERNAL);
    assert.deepEqual(story(world, "web"), [
      "updateStatus",
      "loadBalancer kubernetes-internal",
      "backendPool kubernetes-internal",
      "updateStatus",
      "securityGroup nsg",
      "loadBalancer kubernetes",
      `publicIP ${pip}`,
      "updateStatus",
      "settled",
    ]);
    assert.deepEqual([loadBalancers(world), pips(world)], [["kubernetes-internal"], []]);
    assert.equal(world.securityGroup?.properties.securityRules?.length, 1);
  });

  test("and back again", () => {
    const world = worldWith({ ...web, metadata: { name: "web", annotations: INTERNAL } });
    world.settle();
    world.annotate("web", NO_LONGER_INTERNAL);
    const rounds = story(world, "web");
    assert.ok(rounds.indexOf("loadBalancer kubernetes") < rounds.indexOf("loadBalancer kubernetes-internal"));
    assert.deepEqual(loadBalancers(world), ["kubernetes"]);
  });

  test("from two families to one: the public IP of the other goes too", () => {
    const world = worldWith({ ...web, spec: { ...web.spec, ipFamilies: ["IPv4", "IPv6"] } });
    world.settle();
    assert.equal(pips(world).length, 2);
    world.respec("web", { ipFamilies: ["IPv4"] });
    world.settle();
    assert.deepEqual(pips(world), [pipOf(world)]);
  });

  test("other IP tags: the public IP is replaced, closed and detached first", () => {
    const world = worldWith();
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-pip-ip-tags`]: "RoutingPreference=Internet" });
    const pip = `publicIP ${pipOf(world)}`;
    assert.deepEqual(story(world, "web").slice(0, 5), [
      "updateStatus",
      "securityGroup nsg",
      "loadBalancer kubernetes",
      pip,
      pip,
    ]);
    assert.deepEqual([...world.publicIPs.values()].flat()[0]?.properties.ipTags, [
      { ipTagType: "RoutingPreference", tag: "Internet" },
    ]);
  });

  test("public IPs move to another resource group, and back, and none is left behind even after a crash", () => {
    const world = worldWith({
      ...web,
      metadata: { name: "web", annotations: { [`${PREFIX}azure-load-balancer-resource-group`]: "far" } },
    });
    world.settle();
    assert.equal(world.publicIPs.get("far")?.length, 1);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-resource-group`]: "further" });
    for (let round = 0; round < 4; round++)
      world.write(world.service("web"), lastSteps(world.decide(world.service("web"))));
    // The controller starts anew and has not looked anywhere but where the Service itself leads it.
    world.forget();
    world.settle();
    assert.deepEqual([world.publicIPs.get("far")?.length, world.publicIPs.get("further")?.length], [0, 1]);
  });

  test("Basic: to another VM set's load balancer, with its address: the old one is left first", () => {
    const providerID = (set: string): string =>
      `azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/0`;
    const world = worldWith(web, { sku: "basic", poolType: "nodeIPConfiguration", primaryVmSet: "as-1" });
    world.nodes = ["as-1", "as-2"].map((set, at) =>
      aNode(`node-${at}`, [`10.240.0.${at + 4}`], { providerID: providerID(set) }),
    );
    world.settle();
    const address = ingressOf(world);
    world.annotate("web", { [`${PREFIX}azure-load-balancer-mode`]: "as-2" });
    const rounds = story(world, "web");
    assert.ok(rounds.indexOf("loadBalancer kubernetes") < rounds.indexOf("loadBalancer as-2"));
    assert.deepEqual([loadBalancers(world), ingressOf(world)], [["as-2"], address]);
  });
});

/** Annotations that share the other Service's address. */
function pinned(world: CoreWorld, to: string): Record<string, string> {
  return { [`${PREFIX}azure-load-balancer-ipv4`]: ingressOf(world, to)[0]?.ip ?? "" };
}

describe("several Services", () => {
  test("share an address; the frontend and the public IP live as long as the last of them", () => {
    const world = worldWith();
    world.settle();
    world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    assert.deepEqual(ingressOf(world, "shop"), ingressOf(world));
    world.delete("web");
    world.settle();
    assert.equal(world.loadBalancers[0]?.properties.frontendIPConfigurations?.length, 1);
    assert.equal(pips(world).length, 1);
    world.delete("shop");
    world.settle();
    assert.deepEqual([loadBalancers(world), pips(world)], [[], []]);
  });

  test("one that leaves a shared frontend is not told that it stays: the other may leave in the same write", () => {
    const world = worldWith();
    world.annotate("web", { [`${PREFIX}azure-load-balancer-internal`]: "true" });
    world.settle();
    const annotations = { [`${PREFIX}azure-load-balancer-internal`]: "true", ...pinned(world, "web") };
    world.apply({ metadata: { name: "shop", annotations }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-load-balancer-internal-subnet`]: "subnet2" });
    const told: string[] = [];
    let decision = world.decide(world.service("web"));
    assert.equal(decision.kind, "act");
    for (; decision.kind === "act"; decision = world.decide(world.service("web"))) {
      told.push(...decision.warnings.map(({ reason }) => reason));
      world.write(world.service("web"), decision.steps);
    }
    assert.deepEqual(told, []);
    assert.equal(world.loadBalancers[0]?.properties.frontendIPConfigurations?.length, 2, "the old one stays");
  });

  test("one that asks for a taken port is rejected with the reason, and opens nothing", () => {
    const world = worldWith();
    world.settle();
    const before = world.securityGroup;
    world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 80 }] } });
    assert.equal(story(world, "shop").at(-1), "PortConflict");
    assert.equal(world.securityGroup, before);
    assert.equal(
      rejectionOf(world, "shop").message,
      "TCP port 80 is taken on the address that it shares by Service default/web: use another port in spec.ports, or another address",
    );
  });
});

describe("ports of a shared address", () => {
  const noRule = { [`${PREFIX}port_5432_no_lb_rule`]: "true" };
  const ranges = { loadBalancerSourceRanges: ["203.0.113.0/24"] };

  test("a port without a rule opens nothing that another Service there restricts", () => {
    const world = worldWith({ ...web, spec: { ports: [{ port: 5432 }], ...ranges } });
    world.settle();
    const before = world.securityGroup;
    const spec = { ports: [{ port: 9999 }, { port: 5432 }] };
    world.apply({ metadata: { name: "thief", annotations: { ...pinned(world, "web"), ...noRule } }, spec });
    assert.equal(story(world, "thief").at(-1), "PortConflict");
    assert.equal(world.securityGroup, before);
    assert.deepEqual(ingressOf(world, "thief"), []);
  });

  test("a restricted port does not join an address where another Service opens it without a rule", () => {
    const opener = { ...web, metadata: { name: "web", annotations: noRule } };
    const world = worldWith({ ...opener, spec: { ports: [{ port: 80 }, { port: 5432 }] } });
    world.settle();
    world.apply({
      metadata: { name: "shop", annotations: pinned(world, "web") },
      spec: { ports: [{ port: 5432 }], ...ranges },
    });
    assert.equal(story(world, "shop").at(-1), "PortConflict");
    assert.equal(world.decide(world.service("web")).kind, "settled", "the one that was there first is served on");
  });
});

describe("what others have", () => {
  test("a public IP that a person made is used and left", () => {
    const world = new CoreWorld();
    const mine = world.putPublicIP("mine", {
      sku: { name: "Standard" },
      properties: { publicIPAddressVersion: "IPv4" },
    });
    world.apply({ ...web, metadata: { name: "web", annotations: { [`${PREFIX}azure-pip-name`]: "mine" } } });
    world.settle();
    assert.equal(ingressOf(world)[0]?.ip, mine.properties.ipAddress);
    world.delete("web");
    world.settle();
    assert.deepEqual([...world.publicIPs.values()].flat(), [mine]);
  });

  test("a public IP that something else holds outlives its Service", () => {
    const world = worldWith();
    world.settle();
    const [publicIP] = [...world.publicIPs.values()].flat();
    const nic = {
      id: "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/n/ipConfigurations/c",
    };
    world.delete("web");
    const service = world.service("web");
    for (let round = 0; round < 2; round++) world.write(service, lastSteps(world.decide(service)));
    world.publicIPs = new Map([
      ["rg", [{ ...publicIP!, properties: { ...publicIP!.properties, ipConfiguration: nic } }]],
    ]);
    assert.equal(story(world, "web").at(-1), "gone");
    assert.deepEqual([...world.publicIPs.values()].flat()[0]?.tags?.["k8s-azure-service"], "");
  });

  test("an address that Azure has not given yet is waited for", () => {
    const world = worldWith();
    world.settle();
    const [publicIP] = [...world.publicIPs.values()].flat();
    const { ipAddress: _, ...properties } = publicIP!.properties;
    world.publicIPs = new Map([["rg", [{ ...publicIP!, properties }]]]);
    assert.equal(world.decide(world.service("web")).kind, "wait");
  });

  test("a subnet that is not there is rejected by name", () => {
    const annotations = { ...INTERNAL, [`${PREFIX}azure-load-balancer-internal-subnet`]: "nowhere" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    assert.deepEqual(story(world, "web"), ["SubnetNotFound"]);
    assert.equal(
      rejectionOf(world, "web").message,
      `annotation ${PREFIX}azure-load-balancer-internal-subnet: VNet "vnet" has no subnet "nowhere": ` +
        'name one that it has ("subnet", "subnet2")',
    );
  });

  test("a DNS label that another Service has is refused by its name, until that Service lets it go", () => {
    const label = { [`${PREFIX}azure-dns-label-name`]: "shop" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations: label } });
    world.settle();
    world.apply({ ...web, metadata: { name: "late", annotations: label } });
    assert.equal(story(world, "late").at(-1), "DNSLabelConflict");
    assert.match(
      rejectionOf(world, "late").message,
      /^service\.beta\.kubernetes\.io\/azure-dns-label-name: "shop" is the label of Service default\/web already \(public IP "kubernetes-a.*"\), .*: choose another one/,
    );
    world.annotate("web", { [`${PREFIX}azure-dns-label-name`]: "other" });
    assert.equal(world.decide(world.service("late")).kind, "act", "from now on it is Azure's to say");
    world.settle();
    assert.equal(ingressOf(world, "late").length, 1);
  });

  test("an address that another Service has from Azure is not to be shown: neither public nor private", () => {
    for (const [annotations, reason, message] of [
      [{}, "AddressTaken", /is the address of Service default\/web: leave it out/],
      [{ [`${PREFIX}azure-load-balancer-internal`]: "true" }, "InvalidAnnotation", /can never be public/],
    ] as const) {
      const world = worldWith({ ...web, metadata: { name: "web", annotations } });
      world.settle();
      const [theirs] = ingressOf(world);
      const { loadBalancers: seen, securityGroup } = world;
      const claims = { [`${PREFIX}azure-additional-public-ips`]: `198.51.100.7, ${theirs?.ip}` };
      world.apply({ metadata: { name: "thief", annotations: claims }, spec: { ports: [{ port: 22 }] } });
      assert.equal(story(world, "thief").at(-1), reason);
      assert.match(rejectionOf(world, "thief").message, message);
      assert.deepEqual([world.loadBalancers, world.securityGroup], [seen, securityGroup]);
      assert.deepEqual(ingressOf(world, "thief"), []);
    }
  });

  test("another ingress in the status is put right, the incumbent's without ipMode is not", () => {
    const world = worldWith();
    world.settle();
    const service = world.service("web");
    const republish = (ingress: { ip?: string; hostname?: string }[]): Decision =>
      world.decide({ ...service, status: { loadBalancer: { ingress } } });
    const [{ ip } = {}] = ingressOf(world);
    assert.equal(republish([{ ip: ip ?? "" }]).kind, "settled");
    assert.deepEqual(
      lastSteps(republish([{ ip: "9.9.9.9" }])).map(({ kind }) => kind),
      ["updateStatus"],
    );
    assert.deepEqual(
      lastSteps(republish([])).map(({ kind }) => kind),
      ["updateStatus"],
    );
  });
});

describe("node changes", () => {
  test("are the pools' business: one step per pool however many Services there are", () => {
    const world = worldWith();
    for (const name of ["b", "c", "d"]) world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
    world.settle();
    world.nodes = [...world.nodes, aNode("vmss000003", ["10.240.0.7"])];
    const steps: readonly AzureStep[] = world.poolSteps();
    assert.deepEqual(
      steps.map(({ kind }) => kind),
      ["backendPool"],
    );
    world.write(world.service("web"), steps);
    assert.deepEqual(world.poolSteps(), []);
    assert.equal(world.decide(world.service("b")).kind, "settled");
  });

  test("without nodes the Service is served all the same, and a warning says so", () => {
    const world = worldWith();
    world.nodes = [];
    world.settle();
    const decision = world.decide(world.service("web"));
    assert.ok(decision.kind === "settled");
    assert.deepEqual(decision.warnings, [
      {
        reason: "UnAvailableLoadBalancer",
        message: "nobody answers this Service over IPv4: the cluster has no nodes; add some",
      },
    ]);
    assert.equal(ingressOf(world).length, 1);
  });

  test("pools of network interfaces are left before their load balancer is deleted", () => {
    const id = (set: string): string =>
      `/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}`;
    const seats = {
      networkInterfaceConfigurations: [
        {
          name: "nic",
          properties: { primary: true, ipConfigurations: [{ name: "ip", properties: { primary: true } }] },
        },
      ],
    };
    const world = worldWith(web, { poolType: "nodeIPConfiguration" });
    world.nodes = [aNode("vmss000000", ["10.240.0.4"], { providerID: `azure://${id("vmss")}/virtualMachines/0` })];
    world.compute = {
      virtualMachines: new Map(),
      networkInterfaces: new Map(),
      scaleSets: new Map([
        [
          id("vmss").toLowerCase(),
          { id: id("vmss"), name: "vmss", properties: { virtualMachineProfile: { networkProfile: seats } } },
        ],
      ]),
      instances: new Map([
        [
          `${id("vmss")}/virtualMachines/0`.toLowerCase(),
          { id: `${id("vmss")}/virtualMachines/0`, properties: { networkProfileConfiguration: seats } },
        ],
      ]),
    };
    assert.deepEqual(story(world, "web").slice(3, 5), ["nicPools vmss", "nicPools 0"]);
    assert.equal(
      world.loadBalancers[0]?.properties.backendAddressPools?.[0]?.properties.backendIPConfigurations?.length,
      1,
    );
    world.delete("web");
    assert.deepEqual(story(world, "web").slice(0, 4), [
      "securityGroup nsg",
      "nicPools vmss",
      "nicPools 0",
      "loadBalancer kubernetes",
    ]);
    assert.deepEqual(loadBalancers(world), []);
  });
});

test("where Azure serves a Service is read without asking what it wants", () => {
  const world = worldWith();
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), { kind: "absent" });
  world.settle();
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), {
    kind: "present",
    ingress: ingressOf(world),
  });
  world.loadBalancers = [];
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), { kind: "present", ingress: [] });
  const unseen = { ...world.observe(world.service("web")), listed: {} };
  assert.deepEqual(publishedIngress(unseen), {
    kind: "read",
    needs: [{ kind: "list", of: "publicIP", resourceGroup: "rg" }],
  });
  assert.ok(world.service("web").metadata.finalizers?.includes(FINALIZER));
});

test("public IPs are looked for where the Service's frontends point, besides its own group and the cluster's", () => {
  const owner = ownerOf(aService({}));
  const { outcome } = mergeLoadBalancer(undefined, [aFragment(owner, { ports: [80] })]);
  const body = outcome.kind === "put" ? outcome.body : assert.fail();
  const text = JSON.stringify(body).replaceAll(
    "resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses",
    "resourceGroups/Old/providers/Microsoft.Network/publicIPAddresses",
  );
  const groups = publicIPGroups({ config: CONFIG, loadBalancers: [JSON.parse(text) as LoadBalancer] }, owner, ["Mine"]);
  assert.deepEqual(groups, ["rg", "mine", "old"]);
});
