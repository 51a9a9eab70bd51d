/** The shapes of clusters: what nodes are, how they join pools, both SKUs. Both families: `dual-stack.ts`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { CLUSTERS_AT_ONCE, ServiceRig, WITHIN_MS, type RigOptions } from "../../support/service-rig.ts";

interface Shape {
  readonly name: string;
  readonly options: RigOptions;
}

const SHAPES: readonly Shape[] = [
  { name: "uniform scale set, pools of addresses", options: topology("vmss", "nodeIP") },
  { name: "uniform scale set, pools of network interfaces", options: topology("vmss", "nodeIPConfiguration") },
  { name: "flexible scale set, pools of network interfaces", options: topology("vmssflex", "nodeIPConfiguration") },
  { name: "availability set, pools of network interfaces", options: topology("standard", "nodeIPConfiguration") },
  { name: "availability set, pools of addresses", options: topology("standard", "nodeIP") },
  { name: "Basic, availability set", options: topology("standard", "nodeIPConfiguration", "basic") },
];

function topology(
  vmType: "vmss" | "vmssflex" | "standard",
  backendPool: "nodeIP" | "nodeIPConfiguration",
  sku: "standard" | "basic" = "standard",
): RigOptions {
  return { azure: { topology: { nodes: 3, vmType, backendPool, sku } } };
}

export function shapesSuite(name: string, open: ClusterOpener): void {
  describe(`shapes of clusters, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const { name: shape, options } of SHAPES) {
      test(`${shape}: an external and an internal Service come and go`, async () => {
        const rig = await ServiceRig.open(open, options);
        try {
          const before = await rig.everything();
          await rig.apply({ name: "outer" });
          await rig.apply({ name: "inner", annotations: { "azure-load-balancer-internal": "true" } });
          assert.equal((await rig.served("outer")).length, 1);
          assert.match((await rig.served("inner"))[0] ?? "", /^10\.240\./);
          await eventually(async () => {
            assert.deepEqual(await memberCounts(rig), { kubernetes: 3, "kubernetes-internal": 3 });
          }, WITHIN_MS);
          await rig.delete("outer");
          await rig.delete("inner");
          assert.deepEqual(await rig.everything(), before);
        } finally {
          await rig.close();
        }
      });
    }
  });
}

/** Load balancer → members of its cluster pool, as the official SDK shows them. */
async function memberCounts(rig: ServiceRig): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const { name = "", backendAddressPools = [] } of rig.azure.network.loadBalancers.list(
    rig.azure.resourceGroup,
  )) {
    counts[name] = Math.max(
      ...backendAddressPools.map((pool) =>
        Math.max(pool.loadBalancerBackendAddresses?.length ?? 0, pool.backendIPConfigurations?.length ?? 0),
      ),
    );
  }
  return counts;
}
