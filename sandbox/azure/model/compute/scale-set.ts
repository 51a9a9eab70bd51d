/**
 * Scale sets. A uniform one owns its instances; a flexible one creates ordinary machines and NICs that reference it.
 * The capacity is the number of members.
 */
import type { Change, Resource } from "../changes.ts";
import { compute, invalid } from "../errors.ts";
import { derivedGuid } from "../guid.ts";
import { keyOf, nameOf } from "../ids.ts";
import { numberOf, objectOf, propertiesOf, sameJson, stringOf, type Json } from "../json.ts";
import { findChild, referrers } from "../lookups.ts";
import { probeIsActive } from "../network/load-balancer/removal.ts";
import { Reservations } from "../network/private-addresses.ts";
import type { Plan, PutInput, ResourceType, View } from "../resource-type.ts";
import type { State } from "../state.ts";
import { computeEnvelope, timeOf, writtenProperties, writtenTop } from "./envelope.ts";
import { newFlexibleMachines, type Growth } from "./flexible.ts";
import { provisioningStatus } from "./instance-view.ts";
import { isWindows, osDiskForm, osProfileForm } from "./machine-profile.ts";
import { checkNics, newInstance, remodelled } from "./scale-set-instance.ts";
import { renderNics, renderPublicIps } from "./instance-nics.ts";
import { modelReferences, networkProfileForm } from "./scale-set-network.ts";

function isFlexible(body: Json): boolean {
  return propertiesOf(body)["orchestrationMode"] === "Flexible";
}

function form(input: PutInput, body: Json): Json {
  const flexible = isFlexible(body) || (input.existing !== undefined && isFlexible(input.existing.body));
  const properties: { [name: string]: unknown } = {
    singlePlacementGroup: !flexible,
    orchestrationMode: flexible ? "Flexible" : "Uniform",
    ...(!flexible && {
      upgradePolicy: { mode: "Manual" },
      overprovision: false,
      doNotRunExtensionsOnOverprovisionedVMs: false,
    }),
    platformFaultDomainCount: flexible ? 1 : 5,
    ...writtenProperties(body),
  };
  // Terraform's provider always sends this object, and plans a change where an empty one comes back
  if (Object.keys(objectOf(properties["additionalCapabilities"])).length === 0)
    delete properties["additionalCapabilities"];
  if (properties["virtualMachineProfile"] !== undefined) {
    properties["virtualMachineProfile"] = profileForm(input, objectOf(properties["virtualMachineProfile"]));
  }
  const sku = objectOf(body["sku"]);
  const stored = { ...writtenTop(body), properties };
  return body["sku"] === undefined ? stored : { ...stored, sku: { tier: "Standard", ...sku } };
}

function profileForm(input: PutInput, written: Json): Json {
  const storage = objectOf(written["storageProfile"]);
  const windows = isWindows(storage);
  return {
    ...written,
    ...(written["osProfile"] !== undefined && {
      osProfile: osProfileForm(objectOf(written["osProfile"]), windows, false),
    }),
    ...(written["storageProfile"] !== undefined && {
      storageProfile: { ...storage, osDisk: osDiskForm(objectOf(storage["osDisk"]), windows) },
    }),
    ...(written["networkProfile"] !== undefined && {
      networkProfile: networkProfileForm(input, objectOf(written["networkProfile"])),
    }),
  };
}

function networkOf(body: Json): Json {
  return objectOf(objectOf(propertiesOf(body)["virtualMachineProfile"])["networkProfile"]);
}

/** The health probe of a scale set must be used by a rule. */
function checkHealthProbe(input: PutInput, body: Json): void {
  const id = stringOf(objectOf(networkOf(body)["healthProbe"])["id"]);
  const probe = id === undefined ? undefined : findChild(input.state, id, "probes");
  if (!probe || probeIsActive(probe.resource.body, probe.id)) return;
  throw invalid(
    "CannotUseInactiveHealthProbe",
    `VM scale set ${input.id} cannot use probe ${probe.id} as a HealthProbe because load balancing rules that use it are missing.`,
  );
}

function membersOf(state: State, scaleSetKey: string): Resource[] {
  return referrers(state, scaleSetKey, "scaleSetMember").flatMap(
    (member) => state.resources.get(keyOf(member.from)) ?? [],
  );
}

function plan(input: PutInput, body: Json): Plan {
  const { existing, state } = input;
  if (
    existing &&
    isFlexible(existing.body) !== isFlexible(body) &&
    propertiesOf(body)["orchestrationMode"] !== undefined
  ) {
    throw compute(409, "PropertyChangeNotAllowed", "Changing property 'orchestrationMode' is not allowed.");
  }
  const stored = form(input, body);
  checkHealthProbe(input, stored);
  const members = membersOf(state, input.key);
  const wanted = capacityOf(input, stored) ?? members.length;
  const first = numberOf(existing?.assigned["nextInstance"]) ?? 0;
  const reservations = new Reservations();
  const kept = members.slice(0, wanted);
  const companions: Change[] = [];
  for (const member of members.slice(wanted)) companions.push(...dropped(state, member));
  if (!isFlexible(stored)) companions.push(...remodelling(input, stored, kept, reservations));
  const missing = Math.max(0, wanted - members.length);
  companions.push(
    ...(isFlexible(stored) ? newFlexibleMachines : newInstances)({
      input,
      model: stored,
      first,
      count: missing,
      reservations,
    }),
  );
  const assigned = { nextInstance: first + missing };
  return {
    body: stored,
    assigned,
    pace: "later",
    companions,
    weight: wanted,
    present: (wire) => withCapacity(wire, wanted),
  };
}

