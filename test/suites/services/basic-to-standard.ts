/**
 * From Basic to Standard, as docs/handover.md guides: refused by itself, then the former load balancers are deleted by hand and
 * the change is accepted. Services keep their addresses, also where the controller is ended half-way.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const BASIC = { nodes: 3, vmType: "standard", sku: "basic", backendPool: "nodeIPConfiguration" } as const;
const INTERNAL = { "azure-load-balancer-internal": "true" };
const ACCEPTED = { acceptedChange: "sku" } as const;

export function basicToStandardSuite(name: string, open: ClusterOpener): void {
  describe(`from Basic to Standard, on ${name}`, () => {
    test("refused first; then every address is kept, whatever the controller is ended at", async () => {
      const rig = await ServiceRig.open(open, { azure: { topology: BASIC } });
      try {
        await rig.apply({ name: "web" });
        await rig.apply({ name: "inside", annotations: INTERNAL });
        const before = await served(rig);
        await rig.stop();
        rig.reconfigure({ loadBalancerSku: "standard" });
        assert.match((await rig.plan()).changes[0]?.message ?? "", /nothing is written.*--accept-change=sku/);
        const { rejected } = await rig.plan(undefined, ACCEPTED);
        assert.equal(rejected.length, 2);
        for (const { message } of rejected) assert.match(message, /SKU basic.*handover\.md, "From Basic to Standard"/);
        await deleteLoadBalancers(rig);
        assert.equal((await rig.plan(undefined, ACCEPTED)).report.summary.addressesChange, 0);
        await rig.start(undefined, ACCEPTED);
        await eventually(async () => assert.notEqual((await rig.list("loadBalancers")).length, 0), WITHIN_MS);
        await rig.stop();
        await rig.start(undefined, ACCEPTED);
        await eventually(async () => assert.deepEqual(await served(rig), before), WITHIN_MS);
        const all = [...(await rig.list("loadBalancers")), ...(await rig.list("publicIPAddresses"))];
        assert.deepEqual(
          all.map((body) => `${body.name.slice(0, 12)} ${(body["sku"] as { name: string }).name}`).sort(),
          ["kubernetes Standard", "kubernetes-a Standard", "kubernetes-i Standard"],
        );
        await rig.restart({}); // the flag can go
        assert.deepEqual(await served(rig), before);
      } finally {
        await rig.close();
      }
    });
  });
}

async function served(rig: ServiceRig): Promise<string[][]> {
  return [await rig.served("web"), await rig.served("inside")];
}

/** As an operator does: the machines leave the pools, then the load balancers go. */
async function deleteLoadBalancers(rig: ServiceRig): Promise<void> {
  for (const nic of await rig.list("networkInterfaces")) {
    const properties = propertiesOf(nic);
    const ipConfigurations = (properties["ipConfigurations"] as WireBody[]).map((configuration) => ({
      ...configuration,
      properties: { ...propertiesOf(configuration), loadBalancerBackendAddressPools: [] },
    }));
    await rig.put(`networkInterfaces/${nic.name}`, { ...nic, properties: { ...properties, ipConfigurations } });
  }
  for (const { name } of await rig.list("loadBalancers")) {
    const path = `${rig.networkPath(`loadBalancers/${name}`)}?api-version=2025-05-01`;
    assert.equal((await rig.arm.send("DELETE", path)).status, 202);
  }
  await eventually(async () => assert.deepEqual(await rig.list("loadBalancers"), []), WITHIN_MS);
}
