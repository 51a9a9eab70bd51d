/** Refuses a Service that names a subnet, a VNet or a resource group that was looked for and is not there. */
import { keyText } from "../config/cluster-config.ts";
import { PLACEMENT } from "../intent/annotations/placement.ts";
import { PRIVATE_LINK } from "../intent/annotations/private-link.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Observed } from "../observed.ts";
import type { Rejection } from "../outcome.ts";

export function refuseMissing(observed: Observed, intent: ServiceIntent): Rejection | undefined {
  const subnet = subnetsOf(observed, intent).find((name) => isSubnetMissing(observed, name));
  if (subnet !== undefined) return refuseSubnet(observed, intent, subnet);
  return isGroupMissing(observed, intent) ? refuseGroup(observed, intent) : undefined;
}

function subnetName({ config }: Pick<Observed, "config">, intent: ServiceIntent): string {
  return intent.subnet ?? config.subnetName;
}

/** Names of the subnets that the Service has addresses in, or its private link service. */
export function subnetsOf(observed: Pick<Observed, "config">, intent: ServiceIntent): string[] {
  const own = intent.scope === "internal" ? [subnetName(observed, intent)] : [];
  return [...own, ...(intent.privateLink === undefined ? [] : [intent.privateLink.subnet])];
}

export function subnetOf(observed: Observed, intent: ServiceIntent) {
  return intent.scope === "internal" ? observed.subnets.get(subnetName(observed, intent)) : undefined;
}

/** It was read, and it isn't there. */
function isSubnetMissing({ subnets }: Observed, name: string): boolean {
  return subnets.has(name) && subnets.get(name) === undefined;
}

function refuseSubnet(observed: Observed, intent: ServiceIntent, name: string): Rejection {
  const message = refusedNetwork(observed) ?? refusedSubnet(observed, intent, name);
  return { kind: "rejection", reason: "SubnetNotFound", message };
}

function refusedNetwork({ config, missingNetwork }: Observed): string | undefined {
  const { vnetName, vnetResourceGroup } = config;
  switch (missingNetwork) {
    case "network":
      return (
        `${keyText("vnetName", config)}: there is no VNet "${vnetName}" in resource group "${vnetResourceGroup}": ` +
        "correct vnetName, or vnetResourceGroup"
      );
    case "resourceGroup":
      return (
        `${keyText("vnetResourceGroup", config)}: resource group "${vnetResourceGroup}" does not exist: name the one that ` +
        `VNet "${vnetName}" is in, or remove the key, which stands for "${config.resourceGroup}"`
      );
    case undefined:
      return undefined;
  }
}

function refusedSubnet(observed: Observed, intent: ServiceIntent, name: string): string {
  const { vnetName } = observed.config;
  return `${whereFrom(observed, intent, name)}: VNet "${vnetName}" has no subnet "${name}": ${subnetsText(observed)}`;
}

function whereFrom({ config }: Observed, { subnet, privateLink }: ServiceIntent, name: string): string {
  if (name === subnet) return `annotation ${PLACEMENT.internalSubnet.key}`;
  const isOfLink = privateLink?.details.includes(PRIVATE_LINK.subnet.key) === true && privateLink.subnet === name;
  return isOfLink ? `annotation ${PRIVATE_LINK.subnet.key}` : keyText("subnetName", config);
}

function isGroupMissing({ missingGroups }: Observed, { publicIPs, publicIPResourceGroup }: ServiceIntent): boolean {
  const needsGroup = Object.keys(publicIPs).length > 0;
  return needsGroup && missingGroups?.has(publicIPResourceGroup.toLowerCase()) === true;
}

function refuseGroup({ config }: Observed, { publicIPResourceGroup }: ServiceIntent): Rejection {
  const message =
    `annotation ${PLACEMENT.resourceGroup.key}: resource group "${publicIPResourceGroup}" does not exist: create it, name one ` +
    `that exists, or remove the annotation, which stands for "${config.resourceGroup}"`;
  return { kind: "rejection", reason: "ResourceGroupNotFound", message };
}

/** An event is a sentence or two; a VNet may have thousands. */
const MOST_SUBNETS = 10;

function subnetsText({ subnetNames }: Observed): string {
  if (subnetNames === undefined) return "name one that it has";
  if (subnetNames.length === 0) return "there is none in it";
  const named = subnetNames.slice(0, MOST_SUBNETS).map((name) => `"${name}"`);
  const more = subnetNames.length - named.length;
  return `name one that it has (${named.join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}
