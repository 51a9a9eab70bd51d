/** Defaults of a machine's storage and OS profiles, for Windows and Linux images. */
import { objectOf, stringOf, without, type Json } from "../json.ts";

const SECRETS = new Set(["adminPassword", "customData"]);

export function isWindows(storageProfile: Json): boolean {
  const publisher = stringOf(objectOf(storageProfile["imageReference"])["publisher"]) ?? "";
  return objectOf(storageProfile["osDisk"])["osType"] === "Windows" || /windows/i.test(publisher);
}

export function osProfileForm(written: Json, windows: boolean, patching: boolean): Json {
  const shared = { secrets: [], allowExtensionOperations: true, requireGuestProvisionSignal: true };
  const kept = without(written, SECRETS);
  const mode = (name: string) =>
    patching ? { patchSettings: { patchMode: name, assessmentMode: "ImageDefault" } } : {};
  const platform = patching ? { enableVMAgentPlatformUpdates: true } : {};
  if (windows) {
    const windowsConfiguration = {
      provisionVMAgent: true,
      enableAutomaticUpdates: true,
      ...mode("AutomaticByOS"),
      ...platform,
      ...objectOf(kept["windowsConfiguration"]),
    };
    return { ...shared, ...kept, windowsConfiguration };
  }
  const linuxConfiguration = {
    disablePasswordAuthentication: false,
    provisionVMAgent: true,
    ...mode("ImageDefault"),
    ...objectOf(kept["linuxConfiguration"]),
  };
  return { ...shared, ...kept, linuxConfiguration };
}

export function osDiskForm(written: Json, windows: boolean): Json {
  return {
    osType: windows ? "Windows" : "Linux",
    createOption: "FromImage",
    caching: "None",
    diskSizeGB: windows ? 127 : 30,
    ...written,
  };
}

/** The image with its exact version, where the caller wrote `latest`. */
export function imageForm(written: Json): Json {
  const version = stringOf(written["version"]);
  if (version === undefined) return written;
  return { ...written, exactVersion: written["exactVersion"] ?? (version === "latest" ? "1.0.0" : version) };
}
