/** Instance views: provisioning and power as status codes. */
import type { Resource } from "../changes.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { timeOf } from "./envelope.ts";

/** `ProvisioningState/succeeded`, as statuses spell it. */
export function provisioningStatus(resource: Resource): Json {
  const state = resource.state.toLowerCase();
  const word = state === "succeeded" ? "Provisioning succeeded" : `Provisioning ${state}`;
  return { code: `ProvisioningState/${state}`, level: "Info", displayStatus: word, time: timeOf(resource.createdMs) };
}

export function instanceView(resource: Resource, computerName: string): Json {
  const power = stringOf(resource.assigned["powerState"]) ?? "running";
  const storage = objectOf(propertiesOf(resource.body)["storageProfile"]);
  const windows = objectOf(storage["osDisk"])["osType"] === "Windows";
  return {
    platformUpdateDomain: 0,
    platformFaultDomain: 0,
    computerName,
    osName: windows ? windowsName(objectOf(storage["imageReference"])) : "ubuntu",
    osVersion: windows ? "10.0" : "22.04",
    vmAgent: {
      vmAgentVersion: "2.0.0.0",
      statuses: [
        {
          code: "ProvisioningState/succeeded",
          level: "Info",
          displayStatus: "Ready",
          message: windows ? "GuestAgent is running and processing the extensions." : "Guest Agent is running",
          time: timeOf(resource.createdMs),
        },
      ],
    },
    disks: [{ name: diskName(resource), statuses: [provisioningStatus(resource)] }],
    hyperVGeneration: "V1",
    statuses: [
      provisioningStatus(resource),
      { code: `PowerState/${power}`, level: "Info", displayStatus: `VM ${power}` },
    ],
  };
}

/** `2019-Datacenter` is shown as `Windows Server 2019 Datacenter`. */
function windowsName(image: Json): string {
  return ["Windows Server", ...(stringOf(image["sku"])?.split("-") ?? [])].join(" ");
}

function diskName(resource: Resource): string {
  const disk = objectOf(objectOf(propertiesOf(resource.body)["storageProfile"])["osDisk"]);
  return stringOf(disk["name"]) ?? `${resource.id.split("/").at(-1)}_OsDisk`;
}

/** Whether a request asks for the instance view along with the resource. */
export function wantsInstanceView(query: Readonly<Record<string, string>>): boolean {
  return (query["$expand"] ?? "").toLowerCase() === "instanceview";
}
