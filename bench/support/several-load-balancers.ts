/**
 * A sandbox with several Standard load balancers, each with nodes of its own: the first has the sandbox's scale set as its
 * primary set, every other one a set of Nodes that are made here. Azure does not look for machines behind addresses.
 */
import { readFileSync, writeFileSync } from "node:fs";

import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import type { SandboxProcess } from "./sandbox-process.ts";

const CLUSTER = "kubernetes";
const FIRST_SET = "vmss";

/** How many of the nodes the sandbox itself has. */
export function nodesOfFirst(nodes: number, loadBalancers: number): number {
  return Math.ceil(nodes / loadBalancers);
}

/** Call it before a controller is started. One load balancer: everything stays as it is. */
export async function configureLoadBalancers(
  { line }: Pick<SandboxProcess, "line">,
  client: KubeClient,
  { loadBalancers, nodes }: { readonly loadBalancers: number; readonly nodes: number },
): Promise<void> {
  if (loadBalancers === 1) return;
  const path = line.cloudConfig ?? "";
  const config = JSON.parse(readFileSync(path, "utf8")) as object;
  const sets = Array.from({ length: loadBalancers }, (_, at) => (at === 0 ? FIRST_SET : `${FIRST_SET}${at + 1}`));
  const multipleStandardLoadBalancerConfigurations = sets.map((primaryVMSet, at) => ({
    name: at === 0 ? CLUSTER : `lb${at + 1}`,
    primaryVMSet,
  }));
  writeFileSync(path, JSON.stringify({ ...config, multipleStandardLoadBalancerConfigurations }));
  const group = `/subscriptions/${line.subscriptionId}/resourceGroups/${line.resourceGroup}`;
  const made = sets.slice(1).flatMap((set, at) =>
    Array.from({ length: nodesOfFirst(nodes, loadBalancers) }, (_, index) => ({
      name: `${set}-${index}`,
      internalIPs: [`10.240.${100 + at}.${index + 4}`],
      providerID: `azure://${group}/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/${index}`,
    })),
  );
  await ensureNodes(client, made);
}
