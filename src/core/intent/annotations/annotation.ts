/** What is known of one annotation of a Service. Its siblings list them by subject; `groups.ts` has them all. */
import type { ValueKind } from "../annotation-values.ts";

export const PREFIX = "service.beta.kubernetes.io/";

/** Where a key comes from: the designs that this project implements, the incumbent's practice, or us. */
export type Origin = "design" | "incumbent" | "azlb";

export interface Annotation<Value> {
  readonly key: string;
  readonly kind: ValueKind<Value>;
  readonly byDefault: string;
  readonly effect: string;
  readonly origin: Origin;
}

export function annotation<Value>(
  name: string,
  kind: ValueKind<Value>,
  byDefault: string,
  effect: string,
  origin: Origin = "incumbent",
): Annotation<Value> {
  return { key: PREFIX + name, kind, byDefault, effect, origin };
}
