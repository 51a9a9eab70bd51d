/**
 * Which Azure cloud is used: where its resource manager and its sign-in are, for whom its tokens must be made out, and
 * which api-versions it knows. Named clouds are a table; a custom one describes itself at `/metadata/endpoints` of its
 * `resourceManagerEndpoint`, Azure Stack may instead be described by the file that AZURE_ENVIRONMENT_FILEPATH names.
 */
import { readFile } from "node:fs/promises";

import type { CloudName, CredentialConfig } from "../../core/config/credential-config.ts";
import type { ApiProfile } from "./api-versions.ts";
import { field, parseJson, textField } from "./response-body.ts";
import type { ArmTransport } from "./transport.ts";

export interface Cloud {
  /** Without a slash at the end, as all addresses here. */
  readonly resourceManager: string;
  readonly authority: string;
  readonly audience: string;
  readonly profile: ApiProfile;
  /** Of the emulator of this repository, on this machine: where it tells what Azure does not. */
  readonly emulatorControl?: string | undefined;
}

export type CloudSettings = Pick<CredentialConfig, "cloud" | "cloudName" | "resourceManagerEndpoint" | "azureStack">;

/** A cloud that cannot be found as configured: the message names the key, the value and the fix. */
class CloudError extends Error {
  override readonly name = "CloudError";
}

type Addresses = Omit<Cloud, "profile">;

/** Azure Stack has no addresses of its own until it is described. */
const NAMED: Readonly<Record<Exclude<CloudName, "AzureStackCloud">, Addresses>> = {
  AzurePublicCloud: {
    resourceManager: "https://management.azure.com",
    authority: "https://login.microsoftonline.com",
    audience: "https://management.core.windows.net",
  },
  AzureUSGovernmentCloud: {
    resourceManager: "https://management.usgovcloudapi.net",
    authority: "https://login.microsoftonline.us",
    audience: "https://management.core.usgovcloudapi.net",
  },
  AzureChinaCloud: {
    resourceManager: "https://management.chinacloudapi.cn",
    authority: "https://login.chinacloudapi.cn",
    audience: "https://management.core.chinacloudapi.cn",
  },
};

/** Authorities that Microsoft's instance discovery knows; it must be off for all others. */
export function isKnownAuthority(authority: string): boolean {
  return Object.values(NAMED).some((known) => known.authority === trimmed(authority));
}

/** `environmentFile`: the value of AZURE_ENVIRONMENT_FILEPATH, where it is set. */
export async function findCloud(
  settings: CloudSettings,
  transport: ArmTransport,
  environmentFile?: string,
  signal?: AbortSignal,
): Promise<Cloud> {
  const profile = settings.azureStack ? "azureStack" : "current";
  const isStack = settings.cloud === "AzureStackCloud";
  if (isStack && environmentFile) return { ...(await readEnvironment(environmentFile)), profile };
  const endpoint = trimmed(settings.resourceManagerEndpoint ?? "");
  if (endpoint !== "") return { ...(await askMetadata(endpoint, settings.cloudName, transport, signal)), profile };
  if (settings.cloud !== "AzureStackCloud") return { ...NAMED[settings.cloud], profile };
  throw new CloudError(
    `cloud: "${settings.cloudName}" needs resourceManagerEndpoint, or a file named by AZURE_ENVIRONMENT_FILEPATH`,
  );
}

async function askMetadata(
  endpoint: string,
  name: string,
  transport: ArmTransport,
  signal: AbortSignal | undefined,
): Promise<Addresses> {
  const url = `${endpoint}/metadata/endpoints?api-version=2019-05-01`;
  const headers = { accept: "application/json" };
  const answer = await transport.send({ method: "GET", url, headers, ...(signal && { signal }) });
  const listed = parseJson(answer.body);
  if (answer.status !== 200 || !Array.isArray(listed)) {
    const isBusy = answer.status === 429 || answer.status >= 500;
    const fix = isBusy ? "which should pass: try again" : "not a list of clouds: correct it";
    throw new CloudError(
      `resourceManagerEndpoint: ${endpoint} answered ${answer.status} to /metadata/endpoints, ${fix}`,
    );
  }
  const entry = listed.find((each) => name === "" || textField(each, "name")?.toLowerCase() === name.toLowerCase());
  if (entry === undefined) {
    const names = listed.map((each) => textField(each, "name")).join(", ");
    throw new CloudError(`cloud: "${name}" is not among the clouds of ${endpoint} (${names}); use one of these`);
  }
  return addressesOf(entry, endpoint);
}

function addressesOf(entry: unknown, endpoint: string): Addresses {
  const authentication = field(entry, "authentication");
  const audiences = field(authentication, "audiences");
  const authority = textField(authentication, "loginEndpoint");
  const audience: unknown = Array.isArray(audiences) ? audiences[0] : undefined;
  if (authority === undefined || typeof audience !== "string") {
    throw new CloudError(
      `resourceManagerEndpoint: ${endpoint} names no authentication.loginEndpoint or no audience in /metadata/endpoints`,
    );
  }
  const resourceManager = textField(entry, "resourceManager") || endpoint;
  const emulatorControl = loopbackUrl(textField(field(entry, "emulator"), "control"));
  return {
    resourceManager: trimmed(resourceManager),
    authority: trimmed(authority),
    audience: trimmed(audience),
    ...(emulatorControl !== undefined && { emulatorControl }),
  };
}

/** Whatever a cloud says of itself, no other machine is asked because of it. */
function loopbackUrl(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? "");
  return url?.protocol === "http:" && url.hostname === "127.0.0.1" ? trimmed(url.origin) : undefined;
}

async function readEnvironment(path: string): Promise<Addresses> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CloudError(`AZURE_ENVIRONMENT_FILEPATH: ${path} cannot be read`, { cause: error });
  });
  const body = parseJson(text);
  const [resourceManager, audience] = [textField(body, "resourceManagerEndpoint"), textField(body, "tokenAudience")];
  if (!resourceManager || !audience) {
    throw new CloudError(
      `AZURE_ENVIRONMENT_FILEPATH: ${path} must be JSON with resourceManagerEndpoint and tokenAudience`,
    );
  }
  const authority = textField(body, "activeDirectoryEndpoint") ?? NAMED.AzurePublicCloud.authority;
  return { resourceManager: trimmed(resourceManager), authority: trimmed(authority), audience: trimmed(audience) };
}

function trimmed(address: string): string {
  return address.trim().replace(/\/+$/, "");
}
