/** Private link services as they were read: on which frontends they stand, and whose they are. */
import type { PrivateLinkService } from "../../model/arm.ts";
import { parentId } from "../../model/ids.ts";
import { CLUSTER_TAG, OWNER_TAG } from "../../model/tags.ts";
import { tagValue } from "../../model/tags.ts";
import { memo } from "../../util/memo.ts";

/** By lower-cased resource group; a group that is missing has not been read. */
export type PrivateLinkServices = ReadonlyMap<string, readonly PrivateLinkService[]>;

const byFrontend = memo((all: PrivateLinkServices): ReadonlyMap<string, readonly PrivateLinkService[]> => {
  const pairs = [...all.values()].flat().flatMap((seen) => frontendsOf(seen).map((id) => [id, seen] as const));
  const groups = Map.groupBy(pairs, ([id]) => id);
  return new Map([...groups].map(([id, group]) => [id, group.map(([, seen]) => seen)]));
});

export function linksOn(all: PrivateLinkServices, frontendId: string): readonly PrivateLinkService[] {
  return byFrontend(all).get(frontendId.toLowerCase()) ?? [];
}

/** Those that count, by the names, in lower case, of this load balancer's frontends that they stand on. */
export function linkedFrontends(
  all: PrivateLinkServices,
  loadBalancerId: string,
  counts: (seen: PrivateLinkService) => boolean,
): ReadonlyMap<string, readonly PrivateLinkService[]> {
  const prefix = `${loadBalancerId}/frontendIPConfigurations/`.toLowerCase();
  const entries = [...byFrontend(all)]
    .filter(([id]) => id.startsWith(prefix))
    .map(([id, links]) => [id.slice(prefix.length), links.filter(counts)] as const);
  return new Map(entries.filter(([, links]) => links.length > 0));
}

/** Ids in lower case. */
export function frontendsOf({ properties }: PrivateLinkService): readonly string[] {
  return (properties.loadBalancerFrontendIpConfigurations ?? []).map(({ id }) => id.toLowerCase());
}

export function isOnLoadBalancer(seen: PrivateLinkService, frontendId: string): boolean {
  const loadBalancer = parentId(frontendId.toLowerCase());
  return frontendsOf(seen).every((id) => parentId(id) === loadBalancer);
}

/** Anything else is another cluster's, or a person's, and never changed. */
export function isOfCluster({ tags }: PrivateLinkService, clusterName: string): boolean {
  return tagValue(tags, CLUSTER_TAG)?.trim().toLowerCase() === clusterName.toLowerCase();
}

/** `namespace/name` as the tag has it; `undefined`: no Service is named. */
export function ownerKeyOf({ tags }: PrivateLinkService): string | undefined {
  return tagValue(tags, OWNER_TAG)?.trim() || undefined;
}

export function sameKey(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}
