/**
 * The owner of a part of a load balancer, for texts: a Service of this cluster by its name, since the part's name is a
 * hash to the user; any other by the name of the part.
 */
import { serviceKey, type Service } from "../../model/kubernetes.ts";
import { baseName, isServiceBase } from "../../model/names.ts";
import { memo } from "../../util/memo.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import type { FrontendUser } from "./load-balancer-index.ts";

export interface PartUser {
  /** One of ours that we know. */
  readonly isService: boolean;
  readonly text: string;
}

/** `batch`: the fragments that are merged along, and the neighbours that they name. */
export function userOf({ kind, name, base }: FrontendUser, batch: readonly LoadBalancerFragment[]): PartUser {
  const key = isServiceBase(base) ? keyOfBase(base, batch) : undefined;
  if (key !== undefined) return { isService: true, text: `Service ${key}` };
  const stranger = isServiceBase(base) ? " of a Service that is not in this cluster" : "";
  return { isService: false, text: `${kind} "${name}"${stranger}` };
}

function keyOfBase(base: string, batch: readonly LoadBalancerFragment[]): string | undefined {
  const mate = batch.find(({ owner }) => owner.base.toLowerCase() === base);
  if (mate !== undefined) return mate.owner.key;
  const neighbours = batch.find((fragment) => fragment.neighbours !== undefined)?.neighbours;
  return keyIn(neighbours ?? [], base);
}

/** `namespace/name` of the Service whose names start so, in lower case. */
export function keyIn(services: readonly Service[], base: string): string | undefined {
  const found = servicesByBase(services).get(base);
  return found && serviceKey(found);
}

interface ServicesSeen {
  readonly otherServices?: readonly Service[];
  readonly clusterServices?: readonly Service[];
}

/** Does a Service of the cluster have this base? One that is no load balancer at present may become one again. */
export function isBaseInUse({ otherServices = [], clusterServices = [] }: ServicesSeen, base: string): boolean {
  return servicesByBase(otherServices).has(base) || servicesByBase(clusterServices).has(base);
}

/** By the base of their names in lower case: made once for a list, however many ask. */
export const servicesByBase = memo(
  (services: readonly Service[]): ReadonlyMap<string, Service> =>
    new Map(services.map((service) => [baseName(service.metadata.uid).toLowerCase(), service])),
);
