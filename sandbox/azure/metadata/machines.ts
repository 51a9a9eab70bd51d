/**
 * The machines of the emulated Azure as instance metadata and Scheduled Events see them: their names, addresses, and the
 * set whose events they share. Pure: reads the state.
 */
import type { State } from "../model/index.ts";
import { keyOf, nameOf, parentKeyOf } from "../model/ids.ts";
import { objectOf, propertiesOf, stringOf } from "../model/json.ts";

export interface Machine {
  readonly id: string;
  /** As Azure names it, and as Scheduled Events list it: `vmss_1`. */
  readonly name: string;
  /** The host name, which is the name of its Node: `vmss000001`. */
  readonly computerName: string;
  readonly location: string;
  readonly addresses: readonly string[];
  /** Key of its scale set or availability set, else its own: each machine of a set sees the events of all. */
  readonly set: string;
}

const INSTANCE = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines";
const TYPES = new Set(["Microsoft.Compute/virtualMachines", INSTANCE]);

/** By lower-case name and by lower-case computer name. */
export function machinesOf(state: State): ReadonlyMap<string, Machine> {
  const found = new Map<string, Machine>();
  for (const [key, { id, type, location, body }] of state.resources) {
    if (!TYPES.has(type)) continue;
    const name = type === INSTANCE ? `${nameOf(parentKeyOf(key))}_${nameOf(id)}` : nameOf(id);
    const references = state.outgoing.get(key) ?? [];
    const set = references.find(({ kind }) => kind === "scaleSetMember" || kind === "availabilitySet")?.to ?? key;
    const computerName = stringOf(objectOf(propertiesOf(body)["osProfile"])["computerName"]) ?? name;
    const machine: Machine = { id, name, computerName, location, addresses: addressesOf(state, key), set };
    found.set(name.toLowerCase(), machine);
    found.set(computerName.toLowerCase(), machine);
  }
  return found;
}

/** Those of a scale-set instance itself, or of the network interfaces of a virtual machine. */
function addressesOf(state: State, key: string): string[] {
  const references = state.outgoing.get(key) ?? [];
  const interfaces = references.filter(({ kind }) => kind === "virtualMachine").map(({ to }) => keyOf(to));
  return [key, ...interfaces].flatMap((owner) =>
    (state.outgoing.get(owner) ?? []).flatMap(({ kind, address }) =>
      kind === "address" && address !== undefined ? [address] : [],
    ),
  );
}
