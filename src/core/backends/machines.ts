/**
 * The network interfaces behind the nodes: which resource of Azure holds a node's seat in a pool, and which node an
 * ipConfiguration belongs to.
 */
import { parentId } from "../model/ids.ts";
import type { Node } from "../model/kubernetes.ts";
import type { Compute, Instance, NetworkInterface, VirtualMachine } from "./compute.ts";
import { machineOf } from "./vm-sets.ts";

export type Seat =
  | { readonly kind: "networkInterface"; readonly body: NetworkInterface; readonly scaleSetId: string | undefined }
  | { readonly kind: "instance"; readonly body: Instance; readonly scaleSetId: string };

/** `undefined`: not a machine of Azure, or one that is not known (yet), or that has no interface. */
export function seatOf(node: Node, compute: Compute): Seat | undefined {
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
 *   ipConfiguration of    | id
 *   ----------------------|--------------------------------------------------------------------------------------
 *   a uniform instance    | {instance}/networkInterfaces/{interface}/ipConfigurations/{configuration}
 *   any other machine     | {network interface}/ipConfigurations/{configuration}
 */
export function ipConfigurationFinder(nodes: readonly Node[], compute: Compute | undefined): IPConfigurationFinder {
  const byMachine = new Map<string, Node>();
  for (const node of nodes) {
    const machine = machineOf(node);
    if (machine !== undefined) byMachine.set(machine.id.toLowerCase(), node);
  }
  return (ipConfigurationId) => {
    const interfaceId = parentId(ipConfigurationId.toLowerCase());
    const instance = byMachine.get(parentId(interfaceId));
    if (instance !== undefined) return instance;
    const owner = compute?.networkInterfaces.get(interfaceId)?.properties.virtualMachine;
    return owner && byMachine.get(owner.id.toLowerCase());
  };
}
