/** Instances of a uniform scale set. A caller can write an instance to join or leave pools. */
import type { Change, Resource } from "../changes.ts";
import { compute } from "../errors.ts";
import { groupIdOf, keyOf, nameOf, parentKeyOf } from "../ids.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { checkMembership } from "../network/network-interface/membership.ts";
import { Reservations } from "../network/private-addresses.ts";
import type { Plan, PutInput, ResourceType, View } from "../resource-type.ts";
import type { State } from "../state.ts";
import { computeEnvelope, timeOf, writtenProperties, writtenTop } from "./envelope.ts";
import { instanceView, wantsInstanceView } from "./instance-view.ts";
import { imageForm, isWindows, osDiskForm, osProfileForm } from "./machine-profile.ts";
import { instanceReferences, nicsOf, profileOf, renderNics, renderPublicIps } from "./instance-nics.ts";
import { assignAddresses, networkProfileForm } from "./scale-set-network.ts";

const INSTANCE_TYPE = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines";

export interface InstanceSeed {
  readonly state: State;
  readonly scaleSetId: string;
  readonly location: string;
  readonly instanceId: number;
  readonly sequence: number;
  readonly guid: string;
  readonly nowMs: number;
  /** The scale set's stored body. */
  readonly model: Json;
  readonly reservations: Reservations;
}

/** A new instance from the scale set's model. */
export function newInstance(seed: InstanceSeed): Resource {
  const { state, location, model } = seed;
  const id = `${seed.scaleSetId}/virtualMachines/${seed.instanceId}`;
  const profile = objectOf(propertiesOf(model)["virtualMachineProfile"]);
  const network = objectOf(profile["networkProfile"]);
  const sku = objectOf(model["sku"]);
  const { healthProbe: _, ...networkProfileConfiguration } = network;
  return {
    id,
    type: INSTANCE_TYPE,
    location,
    guid: seed.guid,
    sequence: seed.sequence,
    revision: 1,
    state: "Creating",
    provisioned: false,
    lastOperation: "PutVirtualMachineScaleSetOperation",
    createdMs: seed.nowMs,
    body: {
      ...(model["tags"] !== undefined && { tags: model["tags"] }),
      ...(model["zones"] !== undefined && { zones: zoneOf(model["zones"], seed.instanceId) }),
      sku: { name: sku["name"], tier: sku["tier"] ?? "Standard" },
      properties: {
        latestModelApplied: true,
        modelDefinitionApplied: "VirtualMachineScaleSet",
        networkProfileConfiguration,
        hardwareProfile: { vmSize: sku["name"] },
        resilientVMDeletionStatus: "Disabled",
        storageProfile: storageOf(profile, seed),
        osProfile: osProfileOf(profile, seed.instanceId),
      },
    },
    assigned: { addresses: assignAddresses({ state, location, id }, network, undefined, seed.reservations) },
  };
}

function zoneOf(zones: unknown, instanceId: number): unknown {
  return Array.isArray(zones) && zones.length > 0 ? [zones[instanceId % zones.length]] : zones;
}

function storageOf(profile: Json, seed: InstanceSeed): Json {
  const storage = objectOf(profile["storageProfile"]);
  const set = nameOf(seed.scaleSetId);
  const name = `${set}_${set}_${seed.instanceId}_OS__1_${seed.guid.replaceAll("-", "")}`;
  const osDisk = osDiskForm(objectOf(storage["osDisk"]), isWindows(storage));
  const managedDisk = {
    ...objectOf(osDisk["managedDisk"]),
    id: `${groupIdOf(seed.scaleSetId)}/providers/Microsoft.Compute/disks/${name}`,
  };
  return {
    ...storage,
    imageReference: imageForm(objectOf(storage["imageReference"])),
    osDisk: { ...osDisk, name, managedDisk },
    dataDisks: storage["dataDisks"] ?? [],
  };
}

/** Computer names end in the instance id, six digits of base 36. */
function osProfileOf(profile: Json, instanceId: number): Json {
  const { computerNamePrefix, ...written } = objectOf(profile["osProfile"]);
  const computerName = `${stringOf(computerNamePrefix) ?? "vmss"}${instanceId.toString(36).padStart(6, "0")}`;
  return { computerName, ...osProfileForm(written, isWindows(objectOf(profile["storageProfile"])), false) };
}

function plan(input: PutInput, body: Json): Plan {
  const { existing } = input;
  if (!existing)
    throw compute(
      404,
      "NotFound",
      `The instance ${input.id} could not be found. Raise the scale set's capacity to make one.`,
    );
  const written = writtenProperties(body);
  const given = written["networkProfileConfiguration"];
  const profile = given === undefined ? profileOf(existing) : networkProfileForm(input, objectOf(given));
  const properties = { ...propertiesOf(existing.body), ...settable(written), networkProfileConfiguration: profile };
  const assigned = { ...existing.assigned, addresses: assignAddresses(input, profile, existing, new Reservations()) };
  const stored = { ...existing.body, ...writtenTop(body), sku: existing.body["sku"], properties };
  checkNics(input.state, existing, { ...existing, body: stored, assigned });
  return { body: stored, assigned, pace: "later" };
}

