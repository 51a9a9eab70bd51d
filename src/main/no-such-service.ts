/** A command names a Service that does not exist or that the controller does not serve. */
import type { Service } from "../core/model/kubernetes.ts";

export class NoSuchService extends Error {
  override readonly name = "NoSuchService";

  constructor(key: string, found: Service | undefined) {
    super(found === undefined ? `there is no Service ${key}` : `Service ${key} is not served here: ${whyNot(found)}`);
  }
}

function whyNot({ spec }: Service): string {
  if (spec.type !== "LoadBalancer") return `its type is ${spec.type}, not LoadBalancer`;
  return `its loadBalancerClass is ${spec.loadBalancerClass ?? "not set"}; see --load-balancer-class`;
}
