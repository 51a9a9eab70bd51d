/** Checks the number of resources of a type in a subscription and region against its limit. */
import type { Resource } from "../changes.ts";
import { invalid } from "../errors.ts";
import { subscriptionCollectionOf } from "../ids.ts";
import type { PutInput } from "../resource-type.ts";

/** The other resources of the same type, subscription and region. */
export function siblings(input: PutInput): Resource[] {
  const keys = input.state.collections.get(subscriptionCollectionOf(input.key) ?? "") ?? [];
  const found: Resource[] = [];
  for (const key of keys) {
    const resource = input.state.resources.get(key);
    if (resource && key !== input.key && resource.location === input.location) found.push(resource);
  }
  return found;
}

export interface CountRule {
  readonly limit: number;
  readonly code: string;
  /** Plural, for the message: `public IP addresses`. */
  readonly what: string;
  readonly counts?: (resource: Resource) => boolean;
}

/** Refuses a new resource beyond the limit; existing ones can still be written. */
export function checkCount(input: PutInput, rule: CountRule): void {
  if (input.existing) return;
  const keys = input.state.collections.get(subscriptionCollectionOf(input.key) ?? "");
  if ((keys?.size ?? 0) < rule.limit) return;
  const count = siblings(input).filter(rule.counts ?? (() => true)).length;
  if (count < rule.limit) return;
  throw invalid(rule.code, `Cannot create more than ${rule.limit} ${rule.what} for this subscription in this region.`);
}
