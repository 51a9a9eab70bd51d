/** Leaving a backend pool, from the member's side: NICs, scale-set instances and scale sets name their pools alike. */
import { isObject, objectsOf, stringOf, type Json } from "../../json.ts";

/** A copy in which no list of pools names this one. */
export function withoutPool(body: Json, poolKey: string): Json {
  return copyWithout(body, poolKey) as Json;
}

function copyWithout(value: unknown, poolKey: string): unknown {
  if (Array.isArray(value)) return value.map((item) => copyWithout(item, poolKey));
  if (!isObject(value)) return value;
  const copy: { [name: string]: unknown } = {};
  for (const name in value) {
    if (name !== "loadBalancerBackendAddressPools") {
      copy[name] = copyWithout(value[name], poolKey);
      continue;
    }
    const kept = objectsOf(value[name]).filter((item) => stringOf(item["id"])?.toLowerCase() !== poolKey);
    if (kept.length > 0) copy[name] = kept;
  }
  return copy;
}
