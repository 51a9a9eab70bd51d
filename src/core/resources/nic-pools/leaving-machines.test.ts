/** The brake on pools of network interfaces: machines that stay because too many would leave at once. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode } from "../../../../test/support/core-world.ts";
import { aLoadBalancer, idOf } from "../../../../test/support/fragments.ts";
import type { Compute, NetworkInterface, VirtualMachine } from "../../backends/compute.ts";
import type { PoolBrake } from "../../brake/pool-brake.ts";
import { memberWrite } from "../../brake/withheld-writes.ts";
import type { LoadBalancingRule } from "../../model/arm.ts";
import type { Node } from "../../model/kubernetes.ts";
import { desiredNicPools, type NicPoolsInput, ownMachines, withheldMachines } from "./desired-nic-pools.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const POOL = idOf("backendAddressPools", "kubernetes");
const NAMES = ["a", "b", "c", "d", "e"];
const vmId = (name: string): string => `${GROUP}/Microsoft.Compute/virtualMachines/${name}`;
const nicId = (name: string): string => `${GROUP}/Microsoft.Network/networkInterfaces/${name}`.toLowerCase();

const rules = [1, 2, 3].map((at): LoadBalancingRule => ({
  name: `a${String(at).repeat(31)}-TCP-80`,
  properties: { protocol: "Tcp", frontendPort: 80, backendAddressPool: { id: POOL } },
}));
const loadBalancer = aLoadBalancer({ pools: ["kubernetes"], rules });

/** All machines are in the pool. */
const compute: Compute = {
  virtualMachines: new Map(
    NAMES.map((name): [string, VirtualMachine] => [
      vmId(name).toLowerCase(),
      { id: vmId(name), name, properties: { networkProfile: { networkInterfaces: [{ id: nicId(name) }] } } },
    ]),
  ),
  networkInterfaces: new Map(
    NAMES.map((name): [string, NetworkInterface] => {
      const seat = { name: "ip", properties: { primary: true, loadBalancerBackendAddressPools: [{ id: POOL }] } };
      return [
        nicId(name),
        { id: nicId(name), name, properties: { ipConfigurations: [seat], virtualMachine: { id: vmId(name) } } },
      ];
    }),
  ),
  scaleSets: new Map(),
  instances: new Map(),
};

const node = (name: string, more: Partial<Node["spec"]> = {}): Node =>
  aNode(name, ["10.0.0.4"], { providerID: `azure://${vmId(name)}`, ...more });
const excluded = (each: Node): Node => ({
  ...each,
  metadata: { ...each.metadata, labels: { "kubernetes.azure.com/managed": "false" } },
});

const BRAKE: PoolBrake = {
  limits: { services: 2, members: { share: 0.5, minimum: 3 } },
  recent: new Map(),
  departed: new Set(),
  released: new Set(),
};

function inputOf(nodes: readonly Node[], brake: Partial<PoolBrake> = {}, known: readonly string[] = []): NicPoolsInput {
  const config = { ...CONFIG, poolType: "nodeIPConfiguration" as const };
  return { config, nodes, compute, loadBalancer, known, brake: { ...BRAKE, ...brake } };
}

function leavingOf(input: NicPoolsInput): string[] {
  return desiredNicPools(input, ["IPv4"]).flatMap(({ id, fragment }) => (fragment.leave.length > 0 ? [id] : []));
}

const MOST_EXCLUDED = NAMES.map((name, at) => (at < 4 ? excluded(node(name)) : node(name)));
const MOST = NAMES.slice(0, 4).map(nicId);

test("too many at once stay, whether their nodes are left out or gone", () => {
  const labelled = inputOf(MOST_EXCLUDED);
  assert.deepEqual([leavingOf(labelled), [...withheldMachines(labelled, "IPv4")].sort()], [[], MOST]);
  const vanished = inputOf([node("e")], {}, NAMES);
  assert.deepEqual([leavingOf(vanished), [...withheldMachines(vanished, "IPv4")].sort()], [[], MOST]);
  assert.equal(ownMachines(vanished, "IPv4").size, 5);
});

test("few of them leave, and so do those that announce it, that were released, or of a pool with few Services", () => {
  const few = NAMES.map((name, at) => (at < 2 ? excluded(node(name)) : node(name)));
  assert.deepEqual(leavingOf(inputOf(few)), MOST.slice(0, 2));
  const cordoned = NAMES.map((name, at) => (at < 4 ? excluded(node(name, { unschedulable: true })) : node(name)));
  assert.deepEqual(leavingOf(inputOf(cordoned)), MOST);
  const released = new Set(MOST.map((id) => memberWrite(POOL, id)));
  assert.deepEqual(leavingOf(inputOf(MOST_EXCLUDED, { released })), MOST);
  assert.deepEqual(leavingOf(inputOf(MOST_EXCLUDED, { limits: { ...BRAKE.limits, services: 3 } })), MOST);
});

test("a machine that Azure has deleted was not taken out by the controller", () => {
  const few = NAMES.map((name, at) => (at < 2 ? excluded(node(name)) : node(name)));
  const gone = ["x", "y", "z"].map(nicId);
  const recent = new Map([[POOL.toLowerCase(), new Set(gone)]]);
  assert.deepEqual(leavingOf(inputOf(few, { recent })), MOST.slice(0, 2));
});
