/** Gives a valid Service its families, cluster IPs, node ports and health-check port, or says why it cannot have them. */
import type { KubeObject } from "../../contract.ts";
import type { Allocated, Deciding } from "../../resource.ts";
import { allocateClusterIPs, allocateFamilies } from "./cluster-ips.ts";
import { allocateHealthPort, allocateNodePorts } from "./node-ports.ts";

const STEPS = [allocateFamilies, allocateClusterIPs, allocateNodePorts, allocateHealthPort];

export function allocateService(service: KubeObject, deciding: Deciding): Allocated {
  let object = service;
  for (const step of STEPS) {
    const allocated = step(object, deciding);
    if (allocated.causes.length > 0) return allocated;
    object = allocated.object;
  }
  return { object, causes: [] };
}
