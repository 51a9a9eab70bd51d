/** What `azlb doctor` asks Azure: clock, identity, resource groups, each right of the role, quota and api-versions. Reads only. */
import { versionsOf } from "../azure/arm/api-versions.ts";
import type { ArmClient, CallOptions } from "../azure/arm/arm-client.ts";
import { ArmError, isGroupMissing } from "../azure/arm/failures.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { subnetId, virtualNetworkId } from "../core/model/ids.ts";
import { KINDS, READ_RIGHTS } from "../core/resources/kinds.ts";
import { errorText } from "../core/util/text.ts";
import { isAllowed, type Permission } from "./azure-permissions.ts";
import { type Check, ok, unknown, wrong } from "./doctor-checks.ts";
import { missingRight } from "./view-failures.ts";

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
  const isKnown = !checks.some(({ what }) => what === "identity" || what === "Azure");
  return [...(isKnown ? [ok("identity", "Azure accepts the token of the configured identity")] : []), ...checks];
}

function identityProblem(error: unknown, where: string, key: string, group: string, subscription: string): Check[] {
  const failure = error instanceof ArmError ? error.failure : undefined;
  if (error instanceof ArmError && failure?.kind === "denied")
    return [wrong(key, missingRight(error), "assign the role of deploy/azure-role.json on this resource group")];
  if (failure?.kind === "notFound") {
    const [name, value] = failure.missing === "subscription" ? ["subscriptionId", subscription] : [key, group];
    return [wrong(name, `"${value}" does not exist (${failure.code})`, `correct ${name} in ${where}`)];
  }
  if (failure?.kind === "throttled" || (error instanceof Error && error.name === "TimeoutError")) {
    const fix = "try again in some minutes, or give it longer (--timeout): Azure throttles, or is slow";
    return [wrong("Azure", failure?.message ?? "no answer within --timeout", fix)];
  }
  const fix =
    failure?.kind === "transient"
      ? `check network, proxy and resourceManagerEndpoint in ${where}`
      : `correct the identity (aadClientId, aadClientSecret, useManagedIdentityExtension, …) in ${where}`;
  return [wrong("identity", errorText(error), fix)];
}

/** A thing that the cloud config names, and that the controller reads. */
interface Named {
  readonly what: string;
  readonly ask: () => Promise<unknown>;
  /** The keys that name it, with their values: that of its resource group, then its own. */
  readonly keys: readonly [group: readonly [string, string], name: readonly [string, string]];
}

async function checkReads(question: AzureQuestion): Promise<Check[]> {
  const { client, config, signal } = question;
  const { resourceGroup, securityGroupName, securityGroupResourceGroup, vnetName, vnetResourceGroup } = config;
  const publicIPs = `${groupPath(config, resourceGroup)}/providers/Microsoft.Network/publicIPAddresses`;
  const securityGroup: Named = {
    what: "security group",
    ask: () => client.get(securityGroupPath(config), read(signal)),
    keys: [
      ["securityGroupResourceGroup", securityGroupResourceGroup],
      ["securityGroupName", securityGroupName],
    ],
  };
  const network: Named = {
    what: "VNet",
    ask: () => client.list(`${virtualNetworkId(config)}/subnets`, read(signal)),
    keys: [
      ["vnetResourceGroup", vnetResourceGroup],
      ["vnetName", vnetName],
    ],
  };
  const named = [...(securityGroupName === "" ? [] : [securityGroup]), ...(vnetName === "" ? [] : [network])];
  const checks = await Promise.all([
    checkListed(() => client.list(publicIPs, read(signal))),
    ...named.map((one) => checkNamed(question, one)),
  ]);
  const isThere = vnetName !== "" && checks.every(({ what, kind }) => what !== "read VNet" || kind === "ok");
  return isThere && config.subnetName !== "" ? [...checks, await checkSubnet(question)] : checks;
}

async function checkListed(ask: () => Promise<unknown>): Promise<Check> {
  const answer = await asked(ask);
  const fix = "assign the role of deploy/azure-role.json";
  return "problem" in answer ? wrong("read public IPs", answer.problem, fix) : ok("read public IPs", "works");
}

async function checkSubnet(question: AzureQuestion): Promise<Check> {
  const { client, config, signal } = question;
  const { vnetName, subnetName } = config;
  return checkNamed(question, {
    what: "subnet",
    ask: () => client.get(subnetId(config, subnetName), read(signal)),
    keys: [
      ["vnetName", vnetName],
      ["subnetName", subnetName],
    ],
  });
}

function securityGroupPath(config: ClusterConfig): string {
  const group = groupPath(config, config.securityGroupResourceGroup);
  return `${group}/providers/Microsoft.Network/networkSecurityGroups/${config.securityGroupName}`;
}

async function checkNamed({ where }: AzureQuestion, { what, ask, keys: [group, name] }: Named): Promise<Check> {
  const subject = `read ${what}`;
  try {
    await ask();
    return ok(subject, "works");
  } catch (error) {
    if (!(error instanceof ArmError) || error.failure.kind !== "notFound") {
      return wrong(subject, problemText(error), "assign the role of deploy/azure-role.json there");
    }
    const [key, value] = isGroupMissing(error) ? group : name;
    const text = isGroupMissing(error)
      ? `resource group "${value}" does not exist`
      : `there is no ${what} "${value}" in "${group[1]}"`;
    return wrong(subject, `${text} (${error.failure.code})`, `correct ${key} in ${where}, or create it`);
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
    return { problem: problemText(error) };
  }
}

function problemText(error: unknown): string {
  return error instanceof ArmError && error.failure.kind === "denied" ? missingRight(error) : errorText(error);
}
