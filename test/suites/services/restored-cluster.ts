/**
 * Services that are created anew under their names with other UIDs, as from a backup, or after a deletion with protection:
 * they come back at their addresses.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { SERVICES, type KubeObject } from "../../../src/kube/client/resources.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { propertiesOf, ServiceRig } from "../../support/service-rig.ts";

const NAMES = ["web", "inside", "dual", "named", "first", "second"];
const INTERNAL = { "azure-load-balancer-internal": "true" };
const DUAL = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const PROTECTED = { "azlb.io/deletion-protection": "true" };
const MINE = {
  location: "westus2",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: "IPv4" },
};

interface Stored extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

export function restoredClusterSuite(name: string, open: ClusterOpener): void {
  describe(`a restored cluster, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { ipv6: true });
      await rig.put("publicIPAddresses/mine", MINE);
      await rig.apply({ name: "web" });
      await rig.apply({ name: "inside", annotations: INTERNAL });
      await rig.apply({ name: "dual", spec: DUAL });
      await rig.apply({ name: "named", annotations: { "azure-pip-name": "mine" } });
      await rig.apply({ name: "first" });
      const [shared = ""] = await rig.served("first");
      const pinned = { "azure-load-balancer-ipv4": shared };
      await rig.apply({ name: "second", annotations: pinned, spec: { ports: [{ port: 443 }] } });
      for (const each of NAMES) await rig.served(each);
    });
    after(() => rig.close());

    test("new UIDs, no status: every Service comes back at its addresses, with as many parts in Azure", async () => {
      const before = await addressesOf(rig);
      const parts = await partsOf(rig);
      await rig.stop();
      await restoreAll(rig);
      await rig.start();
      assert.deepEqual(await addressesOf(rig), before);
      assert.deepEqual(await partsOf(rig), parts);
    });

    test("once more, and what they had goes with them when they are deleted", async () => {
      const before = await addressesOf(rig);
      await rig.stop();
      await restoreAll(rig);
      await rig.start();
      assert.deepEqual(await addressesOf(rig), before);
      for (const each of NAMES) await rig.delete(each);
      assert.deepEqual(await partsOf(rig), { publicIPAddresses: ["mine"] });
    });

    test("deletion protection: told by event, the address stays, and the next Service of the name gets it back", async () => {
      await rig.apply({ name: "kept", annotations: PROTECTED });
      const before = await rig.served("kept");
      await rig.delete("kept");
      assert.match(
        await rig.warned("kept", "DeletePublicIPAddress"),
        /stays, as annotation azlb\.io\/deletion-protection asks/,
      );
      const [left] = (await rig.list("publicIPAddresses")).filter((each) => each.name !== "mine");
      assert.equal(propertiesOf(left)["ipAddress"], before[0]);
      assert.match(JSON.stringify(left?.["tags"]), /"azlb-kept-for":"default\/kept"/);
      assert.deepEqual(await rig.list("loadBalancers"), []);
      await rig.apply({ name: "kept" });
      assert.deepEqual(await rig.served("kept"), before);
      await rig.delete("kept");
      assert.deepEqual(await partsOf(rig), { publicIPAddresses: ["mine"] });
    });
  });
}

async function addressesOf(rig: ServiceRig): Promise<Record<string, string[]>> {
  const entries: [string, string[]][] = [];
  for (const each of NAMES) entries.push([each, await rig.served(each)]);
  return Object.fromEntries(entries);
}

/** Names of public IPs, and how many frontends, rules and probes each load balancer has. */
async function partsOf(rig: ServiceRig): Promise<unknown> {
  const loadBalancers = (await rig.list("loadBalancers")).map((body) => {
    const { frontendIPConfigurations, loadBalancingRules, probes } = propertiesOf(body);
    const counts = [frontendIPConfigurations, loadBalancingRules, probes].map((list) => (list as unknown[]).length);
    return [body.name, counts];
  });
  const publicIPAddresses = (await rig.list("publicIPAddresses")).map((each) => each.name).sort();
  return { ...Object.fromEntries(loadBalancers), publicIPAddresses };
}

/** As a tool does that stores Services without status, and creates them in another cluster. */
async function restoreAll(rig: ServiceRig): Promise<void> {
  for (const each of NAMES) {
    const place = { namespace: "default", name: each };
    const { metadata, spec } = await rig.kube.get<Stored>(SERVICES, place);
    await rig.patch(each, { metadata: { finalizers: null } });
    await rig.delete(each);
    const { clusterIP: _, clusterIPs: __, ...kept } = spec;
    const { annotations = {}, finalizers = [] } = metadata;
    await rig.kube.create(SERVICES, { metadata: { ...place, annotations, finalizers }, spec: kept });
  }
}
