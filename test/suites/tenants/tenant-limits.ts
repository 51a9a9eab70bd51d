/**
 * Two tenants of one cluster, and what they share without sharing an address: the controller's time, the room in the security
 * group, public IPs that users made, and plans. What namespace `evil` asks for costs namespace `default` nothing that it has,
 * and where it takes room, who takes it is told.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { ServiceRig } from "../../support/service-rig.ts";

/** As many as an object of the API server's largest size has room for, each unlike any known key. */
const FLOOD = 2_800;
/** A security group takes 4,000 sources. */
const NEARLY_ALL = 3_990;
/** Well below the minute after which a refused Service is looked at anyway. */
const WOKEN_WITHIN_MS = 30_000;

export function tenantLimitsSuite(name: string, open: ClusterOpener): void {
  describe(`two tenants and what they have in common, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open);
      await rig.createNamespace("evil");
      await rig.apply({ name: "victim" });
      await rig.served("victim");
    });
    after(() => rig.close());

    /** Azure and the victim's status are the same before and after, and no Warning is on its Service. */
    const untouched = async (attack: () => Promise<void>): Promise<void> => {
      const state = async () => ({ azure: await rig.everything(), status: (await rig.service("victim")).status });
      const before = await state();
      await attack();
      assert.deepEqual(await state(), before);
      const told = (await rig.events("victim")).filter(({ type }) => type === "Warning");
      assert.deepEqual(told, []);
    };

    test("annotations by the thousand keep nobody waiting", async () => {
      await untouched(async () => {
        await rig.apply({ name: "evil/flood", annotations: flood() });
        await rig.apply({ name: "next", spec: { ports: [{ port: 81 }] } });
        await rig.publishedWithin("next", WOKEN_WITHIN_MS);
        for (const each of ["next", "evil/flood"]) await rig.delete(each);
      });
    });

    test("the label and the tags of a public IP that a user made are its owner's", async () => {
      await rig.put("publicIPAddresses/finance", {
        location: "westus2",
        sku: { name: "Standard" },
        tags: { team: "finance" },
        properties: { publicIPAllocationMethod: "Static", dnsSettings: { domainNameLabel: "finance" } },
      });
      const named = { "azure-pip-name": "finance", "azure-pip-tags": "team=evil" };
      await untouched(async () => {
        await rig.apply({ name: "evil/label", annotations: { ...named, "azure-dns-label-name": "evil-label" } });
        assert.match(await rig.warned("evil/label", "DNSLabelConflict"), /"finance", which has the label "finance"/);
        await rig.delete("evil/label");
        await rig.apply({ name: "evil/tags", annotations: named });
        await rig.served("evil/tags");
        await rig.delete("evil/tags");
      });
    });

    test("a resource group that does not exist refuses the Service that names it, which can be deleted all the same", async () => {
      await untouched(async () => {
        await rig.apply({ name: "evil/lost", spec: { ports: [{ port: 82 }] } });
        await rig.served("evil/lost");
        await rig.annotate("evil/lost", { "azure-load-balancer-resource-group": "nowhere" });
        assert.match(await rig.warned("evil/lost", "ResourceGroupNotFound"), /"nowhere" does not exist/);
        const { steps, rejected } = await rig.plan();
        assert.deepEqual(steps, [], "the plan of all others is made");
        assert.deepEqual(
          rejected.map(({ reason }) => reason),
          ["ResourceGroupNotFound"],
        );
        await rig.delete("evil/lost");
      });
    });

    test("who fills the security group is named to those who find no room, and they are served once there is some", async () => {
      await untouched(async () => {
        const spec = { ports: [{ port: 83 }], loadBalancerSourceRanges: ranges("11", NEARLY_ALL) };
        await rig.apply({ name: "evil/filler", spec });
        await rig.served("evil/filler");
        const before = await rig.everything();
        await rig.apply({ name: "late", spec: { ports: [{ port: 84 }], loadBalancerSourceRanges: ranges("12", 20) } });
        assert.match(await rig.warned("late", "SecurityGroupFull"), /\(Service evil\/filler\)/);
        assert.deepEqual(await rig.everything(), before, "a Service that is refused has no public IP");
        await rig.delete("evil/filler");
        await rig.publishedWithin("late", WOKEN_WITHIN_MS);
        await rig.delete("late");
      });
    });
  });
}

function flood(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: FLOOD }, (_, at) => [`azure-${String.fromCharCode(97 + (at % 26)).repeat(40)}${at}z`, "x"]),
  );
}

function ranges(first: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${first}.${at >> 8}.${at & 255}.1/32`);
}
