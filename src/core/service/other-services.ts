/** The other Services by the base of their names: made once for a list, however many ask. */
import type { Service } from "../model/kubernetes.ts";
import { baseName, isInternalName } from "../model/names.ts";
import type { Observed } from "../observed.ts";
import { memo } from "../util/memo.ts";
import { parseService } from "../intent/parse-service.ts";

const byBase = memo(
  (services: readonly Service[]): ReadonlyMap<string, Service> =>
    new Map(services.map((service) => [baseName(service.metadata.uid).toLowerCase(), service])),
);

export interface Surroundings {
  /**
   * Does the Service with this base want to be on a load balancer of this kind? One that cannot be read might: what it
   * has is left alone.
   */
  readonly isServedHere: (base: string) => boolean;
  /** For what is said to people. */
  readonly neighbours: readonly Service[];
}

export function surroundingsOn(
  { otherServices, config }: Pick<Observed, "otherServices" | "config">,
  loadBalancer: string,
): Surroundings {
  const isServedHere = (base: string): boolean => {
    const service = byBase(otherServices).get(base);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return false;
    const parsed = parseService(service, config);
    return !("intent" in parsed) || (parsed.intent.scope === "internal") === isInternalName(loadBalancer);
  };
  return { isServedHere, neighbours: otherServices };
}
