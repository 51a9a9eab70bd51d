/** Allocates families, cluster IPs, node ports and the health-check port of a valid Service; stops at the first problem. */
import type { KubeObject } from "../../contract.ts";
import type { Allocated, DecisionContext } from "../../resource.ts";
import { allocateClusterIPs, allocateFamilies } from "./cluster-ips.ts";
import { allocateHealthPort, allocateNodePorts } from "./node-ports.ts";

const STEPS = [allocateFamilies, allocateClusterIPs, allocateNodePorts, allocateHealthPort];

export function allocateService(service: KubeObject, context: DecisionContext): Allocated {
  let object = service;
  for (const step of STEPS) {
    const allocated = step(object, context);
    if (allocated.causes.length > 0) return allocated;
    object = allocated.object;
  }
  return { object, causes: [] };
}