function capacityOf(input: PutInput, body: Json): number | undefined {
  const capacity = objectOf(body["sku"])["capacity"];
  if (capacity === undefined) return undefined;
  const limit = input.state.options.limits.instancesPerScaleSet;
  if (typeof capacity === "number" && Number.isInteger(capacity) && capacity >= 0 && capacity <= limit) return capacity;
  throw compute(
    400,
    "InvalidParameter",
    `The value ${JSON.stringify(capacity)} of parameter sku.capacity is invalid. It must be a whole number from 0 to ${limit}.`,
  );
}

/** Removes a machine and its NICs. */
function dropped(state: State, member: Resource): Change[] {
  const key = keyOf(member.id);
  const nics = (state.outgoing.get(key) ?? []).filter((item) => item.kind === "virtualMachine");
  return [{ kind: "drop", key }, ...nics.map((item): Change => ({ kind: "drop", key: item.to }))];
}

/** Updates the instances to a new model or, under a manual policy, marks them as outdated. */
function remodelling(
  input: PutInput,
  stored: Json,
  members: readonly Resource[],
  reservations: Reservations,
): Change[] {
  const { existing, state } = input;
  const network = networkOf(stored);
  const profile = (body: Json): unknown => propertiesOf(body)["virtualMachineProfile"];
  if (!existing || sameJson(profile(existing.body), profile(stored))) return [];
  const manual = stringOf(objectOf(propertiesOf(stored)["upgradePolicy"])["mode"]) === "Manual";
  return members.flatMap((member) => {
    if (manual && propertiesOf(member.body)["latestModelApplied"] === false) return [];
    const change = remodelled(member, manual ? undefined : network, state, reservations);
    if (!manual && change.kind === "put") checkNics(state, member, change.resource);
    return [change];
  });
}

function newInstances({ input, model, first, count, reservations }: Growth): Change[] {
  const base = Math.max(input.state.nextSequence, input.sequence + 1);
  return Array.from({ length: count }, (_, index) => {
    const resource = newInstance({
      state: input.state,
      scaleSetId: input.id,
      location: input.location,
      instanceId: first + index,
      sequence: base + index,
      guid: derivedGuid(`${input.draws.guid()}:${index}`),
      nowMs: input.request.nowMs,
      model,
      reservations,
    });
    if (index === 0) checkNics(input.state, undefined, resource);
    return { kind: "put", resource };
  });
}

function render(state: State, resource: Resource): Json {
  const wire = computeEnvelope(resource, {
    ...propertiesOf(resource.body),
    provisioningState: resource.state,
    uniqueId: resource.guid,
    timeCreated: timeOf(resource.createdMs),
  });
  return withCapacity(wire, referrers(state, keyOf(resource.id), "scaleSetMember").length);
}

function withCapacity(wire: Json, capacity: number): Json {
  return wire["sku"] === undefined ? wire : { ...wire, sku: { ...objectOf(wire["sku"]), capacity } };
}

function view(state: State, resource: Resource, path: readonly string[]): View | undefined {
  const members = (): Resource[] =>
    membersOf(state, keyOf(resource.id)).filter((member) => member.type !== "Microsoft.Compute/virtualMachines");
  if (path.length !== 1) return undefined;
  switch ((path[0] ?? "").toLowerCase()) {
    case "instanceview": {
      const count = membersOf(state, keyOf(resource.id)).length;
      const statusesSummary = [{ code: "ProvisioningState/succeeded", count }];
      return { one: { virtualMachine: { statusesSummary }, statuses: [provisioningStatus(resource)] } };
    }
    case "networkinterfaces":
      return { list: members().flatMap(renderNics) };
    case "publicipaddresses":
      return { list: members().flatMap((member) => renderPublicIps(state, member)) };
    default:
      return undefined;
  }
}

export const scaleSet: ResourceType = {
  type: "Microsoft.Compute/virtualMachineScaleSets",
  operation: "VirtualMachineScaleSet",
  nameRule: "virtualMachine",
  children: [],
  creating: "Creating",
  deleteStatus: 202,
  plan,
  references: (resource) => modelReferences(resource.id, networkOf(resource.body)),
  render,
  view,
  checkDelete: (state, resource) => {
    const [machine] = membersOf(state, keyOf(resource.id)).filter(() => isFlexible(resource.body));
    if (!machine) return;
    throw compute(
      409,
      "OperationNotAllowed",
      `Virtual machine scale set '${nameOf(resource.id)}' still has the virtual machine ${machine.id}. Delete it first.`,
    );
  },
  dependants: (state, resource) => membersOf(state, keyOf(resource.id)).map((member) => keyOf(member.id)),
};
