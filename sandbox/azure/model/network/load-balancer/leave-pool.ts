/** Removes a pool from the body of a member: a NIC, scale-set instance or scale set. */
import { isObject, objectsOf, stringOf, type Json } from "../../json.ts";

/** A copy without references to the pool. */
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