const FIXED = new Set([
  "latestModelApplied",
  "modelDefinitionApplied",
  "storageProfile",
  "osProfile",
  "networkProfile",
  "hardwareProfile",
]);

function settable(written: Json): Json {
  return Object.fromEntries(Object.entries(written).filter(([name]) => !FIXED.has(name)));
}

/** The same checks as for a NIC resource. */
export function checkNics(state: State, before: Resource | undefined, after: Resource): void {
  const references = instanceReferences(after);
  const held = before ? instanceReferences(before) : [];
  for (const nic of nicsOf(after)) {
    const own = (from: string): boolean => from.startsWith(`${nic.id}/`);
    checkMembership({
      state,
      nicId: nic.id,
      after: references.filter((item) => own(item.from)),
      before: held.filter((item) => own(item.from)),
      availabilitySet: parentKeyOf(keyOf(after.id)),
    });
  }
}

/** An instance updated to a new model, or marked as outdated. */
export function remodelled(
  instance: Resource,
  network: Json | undefined,
  state: State,
  reservations: Reservations,
): Change {
  const properties = propertiesOf(instance.body);
  const { healthProbe: _, ...profile } = network ?? {};
  const next = network
    ? { ...properties, latestModelApplied: true, networkProfileConfiguration: profile }
    : { ...properties, latestModelApplied: false };
  const addresses = network
    ? assignAddresses({ state, location: instance.location, id: instance.id }, network, instance, reservations)
    : undefined;
  const resource: Resource = {
    ...instance,
    revision: instance.revision + 1,
    state: network ? "Updating" : instance.state,
    body: { ...instance.body, properties: next },
    assigned: addresses ? { ...instance.assigned, addresses } : instance.assigned,
  };
  return { kind: "put", resource };
}

function render(resource: Resource): Json {
  const instanceId = nameOf(resource.id);
  const { latestModelApplied, modelDefinitionApplied, networkProfileConfiguration, ...others } = propertiesOf(
    resource.body,
  );
  const wire = computeEnvelope(
    resource,
    {
      latestModelApplied,
      modelDefinitionApplied,
      networkProfileConfiguration,
      provisioningState: resource.state,
      vmId: resource.guid,
      ...others,
      networkProfile: { networkInterfaces: nicsOf(resource).map((nic) => ({ id: nic.id })) },
      timeCreated: timeOf(resource.createdMs),
    },
    `${nameOf(resource.id.slice(0, resource.id.lastIndexOf("/virtualMachines/")))}_${instanceId}`,
  );
  return { ...wire, instanceId };
}

function viewOf(resource: Resource): Json {
  const name = stringOf(objectOf(propertiesOf(resource.body)["osProfile"])["computerName"]) ?? "";
  return { placementGroupId: resource.guid, ...instanceView(resource, name) };
}

/** `…/networkInterfaces[/{n}[/ipConfigurations[/{c}[/publicIPAddresses[/{p}]]]]]` and `…/instanceView`. */
function view(state: State, resource: Resource, path: readonly string[]): View | undefined {
  const [kind, nicName, second, ipName, third, publicName] = path.map((part) => part.toLowerCase());
  if (kind === "instanceview" && path.length === 1) return { one: viewOf(resource) };
  if (kind !== "networkinterfaces") return undefined;
  const nics = renderNics(resource);
  if (nicName === undefined) return { list: nics };
  const nic = named(nics, nicName);
  if (second === undefined) return { one: nic, etag: String(nic["etag"]) };
  if (second !== "ipconfigurations") return undefined;
  const configurations = propertiesOf(nic)["ipConfigurations"] as Json[];
  if (ipName === undefined) return { list: configurations };
  const configuration = named(configurations, ipName);
  if (third === undefined) return { one: configuration, etag: String(nic["etag"]) };
  if (third !== "publicipaddresses") return undefined;
  const addresses = renderPublicIps(state, resource).filter(
    (address) => objectOf(propertiesOf(address)["ipConfiguration"])["id"] === configuration["id"],
  );
  if (publicName === undefined) return { list: addresses };
  const address = named(addresses, publicName);
  return { one: address, etag: String(address["etag"]) };
}

function named(items: readonly Json[], name: string): Json {
  const found = items.find((item) => stringOf(item["name"])?.toLowerCase() === name);
  if (!found) throw compute(404, "NotFound", `${name} was not found.`);
  return found;
}

export const scaleSetInstance: ResourceType = {
  type: INSTANCE_TYPE,
  operation: "VirtualMachineScaleSetVM",
  nameRule: "instanceId",
  children: [],
  located: false,
  untracked: true,
  deleteStatus: 202,
  plan,
  references: (resource) => [
    { kind: "scaleSetMember", from: resource.id, to: parentKeyOf(keyOf(resource.id)) },
    ...instanceReferences(resource),
  ],
  render: (_state, resource) => render(resource),
  expand: (_state, resource, request) => {
    if (!wantsInstanceView(request.query)) return undefined;
    const wire = render(resource);
    return { ...wire, properties: { ...propertiesOf(wire), instanceView: viewOf(resource) } };
  },
  view,
  checkDelete: () => undefined,
};
