/**
 * The Azure machine of a node: which one it is, the availability set or scale set it belongs to, and the resource that
 * describes its network interface. Read from the provider id as far as possible; only plain virtual machines need a read.
 */
import { nameOfId, parentId } from "../model/ids.ts";
import { ageOf, type Node } from "../model/kubernetes.ts";
import type { Compute, Instance, NetworkInterface, VirtualMachine } from "./compute.ts";

const PROVIDER = "azure://";

type Machine =
  | { readonly kind: "virtualMachine"; readonly id: string }
  | { readonly kind: "instance"; readonly id: string; readonly scaleSetId: string };

/** `undefined`: not an Azure machine, or the node has no provider id yet. */
export function machineOf(node: Node): Machine | undefined {
  const providerId = node.spec.providerID ?? "";
  if (!providerId.startsWith(`${PROVIDER}/`)) return undefined;
  const id = providerId.slice(PROVIDER.length);
  const types = id.toLowerCase();
  if (/\/microsoft\.compute\/virtualmachinescalesets\/[^/]+\/virtualmachines\/[^/]+$/.test(types)) {
    return { kind: "instance", id, scaleSetId: parentId(id) };
  }
  return /\/microsoft\.compute\/virtualmachines\/[^/]+$/.test(types) ? { kind: "virtualMachine", id } : undefined;
}

/** Name of its availability set or scale set; `undefined` for a machine without one, or one that is not known. */
export function vmSetOf(node: Node, compute: Compute | undefined): string | undefined {
  const machine = machineOf(node);
  if (machine === undefined) return undefined;
  if (machine.kind === "instance") return nameOfId(machine.scaleSetId);
  const { availabilitySet, virtualMachineScaleSet } =
    compute?.virtualMachines.get(machine.id.toLowerCase())?.properties ?? {};
  const set = availabilitySet ?? virtualMachineScaleSet;
  return set && nameOfId(set.id);
}

/** The Azure resource that describes a node's network interface, and with it the pools that the node is in. */
export type NicResource =
  | { readonly kind: "networkInterface"; readonly body: NetworkInterface; readonly scaleSetId: string | undefined }
  | { readonly kind: "instance"; readonly body: Instance; readonly scaleSetId: string };

/** `undefined`: not an Azure machine, or one that is not known yet, or that has no interface. */
export function nicResourceOf(node: Node, compute: Compute): NicResource | undefined {
  const machine = machineOf(node);
  if (machine === undefined) return undefined;
  if (machine.kind === "instance") {
    const body = compute.instances.get(machine.id.toLowerCase());
    return body && { kind: "instance", body, scaleSetId: machine.scaleSetId };
  }
  const virtualMachine = compute.virtualMachines.get(machine.id.toLowerCase());
  const body = virtualMachine && primaryInterface(virtualMachine, compute);
  return body && { kind: "networkInterface", body, scaleSetId: virtualMachine.properties.virtualMachineScaleSet?.id };
}

function primaryInterface({ properties }: VirtualMachine, compute: Compute): NetworkInterface | undefined {
  const interfaces = properties.networkProfile?.networkInterfaces ?? [];
  const primary = interfaces.find((one) => one.properties?.primary === true) ?? interfaces[0];
  return primary && compute.networkInterfaces.get(primary.id.toLowerCase());
}

export type IPConfigurationFinder = (ipConfigurationId: string) => Node | undefined;

/**
 * Which node an ipConfiguration belongs to.
 *
 *   ipConfiguration of    | id
 *   ----------------------|--------------------------------------------------------------------------------------
 *   a uniform instance    | {instance}/networkInterfaces/{interface}/ipConfigurations/{configuration}
 *   any other machine     | {network interface}/ipConfigurations/{configuration}
 */
export function ipConfigurationFinder(nodes: readonly Node[], compute: Compute | undefined): IPConfigurationFinder {
  const byMachine = new Map<string, Node>();
  for (const node of nodes) {
    const machine = machineOf(node);
    if (machine === undefined) continue;
    const known = byMachine.get(machine.id.toLowerCase());
    if (known === undefined || precedes(node, known)) byMachine.set(machine.id.toLowerCase(), node);
  }
  return (ipConfigurationId) => {
    const interfaceId = parentId(ipConfigurationId.toLowerCase());
    const instance = byMachine.get(parentId(interfaceId));
    if (instance !== undefined) return instance;
    const owner = compute?.networkInterfaces.get(interfaceId)?.properties.virtualMachine;
    return owner && byMachine.get(owner.id.toLowerCase());
  };
}

/** Of two Nodes of one machine: as in `contested-nodes.ts`. */
function precedes(one: Node, other: Node): boolean {
  const [isHere, isOtherHere] = [one, other].map(({ metadata }) => metadata.deletionTimestamp === undefined);
  return isHere === isOtherHere ? ageOf(one) < ageOf(other) : isHere === true;
}
