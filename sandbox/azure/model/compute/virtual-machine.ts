/** Virtual machines, alone, in an availability set or in a flexible scale set. */
import type { Resource } from "../changes.ts";
import { compute } from "../errors.ts";
import { keyOf, nameOf } from "../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { follow, referrers } from "../lookups.ts";
import type { Reference, ReferenceKind } from "../references.ts";
import type { PutInput, ResourceType } from "../resource-type.ts";
import { computeEnvelope, timeOf, writtenProperties, writtenTop } from "./envelope.ts";
import { instanceView, wantsInstanceView } from "./instance-view.ts";
import { imageForm, isWindows, osDiskForm, osProfileForm } from "./machine-profile.ts";

/** The normal form of a machine's body; its NICs must exist. */
function machineForm(input: PutInput, body: Json): Json {
  const properties = writtenProperties(body);
  for (const field of ["availabilitySet", "virtualMachineScaleSet"] as const) {
    const target = follow(input.state, properties[field], {
      owner: input.id,
      location: input.location,
      path: `properties.${field}`,
      anyState: true,
    });
    if (target) properties[field] = { id: target.id };
    else delete properties[field];
  }
  const storage = objectOf(properties["storageProfile"]);
  const windows = isWindows(storage);
  properties["storageProfile"] = {
    ...storage,
    imageReference: imageForm(objectOf(storage["imageReference"])),
    osDisk: { deleteOption: "Detach", ...osDiskForm(objectOf(storage["osDisk"]), windows) },
    dataDisks: storage["dataDisks"] ?? [],
  };
  if (properties["osProfile"] !== undefined)
    properties["osProfile"] = osProfileForm(objectOf(properties["osProfile"]), windows, true);
  const network = objectOf(properties["networkProfile"]);
  const interfaces = objectsOf(network["networkInterfaces"]).map((item) => interfaceForm(input, item));
  properties["networkProfile"] = { ...network, networkInterfaces: interfaces };
  return { ...writtenTop(body), properties };
}

function interfaceForm(input: PutInput, item: Json): Json {
  const rule = { owner: input.id, location: input.location, path: "properties.networkProfile.networkInterfaces" };
  const target = follow(input.state, item, rule);
  const [holder] = target
    ? referrers(input.state, target.key, "virtualMachine").filter((user) => user.from !== input.id)
    : [];
  if (holder) {
    throw compute(400, "NicInUse", `Network interface ${target?.id} is used by existing resource ${holder.from}.`);
  }
  return { ...item, id: target?.id };
}

function references(resource: Resource): Reference[] {
  const properties = propertiesOf(resource.body);
  const found: Reference[] = [];
  const add = (kind: ReferenceKind, value: unknown): void => {
    const id = stringOf(objectOf(value)["id"]);
    if (id !== undefined) found.push({ kind, from: resource.id, to: keyOf(id) });
  };
  for (const nic of objectsOf(objectOf(properties["networkProfile"])["networkInterfaces"])) add("virtualMachine", nic);
  add("availabilitySet", properties["availabilitySet"]);
  add("scaleSetMember", properties["virtualMachineScaleSet"]);
  return found;
}

function render(resource: Resource): Json {
  const { hardwareProfile, ...others } = propertiesOf(resource.body);
  return computeEnvelope(resource, {
    ...(hardwareProfile !== undefined && { hardwareProfile }),
    provisioningState: resource.state,
    vmId: resource.guid,
    ...others,
    timeCreated: timeOf(resource.createdMs),
  });
}

function viewOf(resource: Resource): Json {
  const { osProfile } = propertiesOf(resource.body);
  return instanceView(resource, stringOf(objectOf(osProfile)["computerName"]) ?? nameOf(resource.id));
}

const FILTER = /^\s*'?virtualMachineScaleSet\/id'?\s+eq\s+'([^']+)'\s*$/i;

export const virtualMachine: ResourceType = {
  type: "Microsoft.Compute/virtualMachines",
  operation: "VirtualMachine",
  nameRule: "virtualMachine",
  children: [],
  creating: "Creating",
  deleteStatus: 202,
  plan: (input, body) => ({ body: machineForm(input, body), assigned: input.existing?.assigned ?? {}, pace: "later" }),
  references,
  render: (_state, resource) => render(resource),
  expand: (_state, resource, request) => {
    if (!wantsInstanceView(request.query)) return undefined;
    const wire = render(resource);
    return { ...wire, properties: { ...propertiesOf(wire), instanceView: viewOf(resource) } };
  },
  filter: (resource, request) => {
    const asked = FILTER.exec(request.query["$filter"] ?? "")?.[1];
    if (asked === undefined) return true;
    const scaleSet = stringOf(objectOf(propertiesOf(resource.body)["virtualMachineScaleSet"])["id"]);
    return scaleSet?.toLowerCase() === asked.toLowerCase();
  },
  view: (_state, resource, path) =>
    path.length === 1 && path[0]?.toLowerCase() === "instanceview" ? { one: viewOf(resource) } : undefined,
  checkDelete: () => undefined,
};
