/**
 * A command to copy for a Service that needs a person: the one that ends the matter where there is one, else the one that
 * opens the Service for the change that its message asks for.
 */
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { isDrifted, type Standing } from "./standing.ts";

export function fixOf({ metadata }: Service, standing: Standing): string | undefined {
  const { state, reason } = standing;
  const target = `-n ${metadata.namespace ?? "default"}`;
  if (isDrifted(standing))
    return `kubectl annotate service ${metadata.name} ${target} azlb.io/drift-policy=enforce --overwrite`;
  if (reason === "WriteWithheld") return "azlb plan   # then, if that is what you want: azlb release-brake";
  if (state === "refused") return `kubectl edit service ${metadata.name} ${target}`;
  if (state === "failing" || reason !== undefined) return `azlb explain service/${metadata.name} ${target}`;
  return undefined;
}

/** For other tenants' eyes: `text` without the names of Services that the reader may not see. */
export function withoutOthers(text: string, others: ReadonlySet<string>): string {
  return text.replaceAll(
    /\b(?:Service )?([a-z\d](?:[-a-z\d]*[a-z\d])?\/[a-z\d](?:[-a-z\d]*[a-z\d])?)\b/g,
    (whole, key: string) => (others.has(key) ? ANOTHER_SERVICE : whole),
  );
}

export const ANOTHER_SERVICE = "another Service";

/** Keys of all Services but one. */
export function othersThan(service: Service, all: readonly Service[]): ReadonlySet<string> {
  const own = serviceKey(service);
  return new Set(all.map(serviceKey).filter((key) => key !== own));
}
