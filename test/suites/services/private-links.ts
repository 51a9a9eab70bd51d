/**
 * Private link services beyond what the incumbent's recordings show: what keeps connections, what belongs to others, what
 * is refused before anything is written, and that a cluster with private link services is taken over without a write.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { APPLIED_ANNOTATION } from "../../../src/core/service/applied-state.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";
import { isTakenOver, writesToAzure } from "./take-over.ts";

const NICS = { nodes: 2, backendPool: "nodeIPConfiguration" } as const;
const INTERNAL = { "azure-load-balancer-internal": "true" };
const LINK = { ...INTERNAL, "azure-pls-create": "true" };

export function privateLinksSuite(name: string, open: ClusterOpener): void {
  describe(`private link services, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: NICS } });
    });
    after(() => rig.close());

    test("one with a connection moves along to the Service's new frontend", async () => {
      await rig.apply({ name: "moving", annotations: LINK });
      await rig.served("moving");
      const [made] = await rig.list("privateLinkServices");
      await connect(rig, made?.name ?? "");
      const { alias } = propertiesOf(await linkOf(rig, made?.name));
      await rig.annotate("moving", { "azure-load-balancer-internal-subnet": "subnet2" });
      await rig.served("moving");
      const after = await linkOf(rig, made?.name);
      assert.equal(propertiesOf(after)["alias"], alias);
      assert.deepEqual(connectionsOf(after), ["pe"]);
      assert.match(JSON.stringify(propertiesOf(after)["loadBalancerFrontendIpConfigurations"]), /-subnet2"/);
      const [balancer] = await rig.list("loadBalancers");
      const frontends = propertiesOf(balancer)["frontendIPConfigurations"] as WireBody[];
      assert.equal(frontends.length, 1, "the former frontend is gone");
      await rig.delete("moving");
      assert.deepEqual(await rig.list("privateLinkServices"), []);
      assert.deepEqual(await rig.list("loadBalancers"), []);
    });

    test("unknown fields and other tags stay, and a connection that came late goes with the Service", async () => {
      await rig.apply({ name: "kept", annotations: { ...LINK, "azure-pls-name": "kept" } });
      await rig.served("kept");
      const seen = await linkOf(rig, "kept");
      const tags = { ...(seen["tags"] as object), team: "net" };
      await rig.put("privateLinkServices/kept", {
        ...seen,
        tags,
        properties: { ...propertiesOf(seen), fromTheFuture: 1 },
      });
      await rig.annotate("kept", { "azure-pls-proxy-protocol": "true" });
      await rig.served("kept");
      const changed = await linkOf(rig, "kept");
      const { enableProxyProtocol, fromTheFuture } = propertiesOf(changed);
      assert.deepEqual([enableProxyProtocol, fromTheFuture], [true, 1]);
      assert.equal((changed["tags"] as Record<string, string>)["team"], "net");
      await connect(rig, "kept");
      await rig.delete("kept");
      assert.deepEqual(await rig.list("privateLinkServices"), []);
    });

    test("a name that another Service has is refused, and the other keeps its own", async () => {
      await rig.apply({ name: "first", annotations: { ...LINK, "azure-pls-name": "taken" } });
      await rig.served("first");
      const before = await rig.everything();
      await rig.apply({ name: "second", annotations: { ...LINK, "azure-pls-name": "taken" } });
      const message = await rig.warned("second", "PrivateLinkServiceTaken");
      assert.match(
        message,
        /azure-pls-name: "taken": .*belongs to Service default\/first.*set .*azure-pls-name to another name/,
      );
      assert.deepEqual(await rig.everything(), before, "nothing is written for it");
      await rig.delete("second");
      assert.deepEqual(await rig.everything(), before);
      await rig.annotate("first", { "azure-pls-resource-group": "elsewhere" });
      assert.match(
        await rig.warned("first", "ResourceGroupNotFound"),
        /azure-pls-resource-group: .*"elsewhere" does not exist/,
      );
      await rig.annotate("first", { "azure-pls-resource-group": null, "azure-pls-name": "other" });
      assert.match(
        await rig.warned("first", "PrivateLinkServiceFixed"),
        /azure-pls-name: "other" cannot.*set it to "taken"/,
      );
      assert.deepEqual(await rig.everything(), before);
      await rig.delete("first");
    });

    test("bad input is refused before anything is written, and harms no other Service", async () => {
      await rig.apply({ name: "neighbour", annotations: LINK });
      await rig.served("neighbour");
      const before = await rig.everything();
      const bad = [
        [{ "azure-pls-create": "true" }, "PrivateLinkServiceNotPossible", /internal: "true" or .*floating-ip: "true"/],
        [
          { ...LINK, "azure-pls-ip-configuration-subnet": "nowhere" },
          "SubnetNotFound",
          /ip-configuration-subnet: VNet "vnet" has no subnet "nowhere"/,
        ],
        [
          { ...LINK, "azure-pls-ip-configuration-ip-address": "10.9.9.9" },
          "InvalidAnnotation",
          /"10\.9\.9\.9" is not in subnet "subnet"/,
        ],
        [{ ...LINK, "azure-pls-visibility": "everyone" }, "InvalidAnnotation", /azure-pls-visibility: "everyone"/],
      ] as const;
      for (const [at, [annotations, reason, message]] of bad.entries()) {
        await rig.apply({ name: `bad-${at}`, annotations });
        assert.match(await rig.warned(`bad-${at}`, reason), message);
      }
      assert.deepEqual(await rig.everything(), before);
      for (const at of bad.keys()) await rig.delete(`bad-${at}`);
      await rig.annotate("neighbour", { "azure-pls-fqdns": "a.example.com" });
      await rig.served("neighbour");
      await rig.delete("neighbour");
    });

    test("a Service whose private link service Azure refuses has its address all the same", async () => {
      const annotations = { ...LINK, "azure-pls-ip-configuration-ip-address": "10.240.0.4" };
      await rig.apply({ name: "unlucky", annotations });
      await rig.warned("unlucky", "SyncLoadBalancerFailed");
      await eventually(async () => {
        const { ingress = [] } = (await rig.service("unlucky")).status.loadBalancer;
        assert.equal(ingress.length, 1);
      }, WITHIN_MS);
      await rig.annotate("unlucky", { "azure-pls-ip-configuration-ip-address": null });
      await rig.served("unlucky");
      await rig.delete("unlucky");
    });

    test("a new controller takes private link services over and writes nothing to Azure", async () => {
      const services = ["one", "two"];
      await rig.apply({ name: "one", annotations: { ...LINK, "azure-pls-fqdns": "a.example.com" } });
      await rig.apply({ name: "two", annotations: LINK, spec: { ports: [{ port: 81 }] } });
      for (const service of services) await rig.served(service);
      await rig.annotate("two", { "azure-pls-create": null });
      await rig.served("two");
      await rig.stop();
      const unmarked = { metadata: { annotations: { [APPLIED_ANNOTATION]: null } } };
      for (const service of services) await rig.patch(service, unmarked);
      const before = await rig.everything();
      await rig.azure.control("DELETE", "/audit");
      assert.deepEqual((await rig.plan()).steps, []);
      await rig.start();
      for (const service of services) await isTakenOver(rig, service, undefined);
      assert.deepEqual(await writesToAzure(rig), []);
      assert.deepEqual(await rig.everything(), before);
      for (const service of services) await rig.delete(service);
      assert.deepEqual(await rig.list("privateLinkServices"), []);
    });

    test("Services that share one and go together leave nothing", async () => {
      const pinned = { ...LINK, "azure-load-balancer-ipv4": "10.240.7.7" };
      const services = ["share-a", "share-b", "share-c"];
      for (const [at, service] of services.entries()) {
        await rig.apply({ name: service, annotations: pinned, spec: { ports: [{ port: 80 + at }] } });
        await rig.served(service);
      }
      const [link] = await rig.list("privateLinkServices");
      await connect(rig, link?.name ?? "");
      await Promise.all(services.map((service) => rig.delete(service)));
      assert.deepEqual(await rig.list("privateLinkServices"), []);
      assert.deepEqual(await rig.list("loadBalancers"), []);
    });

    test("an internal Service that becomes external takes its private link service with its old frontend", async () => {
      await rig.apply({ name: "flipped", annotations: LINK });
      await rig.served("flipped");
      const before = await rig.everything();
      await rig.annotate("flipped", { "azure-load-balancer-internal": null });
      await rig.warned("flipped", "PrivateLinkServiceNotPossible");
      assert.deepEqual(await rig.everything(), before);
      await rig.annotate("flipped", { "azure-pls-create": null });
      await rig.served("flipped");
      assert.deepEqual(await rig.list("privateLinkServices"), []);
      assert.deepEqual(
        (await rig.list("loadBalancers")).map((one) => one.name),
        ["kubernetes"],
      );
      await rig.delete("flipped");
    });

    test("one of another owner is refused, never changed, and keeps the frontend when the Service goes", async () => {
      await rig.apply({ name: "host", annotations: INTERNAL });
      await rig.served("host");
      const [balancer] = await rig.list("loadBalancers");
      const [frontend] = propertiesOf(balancer)["frontendIPConfigurations"] as WireBody[];
      await rig.put("privateLinkServices/theirs", {
        location: "westus2",
        properties: {
          loadBalancerFrontendIpConfigurations: [{ id: frontend?.id }],
          ipConfigurations: [
            { name: "nat", properties: { subnet: { id: rig.networkPath("virtualNetworks/vnet/subnets/subnet") } } },
          ],
        },
      });
      const theirs = await linkOf(rig, "theirs");
      await rig.annotate("host", { "azure-pls-create": "true" });
      assert.match(await rig.warned("host", "PrivateLinkServiceTaken"), /"theirs".*is not this cluster's/);
      await rig.delete("host");
      assert.deepEqual(await linkOf(rig, "theirs"), theirs);
      const events = JSON.stringify(await rig.events("host"));
      assert.match(events, /stays: private link service \\"theirs\\", which is not this cluster's, uses it/);
    });
  });

  test(`pools of addresses are refused a private link service, on ${name}`, async () => {
    const rig = await ServiceRig.open(open);
    try {
      const before = await rig.everything();
      await rig.apply({ name: "web", annotations: LINK });
      const message = await rig.warned("web", "PrivateLinkServiceNotPossible");
      assert.match(
        message,
        /azure-pls-create: "true" .*loadBalancerBackendPoolConfigurationType.*"nodeIPConfiguration"/,
      );
      assert.deepEqual(await rig.everything(), before);
    } finally {
      await rig.close();
    }
  });
}

/** Another user's private endpoint. */
async function connect(rig: ServiceRig, link: string): Promise<void> {
  const approved = { privateLinkServiceConnectionState: { status: "Approved", description: "yes" } };
  await rig.put(`privateLinkServices/${link}/privateEndpointConnections/pe`, { properties: approved });
}

async function linkOf(rig: ServiceRig, name: string | undefined): Promise<WireBody> {
  const found = (await rig.list("privateLinkServices")).find((one) => one.name === name);
  assert.ok(found, `no private link service ${name}`);
  return found;
}

function connectionsOf(link: WireBody): string[] {
  return (propertiesOf(link)["privateEndpointConnections"] as WireBody[]).map(({ name }) => name);
}
