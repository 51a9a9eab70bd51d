import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aService, CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aFragment } from "../../../../test/support/fragments.ts";
import type { LoadBalancer, PublicIP } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { mergeLoadBalancer } from "../load-balancer/merge-load-balancer.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { Rejection } from "../../outcome.ts";
import type { DesiredPublicIP } from "./desired-public-ip.ts";
import { type DesiredPublicIPs, desiredPublicIPs } from "./desired-public-ips.ts";

const PREFIX = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/publicIPPrefixes/block";

function pip(name: string, more: Partial<PublicIP> = {}, group = "rg"): PublicIP {
  const id = `/subscriptions/sub/resourceGroups/${group}/providers/Microsoft.Network/publicIPAddresses/${name}`;
  return { id, name, sku: { name: "Standard" }, properties: { ipAddress: "20.1.1.1" }, ...more };
}

const bound = (name: string, services = "default/web", more: Partial<PublicIP> = {}, group = "rg"): PublicIP =>
  pip(name, { tags: { "k8s-azure-service": services, "k8s-azure-cluster-name": "kubernetes" }, ...more }, group);

interface Seen {
  readonly config?: ClusterConfig;
  readonly groups?: Readonly<Record<string, readonly PublicIP[]>>;
  readonly loadBalancers?: readonly LoadBalancer[];
}

function intentOf(
  annotations: Readonly<Record<string, string>>,
  families: readonly ("IPv4" | "IPv6")[] = ["IPv4"],
  config = CONFIG,
): ServiceIntent {
  const parsed = parseService(aService({ annotations, spec: { ipFamilies: families } }), config);
  return "intent" in parsed ? parsed.intent : assert.fail(parsed.message);
}

function reconcile(intent: ServiceIntent, { config = CONFIG, groups = {}, loadBalancers = [] }: Seen = {}) {
  return desiredPublicIPs(
    { config, zones: ["1", "2"], loadBalancers, listed: { publicIP: new Map(Object.entries(groups)) } },
    intent,
  );
}

function decided(intent: ServiceIntent, seen: Seen = {}): DesiredPublicIPs {
  const decision = reconcile(intent, seen);
  return "kind" in decision ? assert.fail(decision.message) : decision;
}

function rejectionOf(intent: ServiceIntent, seen: Seen = {}): Rejection {
  const decision = reconcile(intent, seen);
  return "kind" in decision ? decision : assert.fail("not rejected");
}

function created(use: DesiredPublicIP | undefined): PublicIP {
  return use?.fragment.kind === "present" && use.fragment.create ? use.fragment.create : assert.fail();
}

const GENERATED = `kubernetes-${intentOf({}).owner.base}`;
const named = { "azure-pip-name": "mine" };

describe("which public IP", () => {
  test("one of its own, made as the SKU has it", () => {
    const body = created(decided(intentOf({})).uses[0]);
    assert.deepEqual(body, {
      id: `/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses/${GENERATED}`,
      name: GENERATED,
      location: "westus2",
      sku: { name: "Standard" },
      zones: ["1", "2"],
      tags: { "k8s-azure-cluster-name": "kubernetes" },
      properties: { publicIPAddressVersion: "IPv4", publicIPAllocationMethod: "Static" },
    });
    const config: ClusterConfig = { ...CONFIG, sku: "basic", poolType: "nodeIPConfiguration" };
    const basic = created(decided(intentOf({ "azure-pip-prefix-id": PREFIX }, ["IPv6"], config), { config }).uses[0]);
    assert.deepEqual(
      [basic.sku, basic.zones, basic.properties],
      [undefined, undefined, { publicIPAddressVersion: "IPv6", publicIPAllocationMethod: "Dynamic" }],
    );
  });

  test("from a prefix, with IP tags, in the annotated group", () => {
    const annotations = {
      "azure-pip-prefix-id": PREFIX,
      "azure-pip-ip-tags": "RoutingPreference=Internet",
      "azure-load-balancer-resource-group": "Other",
    };
    const use = decided(intentOf(annotations), { groups: { other: [] } }).uses[0];
    assert.match(use?.id ?? "", new RegExp(`/resourceGroups/Other/.*/${GENERATED}-block$`));
    assert.deepEqual(created(use).properties, {
      publicIPAddressVersion: "IPv4",
      publicIPAllocationMethod: "Static",
      ipTags: [{ ipTagType: "RoutingPreference", tag: "Internet" }],
      publicIPPrefix: { id: PREFIX },
    });
  });

  test("none that is being deleted: its address goes with it", () => {
    const going = { properties: { ipAddress: "20.1.1.1", provisioningState: "Deleting" } };
    const [own] = decided(intentOf({}), { groups: { rg: [bound(GENERATED, "default/web", going)] } }).uses;
    assert.deepEqual([own?.seen, created(own).name], [undefined, GENERATED]);
    assert.equal(rejectionOf(intentOf(named), { groups: { rg: [pip("mine", going)] } }).reason, "PublicIPNotFound");
  });

  test("by name or by address, and never made", () => {
    const groups = { rg: [pip("mine")] };
    for (const annotations of [named, { "azure-load-balancer-ipv4": "20.1.1.1" }]) {
      const use = decided(intentOf(annotations), { groups }).uses[0];
      assert.equal(use?.seen?.name, "mine");
      assert.ok(use?.fragment.kind === "present" && use.fragment.create === undefined);
    }
  });

  test("an internal Service uses none", () => {
    assert.deepEqual(decided(intentOf({ "azure-load-balancer-internal": "true" })).uses, []);
  });

  for (const [what, annotations, seen, reason] of [
    ["a name that is not there", named, {}, "PublicIPNotFound"],
    [
      "an address that is not there",
      { "azure-load-balancer-ipv4": "20.1.1.9" },
      { rg: [pip("mine")] },
      "PublicIPNotFound",
    ],
    [
      "one of the other family",
      named,
      { rg: [pip("mine", { properties: { publicIPAddressVersion: "IPv6" } })] },
      "PublicIPFamily",
    ],
    ["one of the other SKU", named, { rg: [pip("mine", { sku: { name: "Basic" } })] }, "PublicIPSku"],
    [
      "another cluster's",
      named,
      { rg: [pip("mine", { tags: { "k8s-azure-service": "default/web", "k8s-azure-cluster-name": "other" } })] },
      "PublicIPOfOtherCluster",
    ],
  ] as const) {
    test(`${what} is rejected, with the key that names it`, () => {
      const rejection = rejectionOf(intentOf(annotations), { groups: seen });
      assert.equal(rejection.reason, reason);
      const [key] = Object.keys(annotations);
      assert.match(
        rejection.message,
        new RegExp(`^service\\.beta\\.kubernetes\\.io/${key}( or spec.loadBalancerIP)?: .*(name|create)`),
      );
    });
  }
});

