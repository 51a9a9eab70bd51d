/**
 * Which machine a node is, and which availability set or scale set that belongs to. Told by the provider id as far as
 * possible: only plain virtual machines need to be looked at.
 */
import { nameOfId, parentId } from "../model/ids.ts";
import type { Node } from "../model/kubernetes.ts";
import type { Compute } from "./compute.ts";

const PROVIDER = "azure://";

export type Machine =
  | { readonly kind: "virtualMachine"; readonly id: string }
  | { readonly kind: "instance"; readonly id: string; readonly scaleSetId: string };

/** `undefined`: not a machine of Azure, or not yet known which. */
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

/** Name of the set; `undefined` for a machine that stands alone or that is not known. */
export function vmSetOf(node: Node, compute: Compute | undefined): string | undefined {
  const machine = machineOf(node);
  if (machine === undefined) return undefined;
  if (machine.kind === "instance") return nameOfId(machine.scaleSetId);
  const { availabilitySet, virtualMachineScaleSet } =
    compute?.virtualMachines.get(machine.id.toLowerCase())?.properties ?? {};
  const set = availabilitySet ?? virtualMachineScaleSet;
  return set && nameOfId(set.id);
}
