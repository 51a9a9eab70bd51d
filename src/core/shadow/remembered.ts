/**
 * The cluster as azlb would know it, had it been at work: predictions are made from the state before a change, so what the
 * incumbent writes on Services meanwhile (status, finalizer) does not count, a Service that it let go is still being
 * deleted, and the marks and member lists that azlb would have written are kept in memory.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { FINALIZER } from "../intent/ownership.ts";
import type { LoadBalancer, PublicIP } from "../model/arm.ts";
import { isReservedTag } from "../model/tags.ts";
import { listedOf, type ObservedAzure } from "../resources/observed-azure.ts";
import { type Node, type Service, serviceKey } from "../model/kubernetes.ts";
import { isPreConfigured } from "../resources/backend-pool/desired-backend-pool.ts";
import { APPLIED_ANNOTATION } from "../service/applied-state.ts";
import type { Decision } from "../steps.ts";
import type { Parts } from "./parts.ts";

/** Services by UID, as they were before the change, each with the mark that azlb would have set. */
export type Remembered = ReadonlyMap<string, Service>;

/** After a change. `ends`: the last decisions about them, by key; a Service without one keeps the mark that it had. */
export function remember(
  services: readonly Service[],
  ends: ReadonlyMap<string, Decision>,
  before: Remembered,
): Remembered {
  return new Map(
    services.map((service) => {
      const end = ends.get(serviceKey(service));
      const settled = end?.kind === "settled" ? end.applied : undefined;
      const mark = settled ?? markOf(before.get(service.metadata.uid)) ?? markOf(service);
      return [service.metadata.uid, withMark(service, mark)];
    }),
  );
}

/** The Services as they ask now, on what there was before the change. */
export function asRemembered(services: readonly Service[], before: Remembered): readonly Service[] {
  const present = new Set(services.map(({ metadata }) => metadata.uid));
  const gone = [...before.values()].filter(
    ({ metadata }) => !present.has(metadata.uid) && metadata.finalizers?.includes(FINALIZER),
  );
  return [...services.map((service) => overlaid(service, before.get(service.metadata.uid))), ...gone.map(leaving)];
}

function overlaid(service: Service, before: Service | undefined): Service {
  const { finalizers: _, ...metadata } = service.metadata;
  if (before === undefined) {
    // what is being deleted has a finalizer, or it would be gone
    const isLeaving = metadata.deletionTimestamp !== undefined;
    return {
      ...service,
      metadata: { ...metadata, ...(isLeaving && { finalizers: [FINALIZER] }) },
      status: isLeaving ? service.status : { loadBalancer: {} },
    };
  }
  const { finalizers } = before.metadata;
  const held = { ...service, metadata: { ...metadata, ...(finalizers && { finalizers }) }, status: before.status };
  return withMark(held, markOf(before));
}

function leaving(service: Service): Service {
  const { metadata } = service;
  return { ...service, metadata: { deletionTimestamp: "1970-01-01T00:00:00Z", ...metadata } };
}

function markOf(service: Service | undefined): string | undefined {
  return service?.metadata.annotations?.[APPLIED_ANNOTATION];
}

function withMark(service: Service, mark: string | undefined): Service {
  const { [APPLIED_ANNOTATION]: _, ...annotations } = service.metadata.annotations ?? {};
  const marked = mark === undefined ? annotations : { ...annotations, [APPLIED_ANNOTATION]: mark };
  return { ...service, metadata: { ...service.metadata, annotations: marked } };
}

/** Every Node of before may have an entry in every pool; pools that another tool fills have no member list. */
export function rememberedMembers(
  config: ClusterConfig,
  loadBalancers: readonly LoadBalancer[],
  nodes: readonly Node[],
): ReadonlyMap<string, readonly string[]> {
  const names = nodes.map(({ metadata }) => metadata.name);
  const filled = loadBalancers.filter(({ name }) => !isPreConfigured(config, name));
  return new Map(filled.map(({ id }) => [id.toLowerCase(), names]));
}

/**
 * Public IPs under names of users that were not there before, as they were made: no controller uses them yet. A Service may
 * name one as soon as it exists, so a prediction must know it.
 */
export function usersPublicIPs(azure: Pick<ObservedAzure, "listed">, before: Parts): PublicIP[] {
  const all = [...listedOf(azure, "publicIP").values()].flat();
  const made = all.filter(({ id, name }) => !before.has(id.toLowerCase()) && !/a[\da-f]{31}/i.test(name));
  return made.map(({ tags = {}, ...publicIP }) => {
    const { ipConfiguration: _, ...properties } = publicIP.properties;
    const own = Object.entries(tags).filter(([key]) => !isReservedTag(key));
    return { ...publicIP, tags: Object.fromEntries(own), properties };
  });
}