describe("one that bears the right name but cannot be used", () => {
  const other = { "azure-pip-ip-tags": "RoutingPreference=Internet" };

  test("other IP tags, or the other family: replaced", () => {
    assert.equal(decided(intentOf(other), { groups: { rg: [bound(GENERATED)] } }).uses[0]?.mustBeReplaced, true);
    const ipv6 = bound(GENERATED, "default/web", { properties: { publicIPAddressVersion: "IPv6" } });
    assert.equal(decided(intentOf({}), { groups: { rg: [ipv6] } }).uses[0]?.mustBeReplaced, true);
  });

  test("others use it too, or the config lets IP tags change: kept", () => {
    assert.equal(
      decided(intentOf(other), { groups: { rg: [bound(GENERATED, "default/web,default/x")] } }).uses[0]?.mustBeReplaced,
      false,
    );
    const config = { ...CONFIG, enableIPTagMutation: true };
    const use = decided(intentOf(other, ["IPv4"], config), { config, groups: { rg: [bound(GENERATED)] } }).uses[0];
    assert.deepEqual(
      [use?.mustBeReplaced, use?.fragment.kind === "present" && use.fragment.ipTags?.length],
      [false, 1],
    );
  });
});

describe("what is given back", () => {
  const releasedBy = (intent: ServiceIntent, seen: Seen): string[] =>
    decided(intent, seen).releases.map(({ seen: { name } }) => name);

  test("whatever the Service is bound to and does not use, of either family and in any group", () => {
    const groups = {
      rg: [bound(GENERATED), bound(`${GENERATED}-IPv6`), pip("mine")],
      other: [bound("old", "default/web", {}, "other")],
    };
    assert.deepEqual(releasedBy(intentOf({}), { groups }), [`${GENERATED}-IPv6`, "old"]);
    assert.deepEqual(releasedBy(intentOf({ "azure-load-balancer-internal": "true" }), { groups }), [
      GENERATED,
      `${GENERATED}-IPv6`,
      "old",
    ]);
  });

  test("not those of another cluster's Service of the same name", () => {
    const foreign = bound("theirs", "default/web", {
      tags: { "k8s-azure-service": "default/web", "k8s-azure-cluster-name": "other" },
    });
    assert.deepEqual(releasedBy(intentOf({}), { groups: { rg: [foreign] } }), []);
  });

  const keptBy = (publicIP: PublicIP, loadBalancers: readonly LoadBalancer[]): string | undefined => {
    const [release] = decided(intentOf({}), { groups: { rg: [publicIP] }, loadBalancers }).releases;
    return release?.fragment.kind === "absent" ? release.fragment.keptBy : assert.fail();
  };

  test("a frontend that still stands holds it; one that has gone does not, though the public IP says so", () => {
    const owner = intentOf({}).owner;
    const { outcome } = mergeLoadBalancer(undefined, [aFragment(owner, { ports: [80], publicIP: "old" })]);
    const loadBalancer = outcome.kind === "put" ? outcome.body : assert.fail();
    const attached = bound("old", "default/web", {
      properties: { ipConfiguration: { id: `${loadBalancer.id}/frontendIPConfigurations/${owner.base}` } },
    });
    assert.equal(keptBy(attached, [loadBalancer]), `frontend "${owner.base}"`);
    assert.equal(keptBy(attached, []), undefined);
  });

  test("anything else that it is attached to holds it", () => {
    const nic =
      "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/n/ipConfigurations/c";
    assert.match(
      keptBy(bound("old", "default/web", { properties: { ipConfiguration: { id: nic } } }), []) ?? "",
      /networkInterfaces/,
    );
  });
});
