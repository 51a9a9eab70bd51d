/** The machines of a flexible scale set: ordinary VMs with ordinary NICs, named after the set. */
import type { Change, Resource } from "../changes.ts";
import { derivedGuid } from "../guid.ts";
import { keyOf, nameOf } from "../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { checkedMembership, nicForm } from "../network/network-interface/network-interface.ts";
import type { Reservations } from "../network/private-addresses.ts";
import type { PutInput } from "../resource-type.ts";

/** New machines of a scale set, of either orchestration mode. */
export interface Growth {
  readonly input: PutInput;
  /** The scale set's stored body. */
  readonly model: Json;
  /** Number of the first new machine. */
  readonly first: number;
  readonly count: number;
  readonly reservations: Reservations;
}

export function newFlexibleMachines(growth: Growth): Change[] {
  const { input, count, first } = growth;
  let sequence = Math.max(input.state.nextSequence, input.sequence + 1);
  const changes: Change[] = [];
  for (let index = 0; index < count; index++) {
    const suffix = derivedGuid(`${input.key}|${first + index}|${input.draws.guid()}`).slice(0, 8);
    const made = newMachine(growth, suffix, sequence);
    sequence += made.length;
    changes.push(...made.map((resource): Change => ({ kind: "put", resource })));
  }
  return changes;
}

function newMachine({ input, model, reservations }: Growth, suffix: string, sequence: number): Resource[] {
  const profile = objectOf(propertiesOf(model)["virtualMachineProfile"]);
  const group = input.id.slice(0, input.id.indexOf("/providers/"));
  const configurations = objectsOf(objectOf(profile["networkProfile"])["networkInterfaceConfigurations"]);
  const nics = configurations.map((configuration, index) => {
    const id = `${group}/providers/Microsoft.Network/networkInterfaces/${stringOf(configuration["name"]) ?? "nic"}-${suffix}`;
    const place = { ...input, id, key: keyOf(id), existing: undefined };
    const body = nicForm(place, { properties: propertiesOf(configuration) }, reservations);
    checkedMembership(place, body);
    return made(input, {
      id,
      type: "Microsoft.Network/networkInterfaces",
      sequence: sequence + index,
      body,
      state: "Succeeded",
    });
  });
  const name = `${nameOf(input.id)}_${suffix}`;
  const { networkProfile: _, osProfile, ...others } = profile;
  const { computerNamePrefix, ...os } = objectOf(osProfile);
  const machine = made(input, {
    id: `${group}/providers/Microsoft.Compute/virtualMachines/${name}`,
    type: "Microsoft.Compute/virtualMachines",
    sequence: sequence + nics.length,
    state: "Creating",
    body: {
      properties: {
        hardwareProfile: { vmSize: objectOf(model["sku"])["name"] },
        ...others,
        osProfile: { computerName: `${stringOf(computerNamePrefix) ?? nameOf(input.id)}${suffix}`, ...os },
        networkProfile: { networkInterfaces: nics.map((nic) => ({ id: nic.id })) },
        virtualMachineScaleSet: { id: input.id },
      },
    },
  });
  return [...nics, machine];
}

type Made = Pick<Resource, "id" | "type" | "sequence" | "body" | "state">;

function made(input: PutInput, resource: Made): Resource {
  return {
    ...resource,
    location: input.location,
    guid: derivedGuid(`${resource.id}|${resource.sequence}`),
    revision: 1,
    provisioned: resource.state === "Succeeded",
    lastOperation: "PutVirtualMachineScaleSetOperation",
    createdMs: input.request.nowMs,
    assigned: {},
  };
}
