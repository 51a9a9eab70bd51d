/** Annotations about the public IPs of a Service that another client made before: by name, by address, of a prefix, elsewhere. */
import assert from "node:assert/strict";

import type { PublicIPAddress } from "arm-network-36";

import type { ServiceRig } from "../../support/service-rig.ts";
import type { Case, Seen } from "./annotation-cases.ts";

const BOTH = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const GROUP = "public-addresses";

export const PUBLIC_IP_CASES: readonly Case[] = [
  {
    asks: "azure-pip-name",
    prepare: async (rig) => {
      await makePublicIP(rig, "by-name", "IPv4");
      return { "azure-pip-name": "by-name" };
    },
    check: (seen) => standsOn(seen, ["by-name"]),
  },
  {
    asks: "IPv6 alone",
    dualStack: true,
    spec: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6"] },
    check: async ({ ips, publicIPs, rules }, rig) => {
      assert.deepEqual(
        publicIPs.map(({ ipAddress, publicIPAddressVersion }) => [ipAddress, publicIPAddressVersion]),
        [[ips[0], "IPv6"]],
      );
      const pool = rules[0]?.backendAddressPool?.id?.split("/").at(-1) ?? "";
      const { network, resourceGroup } = rig.azure;
      const { loadBalancerBackendAddresses: members = [] } = await network.loadBalancerBackendAddressPools.get(
        resourceGroup,
        "kubernetes",
        pool,
      );
      assert.deepEqual([pool, members.length], ["kubernetes-IPv6", 3]);
      assert.ok(members.every(({ ipAddress }) => ipAddress?.startsWith("fd00:")));
    },
  },
  {
    asks: "azure-pip-name and azure-pip-name-ipv6",
    dualStack: true,
    spec: BOTH,
    prepare: async (rig) => {
      await makePublicIP(rig, "four", "IPv4");
      await makePublicIP(rig, "six", "IPv6");
      return { "azure-pip-name": "four", "azure-pip-name-ipv6": "six" };
    },
    check: (seen) => standsOn(seen, ["four", "six"]),
  },
  {
    asks: "azure-load-balancer-ipv4 and azure-load-balancer-ipv6 of public IPs",
    dualStack: true,
    spec: BOTH,
    prepare: async (rig) => ({
      "azure-load-balancer-ipv4": await makePublicIP(rig, "pinned-four", "IPv4"),
      "azure-load-balancer-ipv6": await makePublicIP(rig, "pinned-six", "IPv6"),
    }),
    check: (seen) => standsOn(seen, ["pinned-four", "pinned-six"]),
  },
  {
    asks: "azure-pip-prefix-id",
    prepare: async (rig) => ({ "azure-pip-prefix-id": await makePrefix(rig, "prefix", "IPv4") }),
    check: (seen) => comesFrom(seen, ["prefix"]),
  },
  {
    asks: "azure-pip-prefix-id and azure-pip-prefix-id-ipv6",
    dualStack: true,
    spec: BOTH,
    prepare: async (rig) => ({
      "azure-pip-prefix-id": await makePrefix(rig, "prefix-four", "IPv4"),
      "azure-pip-prefix-id-ipv6": await makePrefix(rig, "prefix-six", "IPv6"),
    }),
    check: (seen) => comesFrom(seen, ["prefix-four", "prefix-six"]),
  },
  {
    asks: "azure-load-balancer-resource-group: a public IP of its own there, and none here",
    prepare: async (rig) => {
      await makeGroup(rig);
      return { "azure-load-balancer-resource-group": GROUP };
    },
    check: async (seen, rig, name) => {
      assert.equal(seen.loadBalancer, "kubernetes");
      assert.deepEqual(groupsOf(seen.publicIPs), [GROUP]);
      const address = seen.ips;
      await rig.annotate(name, { "azure-load-balancer-resource-group": null });
      assert.notDeepEqual(await rig.served(name), address, "its public IP is one of the cluster's group again");
      const left = JSON.stringify(await rig.everything());
      assert.ok(!left.includes(`${GROUP}/providers`), "nothing is left in the other group");
    },
  },
  {
    asks: "azure-load-balancer-resource-group with azure-pip-name: a user's public IP there",
    prepare: async (rig) => {
      await makeGroup(rig);
      const body = { location: "westus2", sku: { name: "Standard" }, publicIPAllocationMethod: "Static" };
      await rig.azure.network.publicIPAddresses.beginCreateOrUpdateAndWait(GROUP, "elsewhere", body);
      return { "azure-load-balancer-resource-group": GROUP, "azure-pip-name": "elsewhere" };
    },
    check: (seen) => {
      standsOn(seen, ["elsewhere"]);
      assert.deepEqual(groupsOf(seen.publicIPs), [GROUP]);
    },
  },
];

/** In the order of the families. */
function standsOn({ ips, publicIPs }: Seen, names: readonly string[]): void {
  const byName = new Map(publicIPs.map((publicIP) => [publicIP.name, publicIP]));
  assert.deepEqual(
    ips,
    names.map((name) => byName.get(name)?.ipAddress),
  );
  assert.equal(publicIPs.length, names.length);
}

function comesFrom({ ips, publicIPs }: Seen, prefixes: readonly string[]): void {
  const byAddress = new Map(publicIPs.map((publicIP) => [publicIP.ipAddress, publicIP]));
  assert.deepEqual(
    ips.map((ip) => byAddress.get(ip)?.publicIPPrefix?.id?.split("/").at(-1)),
    prefixes,
  );
}

function groupsOf(publicIPs: readonly PublicIPAddress[]): (string | undefined)[] {
  return publicIPs.map(({ id }) => id?.split("/")[4]?.toLowerCase());
}

async function makePublicIP(rig: ServiceRig, name: string, version: "IPv4" | "IPv6"): Promise<string> {
  await rig.put(`publicIPAddresses/${name}`, {
    location: "westus2",
    sku: { name: "Standard" },
    properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: version },
  });
  const { ipAddress } = await rig.azure.network.publicIPAddresses.get(rig.azure.resourceGroup, name);
  return ipAddress ?? "";
}

async function makePrefix(rig: ServiceRig, name: string, version: "IPv4" | "IPv6"): Promise<string> {
  await rig.put(`publicIPPrefixes/${name}`, {
    location: "westus2",
    sku: { name: "Standard" },
    zones: ["1", "2", "3"],
    properties: { prefixLength: version === "IPv4" ? 31 : 127, publicIPAddressVersion: version },
  });
  return rig.networkPath(`publicIPPrefixes/${name}`);
}

async function makeGroup(rig: ServiceRig): Promise<void> {
  const path = `/subscriptions/${rig.azure.subscriptionId}/resourcegroups/${GROUP}?api-version=2021-04-01`;
  const answer = await rig.arm.send("PUT", path, { body: { location: "westus2" } });
  assert.ok(answer.status < 300, answer.text);
}
