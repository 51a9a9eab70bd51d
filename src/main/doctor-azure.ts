/** What `azlb doctor` asks Azure: clock, identity, resource groups, each right of the role, quota and api-versions. Reads only. */
import { versionsOf } from "../azure/arm/api-versions.ts";
import type { ArmClient, CallOptions } from "../azure/arm/arm-client.ts";
import { ArmError } from "../azure/arm/failures.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { KINDS, READ_RIGHTS } from "../core/resources/kinds.ts";
import { errorText } from "../core/util/text.ts";
import { isAllowed, type Permission } from "./azure-permissions.ts";
import { type Check, ok, unknown, wrong } from "./doctor-checks.ts";
import { deniedText } from "./view-failures.ts";

export interface AzureQuestion {
  readonly client: Pick<ArmClient, "get" | "list">;
  readonly config: ClusterConfig;
  /** Of the file or Secret with the cloud config. */
  readonly where: string;
  readonly profile: "current" | "azureStack";
  readonly signal: AbortSignal;
}

export async function checkAzure(question: AzureQuestion): Promise<Check[]> {
  const first = await checkIdentity(question);
  if (first.some(({ kind }) => kind === "wrong")) return first;
  const more = await Promise.all([
    checkReads(question),
    checkRights(question),
    checkQuota(question),
    checkVersions(question),
  ]);
  return [...first, ...more.flat()];
}

function read(signal: AbortSignal): CallOptions {
  return { priority: "resync", signal };
}

function groupPath({ networkSubscriptionId }: ClusterConfig, group: string): string {
  return `/subscriptions/${networkSubscriptionId}/resourceGroups/${group}`;
}

/** A token can be had, and the subscription and the resource groups exist. */
async function checkIdentity({ client, config, where, signal }: AzureQuestion): Promise<Check[]> {
  const { resourceGroup, loadBalancerResourceGroup, networkSubscriptionId } = config;
  const own: readonly [string, string][] = [["resourceGroup", resourceGroup]];
  const isApart = loadBalancerResourceGroup.toLowerCase() !== resourceGroup.toLowerCase();
  const groups = isApart ? [...own, ["loadBalancerResourceGroup", loadBalancerResourceGroup] as const] : own;
  const checks: Check[] = [];
  for (const [key, group] of groups) {
    try {
      await client.list(`${groupPath(config, group)}/providers/Microsoft.Network/loadBalancers`, read(signal));
      checks.push(ok(key, `"${group}" exists`));
    } catch (error) {
      checks.push(...identityProblem(error, where, key, group, networkSubscriptionId));
    }
  }
  const isKnown = !checks.some(({ what }) => what === "identity");
  return [...(isKnown ? [ok("identity", "Azure accepts the token of the configured identity")] : []), ...checks];
}

function identityProblem(error: unknown, where: string, key: string, group: string, subscription: string): Check[] {
  const failure = error instanceof ArmError ? error.failure : undefined;
  if (error instanceof ArmError && failure?.kind === "denied")
    return [wrong(key, deniedText(error), "assign the role of deploy/azure-role.json on this resource group")];
  if (failure?.kind === "notFound") {
    const [name, value] = failure.missing === "subscription" ? ["subscriptionId", subscription] : [key, group];
    return [wrong(name, `"${value}" does not exist (${failure.code})`, `correct ${name} in ${where}`)];
  }
  const fix =
    failure?.kind === "transient"
      ? `check network, proxy and resourceManagerEndpoint in ${where}`
      : `correct the identity (aadClientId, aadClientSecret, useManagedIdentityExtension, …) in ${where}`;
  return [wrong("identity", errorText(error), fix)];
}

/** Reads that the controller does at every start. */
async function checkReads({ client, config, signal }: AzureQuestion): Promise<Check[]> {
  const { resourceGroup, securityGroupName } = config;
  const reads: readonly (readonly [what: string, ask: () => Promise<unknown>])[] = [
    [
      "public IPs",
      () =>
        client.list(`${groupPath(config, resourceGroup)}/providers/Microsoft.Network/publicIPAddresses`, read(signal)),
    ],
    ...(securityGroupName === ""
      ? []
      : ([["security group", () => client.get(securityGroupPath(config), read(signal))]] as const)),
  ];
  return Promise.all(reads.map(([what, ask]) => checkRead(`read ${what}`, ask)));
}

function securityGroupPath(config: ClusterConfig): string {
  const group = groupPath(config, config.securityGroupResourceGroup);
  return `${group}/providers/Microsoft.Network/networkSecurityGroups/${config.securityGroupName}`;
}

