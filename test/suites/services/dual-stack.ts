/**
 * Services of both families in a dual-stack network, in clusters of every shape: an external and an internal one have two
 * addresses each, every node is in the pools of both families and drained in both, and the security group opens what each
 * address needs.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { AzureOptions } from "../../../sandbox/azure/index.ts";
import { NODES } from "../../../src/kube/client/resources.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { CLUSTERS_AT_ONCE, propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const BOTH = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const FROM = { loadBalancerSourceRanges: ["10.0.0.0/8", "fd00::/8"] };
const INTERNAL = { "azure-load-balancer-internal": "true" };
const NODES_V4 = ["10.240.0.4", "10.240.0.5", "10.240.0.6"];
const NODES_V6 = ["fd00:10:240::4", "fd00:10:240::5", "fd00:10:240::6"];

type Topology = NonNullable<AzureOptions["topology"]>;

const SHAPES: readonly (readonly [name: string, topology: Topology])[] = [
  ["uniform scale set, pools of addresses", { vmType: "vmss", backendPool: "nodeIP" }],
  ["uniform scale set, pools of network interfaces", { vmType: "vmss", backendPool: "nodeIPConfiguration" }],
  ["flexible scale set, pools of network interfaces", { vmType: "vmssflex", backendPool: "nodeIPConfiguration" }],
  ["availability set, pools of network interfaces", { vmType: "standard", backendPool: "nodeIPConfiguration" }],
];

export function dualStackSuite(name: string, open: ClusterOpener): void {
  describe(`both families, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const [shape, topology] of SHAPES) {
      test(`${shape}: external and internal, two addresses each; back to one family, the other is given up`, async () => {
        const rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3, dualStack: true, ...topology } } });
        try {
          const before = await rig.everything();
          await rig.apply({ name: "outer", spec: BOTH });
          await rig.apply({ name: "inner", annotations: INTERNAL, spec: { ...BOTH, ...FROM } });
          const [outer4 = "", outer6 = ""] = await rig.served("outer");
          const [inner4 = "", inner6 = ""] = await rig.served("inner");
          assert.match(`${outer4} ${outer6}`, /^\d+\.\S+ [\da-f]+:/);
          assert.match(`${inner4} ${inner6}`, /^10\.240\.\S+ fd00:10:240::/);
          await poolsHold(rig, ["kubernetes", "kubernetes-internal"]);
          // without floating IP, as internal IPv6 is, a packet arrives at the node's own address
          assert.deepEqual(await opened(rig), [...[outer4, inner4, outer6].sort(), ...NODES_V6]);
          await drained(rig, NODES_V4[0] ?? "", NODES_V6[0] ?? "");
          for (const each of ["outer", "inner"])
            await rig.patch(each, { spec: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] } });
          await rig.patch("inner", { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } });
          await eventually(async () => {
            assert.deepEqual([await rig.served("outer"), await rig.served("inner")], [[outer4], [inner4]]);
            assert.deepEqual(await opened(rig), [outer4, inner4].sort());
          }, WITHIN_MS);
          assert.equal((await rig.list("publicIPAddresses")).length, 1);
          await rig.delete("outer");
          await rig.delete("inner");
          assert.deepEqual(await rig.everything(), before);
        } finally {
          await rig.close();
        }
      });
    }
  });
}

/** Drains the first node, and waits until its entries are `Down` in the pools of both families, and only these. */
async function drained(rig: ServiceRig, ...down: readonly string[]): Promise<void> {
  const name = rig.azure.nodes[0]?.name ?? "";
  await rig.kube.patch(
    NODES,
    { name },
    { merge: { spec: { taints: [{ key: "azlb.io/drain", effect: "NoSchedule" }] } } },
  );
  await eventually(async () => {
    const addresses = await addressesOfConfigurations(rig);
    const isDown = (entry: WireBody): boolean => propertiesOf(entry)["adminState"] === "Down";
    for (const body of await rig.list("loadBalancers")) {
      const found = Object.values(membersByPool(body, addresses, isDown)).flat();
      assert.deepEqual(found.sort(), [...down].sort(), body.name);
    }
  }, WITHIN_MS);
  await rig.kube.patch(NODES, { name }, { merge: { spec: { taints: null } } });
}

/** Waits until both families' pools of these load balancers hold every node's address of that family. */
async function poolsHold(rig: ServiceRig, loadBalancers: readonly string[]): Promise<void> {
  await eventually(async () => {
    const addresses = await addressesOfConfigurations(rig);
    const found = Object.fromEntries(
      (await rig.list("loadBalancers")).map((body) => [body.name, membersByPool(body, addresses)]),
    );
    const both = { kubernetes: NODES_V4, "kubernetes-IPv6": NODES_V6 };
    assert.deepEqual(found, Object.fromEntries(loadBalancers.map((name) => [name, both])));
  }, WITHIN_MS);
}

function membersByPool(
  body: WireBody,
  addresses: ReadonlyMap<string, string>,
  isMeant: (entry: WireBody) => boolean = () => true,
): Record<string, string[]> {
  const pools = (propertiesOf(body)["backendAddressPools"] ?? []) as readonly WireBody[];
  return Object.fromEntries(
    pools.map((pool) => {
      const entries = (propertiesOf(pool)["loadBalancerBackendAddresses"] ?? []) as readonly WireBody[];
      const members = entries.filter(isMeant).map((entry) => {
        const { ipAddress, networkInterfaceIPConfiguration } = propertiesOf(entry) as Member;
        return ipAddress ?? addresses.get(networkInterfaceIPConfiguration?.id.toLowerCase() ?? "") ?? entry.name;
      });
      return [pool.name, members.sort()];
    }),
  );
}

interface Member {
  readonly ipAddress?: string;
  readonly networkInterfaceIPConfiguration?: { readonly id: string };
}

/** By the lower-case id of an IP configuration: its address, of interfaces and of scale-set instances. */
async function addressesOfConfigurations(rig: ServiceRig): Promise<Map<string, string>> {
  const { resourceGroup, network, compute } = rig.azure;
  const found = new Map<string, string>();
  const add = ({ ipConfigurations = [] }: { ipConfigurations?: readonly Configuration[] }): void => {
    for (const { id = "", privateIPAddress = "" } of ipConfigurations) found.set(id.toLowerCase(), privateIPAddress);
  };
  for await (const nic of network.networkInterfaces.list(resourceGroup)) add(nic);
  for await (const { name = "", orchestrationMode } of compute.virtualMachineScaleSets.list(resourceGroup)) {
    if (orchestrationMode === "Flexible") continue;
    const nics = network.networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces(resourceGroup, name);
    for await (const nic of nics) add(nic);
  }
  return found;
}

interface Configuration {
  readonly id?: string;
  readonly privateIPAddress?: string;
}

/** The destinations that the security group opens: frontends first, then the nodes, each sorted. */
async function opened(rig: ServiceRig): Promise<string[]> {
  const [group] = await rig.list("networkSecurityGroups");
  const rules = (propertiesOf(group)["securityRules"] ?? []) as readonly WireBody[];
  const all = rules.flatMap((rule) => {
    const { destinationAddressPrefix: one, destinationAddressPrefixes: more = [] } = propertiesOf(rule) as Opened;
    return one === undefined ? more : [one];
  });
  const isNode = (address: string): boolean => NODES_V6.includes(address);
  return [...all.filter((address) => !isNode(address)).sort(), ...all.filter(isNode).sort()];
}

interface Opened {
  readonly destinationAddressPrefix?: string;
  readonly destinationAddressPrefixes?: readonly string[];
}
