/**
 * Which private link service a Service uses, and how it should be. The one on its frontend counts; else one that it moves
 * from a frontend of the same load balancer; else one of its own is made.
 *
 *   on the frontend, or under the name, is one of | the Service
 *   ----------------------------------------------|---------------------------------------------------------------
 *   none                                          | makes one, named as asked or after the frontend
 *   this Service, or one that left the frontend   | keeps it; another name or resource group is refused
 *   a Service that uses the frontend as well      | shares it, if it says nothing else about it; else it is refused
 *   another cluster, a person, another Service    | is refused
 *
 * When each may be written is decided by `service/private-links.ts`.
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { PRIVATE_LINK } from "../../intent/annotations/private-link.ts";
import type { PrivateLinkIntent } from "../../intent/service-intent.ts";
import type { PrivateLinkAddress, PrivateLinkService } from "../../model/arm.ts";
import { parseId, privateLinkServiceId, sameId, subnetId } from "../../model/ids.ts";
import { privateLinkAddressName, privateLinkServiceName } from "../../model/names.ts";
import { CLUSTER_TAG, OWNER_TAG } from "../../model/tags.ts";
import type { Owner, Rejection } from "../../outcome.ts";
import type { PrivateLinkServiceFragment } from "./fragment.ts";
import {
  frontendsOf,
  isOfCluster,
  isOnLoadBalancer,
  linksOn,
  ownerKeyOf,
  type PrivateLinkServices,
  sameKey,
} from "./private-link-services.ts";

export interface PrivateLinkInput {
  readonly owner: Owner;
  readonly intent: PrivateLinkIntent;
  readonly config: ClusterConfig;
  readonly frontend: { readonly id: string; readonly name: string };
  readonly privateLinkServices: PrivateLinkServices;
  /** Does another Service of this key use the frontend, and ask for a private link service as well? */
  readonly isAskedBy: (key: string) => boolean;
}

export type DesiredPrivateLink =
  | {
      readonly kind: "own";
      readonly id: string;
      readonly seen: PrivateLinkService | undefined;
      readonly fragment: Present;
    }
  /** Another Service's, on the same frontend: it is as that one asks. */
  | { readonly kind: "shared" }
  /** This Service's, on a load balancer that it has left: Azure moves none, so it goes before another takes its name. */
  | { readonly kind: "inTheWay"; readonly seen: PrivateLinkService };

type Present = Extract<PrivateLinkServiceFragment, { kind: "present" }>;

export function desiredPrivateLinkService(input: PrivateLinkInput): DesiredPrivateLink | Rejection {
  const { owner, intent, config, frontend, privateLinkServices } = input;
  const there = onFrontend(input);
  if (there !== undefined) return refuseForeign(input, there, "stands on its frontend") ?? used(input, there);
  const moving = movingLink(input);
  const name = intent.name ?? moving?.name ?? privateLinkServiceName(frontend.name);
  const id = moving?.id ?? privateLinkServiceId(config, intent.resourceGroup, name);
  const list = privateLinkServices.get(intent.resourceGroup.toLowerCase()) ?? [];
  const seen = list.find((one) => sameId(one.id, id));
  if (seen === undefined) return own(input, id, undefined);
  const foreign = refuseForeign(input, seen, "has that name");
  if (foreign !== undefined) return foreign;
  const key = ownerKeyOf(seen);
  if (!sameKey(key, owner.key)) return refuseTaken(input, seen, key === undefined ? "no Service" : `Service ${key}`);
  return isOnLoadBalancer(seen, frontend.id) ? own(input, id, seen) : { kind: "inTheWay", seen };
}

/** Of several on one frontend: the cluster's, in the group that is asked for. */
function onFrontend({
  config,
  intent,
  frontend,
  privateLinkServices,
}: PrivateLinkInput): PrivateLinkService | undefined {
  const links = linksOn(privateLinkServices, frontend.id);
  const ours = links.filter((seen) => isOfCluster(seen, config.clusterName));
  return ours.find((seen) => isInGroup(seen, intent.resourceGroup)) ?? ours[0] ?? links[0];
}

/**
 * One of this Service's on another frontend of the same load balancer moves along if something would be lost with it:
 * connections, or the name that is asked for.
 */
function movingLink(input: PrivateLinkInput): PrivateLinkService | undefined {
  const { owner, intent, config, frontend, privateLinkServices } = input;
  const list = privateLinkServices.get(intent.resourceGroup.toLowerCase()) ?? [];
  return list.find((seen) => {
    const isOurs = isOfCluster(seen, config.clusterName) && sameKey(ownerKeyOf(seen), owner.key);
    const isNamed = intent.name === undefined || sameKey(intent.name, seen.name);
    const isWorth = intent.name !== undefined || (seen.properties.privateEndpointConnections ?? []).length > 0;
    return isOurs && isNamed && isWorth && frontendsOf(seen).length > 0 && isOnLoadBalancer(seen, frontend.id);
  });
}

