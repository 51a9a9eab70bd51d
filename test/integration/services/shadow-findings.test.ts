/** What the shadow makes of changes that no user of the cluster asked for, and of those that the incumbent does not make. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { renderShadow, renderShadowPage } from "../../../src/core/shadow/render-shadow.ts";
import { CONFIG_MAPS, NODES } from "../../../src/kube/client/resources.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { propertiesOf, ServiceRig, type WireBody } from "../../support/service-rig.ts";
import { ShadowRig } from "../../support/shadow-rig.ts";
import { FOREIGN_RULE } from "../../support/foreign-rule.ts";

describe("what the shadow finds", () => {
  let rig: ServiceRig;
  let shadow: ShadowRig;

  before(async () => {
    rig = await ServiceRig.open(openEmbeddedCluster);
    await rig.apply({ name: "web" });
    await rig.served("web");
    await rig.stop();
    await forgetMembers();
    shadow = await ShadowRig.open(rig);
  });
  after(async () => {
    await shadow.close();
    await rig.close();
  });

  test("other clients' rules, addresses and load balancers come and go without a word", async () => {
    await rig.put("networkSecurityGroups/nsg/securityRules/ssh", FOREIGN_RULE);
    await rig.put("publicIPAddresses/users", {
      location: "westus2",
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    });
    assert.deepEqual(await shadow.scored(), []);
    assert.deepEqual(shadow.shadow.report().findings, []);
  });

  test("a Service may name a public IP that was made a moment ago", async () => {
    await rig.put("publicIPAddresses/fresh", {
      location: "westus2",
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    });
    await rig.apply({ name: "pinned", annotations: { "azure-pip-name": "fresh" } });
    await rig.start();
    await rig.served("pinned");
    await rig.stop();
    const [change, ...more] = await shadow.scored();
    assert.deepEqual([change?.verdict, change?.services, more], ["agreed", ["default/pinned"], []]);
  });

  test("a field that another client changes is told, with what azlb would write; and that it was put right", async () => {
    await setIdleTimeout(17);
    const [change, ...more] = await shadow.scored();
    assert.deepEqual([change?.verdict, more], ["differed", []]);
    const text = renderShadow(shadow.shadow.report());
    assert.match(text, /idleTimeoutInMinutes: azlb would write 4, there is 17 \[UNEXPLAINED\]/);
    assert.match(text, /1 different$/m);
    assert.match(renderShadowPage(shadow.shadow.report()), /<td>differed<\/td><td>default\/pinned, default\/web<\/td>/);
    assert.deepEqual(await shadow.scored(), [], "what stands is told once");
    await setIdleTimeout(4);
    assert.deepEqual(
      (await shadow.scored()).map(({ verdict }) => verdict),
      ["agreed"],
    );
  });

  test("a change that the incumbent does not make is told once it has had its time", async () => {
    await rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": "9" });
    await shadow.predict();
    await shadow.look();
    const { pending, entries } = shadow.shadow.report();
    assert.deepEqual([pending?.entries.map(({ service }) => service), entries], [["default/web"], []]);
    const [change] = await shadow.scored();
    assert.deepEqual([change?.verdict, change?.services], ["differed", ["default/web"]]);
    await rig.annotate("web", { "azure-load-balancer-tcp-idle-timeout": null });
    await shadow.scored();
  });

  test("a node that vanishes leaves its pool in the prediction, though no member list was ever written", async () => {
    await forgetMembers();
    const [node = ""] = rig.azure.nodes.map(({ name }) => name);
    await rig.kube.delete(NODES, { name: node });
    await shadow.predict();
    const gone = shadow.shadow.report().pending?.findings.map(({ kind, path }) => `${kind} ${path}`);
    assert.deepEqual(gone, [`extra backendAddressPools/kubernetes/loadBalancerBackendAddresses/${node}`]);
  });

  test("a wrong annotation of one Service is its own entry", async () => {
    await rig.apply({ name: "wrong", annotations: { "azure-load-balancer-internal": "yes" } });
    await shadow.predict();
    const { entries, services } = shadow.shadow.report();
    assert.equal(services, 3);
    assert.deepEqual(
      entries.map(({ service, outlook }) => [service, outlook]),
      [["default/wrong", "refused"]],
    );
  });

  /** As where only the incumbent has been. */
  async function forgetMembers(): Promise<void> {
    const namespace = "kube-system";
    const { items } = await rig.kube.list(CONFIG_MAPS, { namespace });
    const lists = items.filter(({ metadata }) => metadata.name.startsWith("azlb-members-"));
    for (const { metadata } of lists) await rig.kube.delete(CONFIG_MAPS, { namespace, name: metadata.name });
  }

  async function setIdleTimeout(minutes: number): Promise<void> {
    const [balancer] = await rig.list("loadBalancers");
    const { loadBalancingRules = [], ...properties } = propertiesOf(balancer);
    const rules = (loadBalancingRules as WireBody[]).map((rule) => ({
      ...rule,
      properties: { ...propertiesOf(rule), idleTimeoutInMinutes: minutes },
    }));
    await rig.put("loadBalancers/kubernetes", {
      ...balancer,
      properties: { ...properties, loadBalancingRules: rules },
    });
  }
});
