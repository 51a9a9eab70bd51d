/** The other Services by the base of their names: made once for a list, however many ask. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../kubernetes.ts";
import { baseName, isInternalName } from "../names.ts";
import { parseService } from "./parse-service.ts";

const indexes = new WeakMap<readonly Service[], ReadonlyMap<string, Service>>();

function byBase(services: readonly Service[]): ReadonlyMap<string, Service> {
  const known = indexes.get(services);
  if (known !== undefined) return known;
  const index = new Map(services.map((service) => [baseName(service.metadata.uid).toLowerCase(), service]));
  indexes.set(services, index);
  return index;
}

/**
 * Does the Service with this base want to be on a load balancer of this kind? One that cannot be read might: what it
 * has is left alone.
 */
export function isServedOn(
  services: readonly Service[],
  config: ClusterConfig,
  loadBalancer: string,
): (base: string) => boolean {
  return (base) => {
    const service = byBase(services).get(base);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return false;
    const parsed = parseService(service, config);
    return !("intent" in parsed) || (parsed.intent.scope === "internal") === isInternalName(loadBalancer);
  };
}