/** One of the cluster's, on the frontend. */
function used(input: PrivateLinkInput, seen: PrivateLinkService): DesiredPrivateLink | Rejection {
  const { owner, intent, isAskedBy } = input;
  const key = ownerKeyOf(seen);
  if (key !== undefined && !sameKey(key, owner.key) && isAskedBy(key)) {
    const [detail] = intent.details;
    return detail === undefined ? { kind: "shared" } : refuseDetail(seen, detail, key);
  }
  if (intent.name !== undefined && !sameKey(intent.name, seen.name)) {
    return refuseChange(PRIVATE_LINK.name.key, intent.name, seen, seen.name);
  }
  if (!isInGroup(seen, intent.resourceGroup)) {
    return refuseChange(PRIVATE_LINK.resourceGroup.key, intent.resourceGroup, seen, groupOf(seen));
  }
  return own(input, seen.id, seen);
}

function own(input: PrivateLinkInput, id: string, seen: PrivateLinkService | undefined): DesiredPrivateLink {
  const { owner, intent, config, frontend } = input;
  const { fqdns, proxyProtocol, visibility, autoApproval } = intent;
  const { clusterName, tags, systemTags } = config;
  const name = seen?.name ?? parseId(id)?.name ?? "";
  const former = seen && ownerKeyOf(seen);
  const fragment: Present = {
    kind: "present",
    owner,
    clusterName,
    create: newBody(config, owner, id, name),
    frontend: frontend.id,
    addresses: addressesOf(input, name),
    fqdns,
    proxyProtocol,
    visibility,
    autoApproval,
    tags,
    systemTags,
    formerOwner: sameKey(former, owner.key) ? undefined : former,
  };
  return { kind: "own", id, seen, fragment };
}

function newBody(config: ClusterConfig, owner: Owner, id: string, name: string): PrivateLinkService {
  return {
    id,
    name,
    location: config.location,
    ...(config.extendedLocation && { extendedLocation: config.extendedLocation }),
    tags: { [CLUSTER_TAG]: config.clusterName, [OWNER_TAG]: owner.key },
    properties: {},
  };
}

/** The named ones, then those that Azure chooses; the first of all is the primary one. */
function addressesOf({ config, intent }: PrivateLinkInput, name: string): PrivateLinkAddress[] {
  const subnet = { id: subnetId(config, intent.subnet) };
  return Array.from({ length: intent.addressCount }, (_, at): PrivateLinkAddress => {
    const address = intent.addresses[at];
    const suffix = address === undefined ? `dynamic-${at - intent.addresses.length}` : `static-${address}`;
    return {
      name: privateLinkAddressName(intent.subnet, name, suffix),
      properties: {
        ...(address !== undefined && { privateIPAddress: address }),
        privateIPAllocationMethod: address === undefined ? "Dynamic" : "Static",
        privateIPAddressVersion: "IPv4",
        primary: at === 0,
        subnet,
      },
    };
  });
}

function isInGroup(seen: PrivateLinkService, group: string): boolean {
  return groupOf(seen).toLowerCase() === group.toLowerCase();
}

function groupOf({ id }: PrivateLinkService): string {
  return parseId(id)?.resourceGroup ?? "";
}

function refuseForeign(
  { config, intent }: PrivateLinkInput,
  seen: PrivateLinkService,
  where: string,
): Rejection | undefined {
  if (isOfCluster(seen, config.clusterName)) return undefined;
  const message =
    `${keyFor(intent)}: private link service "${seen.name}" in resource group "${groupOf(seen)}" ${where} and is not this ` +
    `cluster's (tag ${CLUSTER_TAG}): delete it, or remove ${PRIVATE_LINK.create.key}` +
    (where === "has that name" ? `, or set ${PRIVATE_LINK.name.key} to another name` : "");
  return { kind: "rejection", reason: "PrivateLinkServiceTaken", message };
}

function refuseTaken({ intent }: PrivateLinkInput, seen: PrivateLinkService, whose: string): Rejection {
  const message =
    `${keyFor(intent)}: private link service "${seen.name}" in resource group "${groupOf(seen)}" belongs to ${whose} ` +
    `(tag ${OWNER_TAG}) and stands on another frontend: set ${PRIVATE_LINK.name.key} to another name`;
  return { kind: "rejection", reason: "PrivateLinkServiceTaken", message };
}

/** The value that led to the name. */
function keyFor({ name }: PrivateLinkIntent): string {
  return name === undefined ? `${PRIVATE_LINK.create.key}: "true"` : `${PRIVATE_LINK.name.key}: "${name}"`;
}

function refuseDetail(seen: PrivateLinkService, detail: string, key: string): Rejection {
  const message =
    `${detail}: private link service "${seen.name}" on the same address belongs to Service ${key}, which alone says how it ` +
    `is: remove the annotation here, or set it there`;
  return { kind: "rejection", reason: "PrivateLinkServiceTaken", message };
}

function refuseChange(key: string, value: string, seen: PrivateLinkService, now: string): Rejection {
  const message =
    `${key}: "${value}" cannot be given to private link service "${seen.name}", which exists with "${now}" and would lose its ` +
    `connections: set it to "${now}", or, to replace it, remove ${PRIVATE_LINK.create.key}, delete it in Azure and add ` +
    "the annotation again";
  return { kind: "rejection", reason: "PrivateLinkServiceFixed", message };
}
