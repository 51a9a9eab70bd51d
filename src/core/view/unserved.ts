/** Why the controller serves no Service of a name, in words: there is none, or it is not one for this controller. */
import type { Service } from "../model/kubernetes.ts";

/** `found`: the Service of that name, of whatever type and class. */
export function unservedText(key: string, found: Service | undefined): string {
  return found === undefined ? `there is no Service ${key}` : `Service ${key} is not served here: ${whyNot(found)}`;
}

function whyNot({ spec }: Service): string {
  if (spec.type !== "LoadBalancer") return `its type is ${spec.type}, not LoadBalancer`;
  return `its loadBalancerClass is ${spec.loadBalancerClass ?? "not set"}; see --load-balancer-class`;
}