async function checkRead(what: string, ask: () => Promise<unknown>): Promise<Check> {
  try {
    await ask();
    return ok(what, "works");
  } catch (error) {
    const isDenied = error instanceof ArmError && error.failure.kind === "denied";
    const fix = isDenied
      ? "assign the role of deploy/azure-role.json"
      : "correct the name in the cloud config, or create it";
    return wrong(what, isDenied ? deniedText(error) : errorText(error), fix);
  }
}

/** By the list of what this identity may do on the resource group. */
async function checkRights({ client, config, signal }: AzureQuestion): Promise<Check[]> {
  const scope = groupPath(config, config.resourceGroup);
  const answer = await asked(() =>
    client.list<Permission>(`${scope}/providers/Microsoft.Authorization/permissions`, read(signal)),
  );
  if ("problem" in answer) return [unknown("rights in Azure", `cannot be checked here: ${answer.problem}`)];
  const needed = [...new Set([...Object.values(KINDS).flatMap(({ rights }) => rights), ...READ_RIGHTS])];
  const missing = needed.filter((action) => !isAllowed(action, answer.value));
  if (missing.length === 0)
    return [ok("rights in Azure", `all ${needed.length} actions of the role on ${config.resourceGroup}`)];
  const fix = `assign the role of deploy/azure-role.json to the identity on ${scope}`;
  return [wrong("rights in Azure", `missing on ${config.resourceGroup}: ${missing.join(", ")}`, fix)];
}

interface Usage {
  readonly name?: { readonly value?: string };
  readonly currentValue?: number;
  readonly limit?: number;
}

const QUOTAS = ["PublicIPAddresses", "StandardSkuPublicIpAddresses", "LoadBalancers", "StandardSkuLoadBalancers"];
/** Of a quota that is left. */
const LEAST_LEFT = 0.1;

async function checkQuota({ client, config, signal }: AzureQuestion): Promise<Check[]> {
  const { networkSubscriptionId, location } = config;
  const path = `/subscriptions/${networkSubscriptionId}/providers/Microsoft.Network/locations/${location}/usages`;
  const answer = await asked(() => client.list<Usage>(path, read(signal)));
  if ("problem" in answer) return [unknown("quota", `cannot be checked here: ${answer.problem}`)];
  const used = answer.value.filter(({ name }) => QUOTAS.includes(name?.value ?? ""));
  const texts = used.map(({ name, currentValue = 0, limit = 0 }) => `${name?.value} ${currentValue} of ${limit}`);
  const isShort = ({ currentValue = 0, limit = 0 }: Usage): boolean => limit - currentValue < limit * LEAST_LEFT;
  if (!used.some(isShort)) return [ok("quota", texts.join(", ") || "no limit is listed")];
  return [
    wrong("quota", `less than a tenth is left: ${texts.join(", ")}`, `ask Azure for a higher quota in ${location}`),
  ];
}

interface Provider {
  readonly resourceTypes?: readonly { readonly resourceType?: string; readonly apiVersions?: readonly string[] }[];
}

/** The cloud has one of the api-versions that are asked for. */
async function checkVersions({ client, config, profile, signal }: AzureQuestion): Promise<Check[]> {
  const path = `/subscriptions/${config.networkSubscriptionId}/providers/Microsoft.Network`;
  const answer = await asked(() => client.get<Provider>(path, read(signal)));
  const type = "loadBalancers";
  const offered =
    "problem" in answer
      ? []
      : (answer.value.resourceTypes?.find((one) => one.resourceType === type)?.apiVersions ?? []);
  if (offered.length === 0) return [unknown("api-versions", "cannot be checked here: the cloud lists none")];
  const wanted = versionsOf(profile, `Microsoft.Network/${type}`);
  const found = wanted.find((version) => offered.includes(version));
  if (found !== undefined) return [ok("api-versions", `Microsoft.Network ${found}`)];
  const fix = `for Azure Stack set cloud: AzureStackCloud; otherwise use a release for this cloud`;
  return [wrong("api-versions", `Microsoft.Network has none of ${wanted.join(", ")}, newest ${offered[0]}`, fix)];
}

/** What it answers, or why it cannot be asked: a cloud may lack it, and so may the identity. */
async function asked<T>(ask: () => Promise<T>): Promise<{ readonly value: T } | { readonly problem: string }> {
  try {
    return { value: await ask() };
  } catch (error) {
    return { problem: errorText(error) };
  }
}
