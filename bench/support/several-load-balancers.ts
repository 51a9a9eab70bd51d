/**
 * A sandbox with several Standard load balancers: either each with nodes of its own, where the first has the sandbox's scale set as its
 * primary set, every other one a set of Nodes that are made here (Azure does not look for machines behind addresses); or a fleet,
 * whose load balancers have all nodes.
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

/** A fleet of so many load balancers for so many Services of one port each: every one of them is full. Call it before a controller is started. */
export function configureFleet(
  { line }: Pick<SandboxProcess, "line">,
  { loadBalancers, services }: { readonly loadBalancers: number; readonly services: number },
): void {
  const rules = Math.ceil(services / loadBalancers);
  changeConfig(line.cloudConfig ?? "", {
    loadBalancerFleet: { max: loadBalancers },
    loadBalancerLimits: `rules=${rules}`,
  });
}

function changeConfig(path: string, change: object): void {
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, "utf8")) as object), ...change }));
}

/** Call it before a controller is started. One load balancer: everything stays as it is. */
export async function configureLoadBalancers(
  { line }: Pick<SandboxProcess, "line">,
  client: KubeClient,
  { loadBalancers, nodes }: { readonly loadBalancers: number; readonly nodes: number },
): Promise<void> {
  if (loadBalancers === 1) return;
  const sets = Array.from({ length: loadBalancers }, (_, at) => (at === 0 ? FIRST_SET : `${FIRST_SET}${at + 1}`));
  const multipleStandardLoadBalancerConfigurations = sets.map((primaryVMSet, at) => ({
    name: at === 0 ? CLUSTER : `lb${at + 1}`,
    primaryVMSet,
  }));
  changeConfig(line.cloudConfig ?? "", { multipleStandardLoadBalancerConfigurations });
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
