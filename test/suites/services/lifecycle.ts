/** What happens to Services over their life, end to end: changes, neighbours, nodes, edits by hand, restarts. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { baseName } from "../../../src/core/model/names.ts";
import { NODES, SERVICES } from "../../../src/kube/client/resources.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

interface Entry {
  readonly name: string;
  readonly properties: { readonly ipAddress: string };
}

export function lifecycleSuite(name: string, open: ClusterOpener): void {
  describe(`the life of Services, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3, foreign: true } } });
      await rig.leavePool();
    });
    after(() => rig.close());

    test("internal to external and back: nothing is left behind", async () => {
      const before = await rig.everything();
      await rig.apply({ name: "flip" });
      const [publicAddress] = await rig.served("flip");
      await rig.annotate("flip", { "azure-load-balancer-internal": "true" });
      const [privateAddress] = await rig.served("flip");
      assert.notEqual(privateAddress, publicAddress);
      assert.ok(!JSON.stringify(await rig.everything()).includes(`"${publicAddress}"`), "the public address is gone");
      await rig.annotate("flip", { "azure-load-balancer-internal": null });
      await rig.served("flip");
      assert.ok(!JSON.stringify(await rig.everything()).includes(`"${privateAddress}"`), "the private address is gone");
      await rig.delete("flip");
      assert.deepEqual(await rig.everything(), before);
    });

    test("several Services share one address, whichever goes first", async () => {
      const before = await rig.everything();
      await rig.apply({ name: "first" });
      const [address = ""] = await rig.served("first");
      await rig.apply({
        name: "second",
        annotations: { "azure-load-balancer-ipv4": address },
        spec: { ports: [{ port: 8080 }] },
      });
      assert.deepEqual(await rig.served("second"), [address]);
      await rig.delete("first");
      assert.deepEqual(await rig.served("second"), [address]);
      await rig.delete("second");
      assert.deepEqual(await rig.everything(), before);
    });

    test("a public IP that a user made is used, and left alone when the Service goes", async () => {
      await rig.put("publicIPAddresses/handmade", {
        location: "westus2",
        sku: { name: "Standard" },
        properties: { publicIPAllocationMethod: "Static" },
        tags: { owner: "someone" },
      });
      const before = await rig.everything();
      const made = (await rig.list("publicIPAddresses")).find((one) => one.name === "handmade");
      await rig.apply({ name: "named", annotations: { "azure-pip-name": "handmade" } });
      assert.deepEqual(await rig.served("named"), [propertyOf(made, "ipAddress")]);
      await rig.delete("named");
      assert.deepEqual(await rig.everything(), before);
    });

    test("a public IP that does not exist is asked for by name, and used once it is made", async () => {
      await rig.apply({ name: "early", annotations: { "azure-pip-name": "latecomer" } });
      assert.match(await rig.warned("early", "PublicIPNotFound"), /latecomer/);
      await rig.put("publicIPAddresses/latecomer", {
        location: "westus2",
        sku: { name: "Standard" },
        properties: { publicIPAllocationMethod: "Static" },
      });
      await rig.annotate("early", { "azure-load-balancer-tcp-idle-timeout": "5" });
      await rig.served("early");
      await rig.delete("early");
    });

    test("two Services that want the same port of one address: the second is told, and served when the first goes", async () => {
      await rig.put("publicIPAddresses/shared", {
        location: "westus2",
        sku: { name: "Standard" },
        properties: { publicIPAllocationMethod: "Static" },
      });
      await rig.apply({ name: "holder", annotations: { "azure-pip-name": "shared" } });
      const [address = ""] = await rig.served("holder");
      const before = await rig.list("publicIPAddresses");
      await rig.apply({ name: "clash", annotations: { "azure-load-balancer-ipv4": address } });
      assert.match(
        await rig.warned("clash", "PortConflict"),
        /^TCP port 80 is taken on the address that it shares by Service default\/holder: use another port in spec\.ports/,
      );
      assert.deepEqual(await rig.list("publicIPAddresses"), before, "a refused Service leaves nothing in Azure");
      await rig.delete("holder");
      await rig.annotate("clash", { "azure-load-balancer-tcp-idle-timeout": "6" });
      assert.deepEqual(await rig.served("clash"), [address]);
      await rig.delete("clash");
    });

    test("nodes come, go, and are excluded: the pool follows, a person's server stays", async () => {
      await rig.apply({ name: "pooled" });
      await rig.served("pooled");
      await addServer(rig, "by-hand", "10.240.9.9");
      await ensureNodes(rig.kube, [{ name: "newcomer", internalIPs: ["10.240.8.8"] }]);
      await pooled(rig, ["by-hand", "newcomer", "vmss000000", "vmss000001", "vmss000002"]);
      await rig.kube.delete(NODES, { name: "newcomer" });
      await pooled(rig, ["by-hand", "vmss000000", "vmss000001", "vmss000002"]);
      const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };
      await rig.kube.patch(NODES, { name: "vmss000001" }, { merge: { metadata: { labels } } });
      await pooled(rig, ["by-hand", "vmss000000", "vmss000002"]);
      const free = { "node.kubernetes.io/exclude-from-external-load-balancers": null };
      await rig.kube.patch(NODES, { name: "vmss000001" }, { merge: { metadata: { labels: free } } });
      await pooled(rig, ["by-hand", "vmss000000", "vmss000001", "vmss000002"]);
    });

    test("a node that vanished while no controller ran leaves the pool; a person's server does not", async () => {
      await ensureNodes(rig.kube, [{ name: "doomed", internalIPs: ["10.240.8.9"] }]);
      await pooled(rig, ["by-hand", "doomed", "vmss000000", "vmss000001", "vmss000002"]);
      await rig.stop();
      await rig.kube.delete(NODES, { name: "doomed" });
      await rig.start();
      await pooled(rig, ["by-hand", "vmss000000", "vmss000001", "vmss000002"]);
      await removeServer(rig, "by-hand");
      await rig.delete("pooled");
    });

    test("an edit by hand is reported and left; a change of the Service applies it anew", async () => {
      await rig.apply({ name: "drifting" });
      await rig.served("drifting");
      await editRule(rig, "drifting", { idleTimeoutInMinutes: 30 });
      await rig.stop();
      await rig.start();
      assert.match(
        await rig.warned("drifting", "DriftDetected"),
        /^Azure differs .* \(loadBalancingRules\[[^\]]+\]\.idleTimeoutInMinutes: 30 -> 4\)\. .*drift-policy/,
      );
      assert.equal(await ruleOf(rig, "drifting", "idleTimeoutInMinutes"), 30);
      await rig.annotate("drifting", { "azure-load-balancer-tcp-idle-timeout": "9" });
      await eventually(async () => assert.equal(await ruleOf(rig, "drifting", "idleTimeoutInMinutes"), 9), WITHIN_MS);
      await rig.annotate("drifting", { "azlb.io/drift-policy": "enforce" });
      await rig.served("drifting");
      await editRule(rig, "drifting", { idleTimeoutInMinutes: 30 });
      await rig.stop();
      await rig.start();
      await eventually(async () => assert.equal(await ruleOf(rig, "drifting", "idleTimeoutInMinutes"), 9), WITHIN_MS);
      await rig.delete("drifting");
    });

    test("an address that a user writes into a status is gone a moment later, and nothing of its owner is closed", async () => {
      await rig.apply({ name: "owner" });
      const [address = ""] = await rig.served("owner");
      await rig.apply({ name: "thief" });
      const own = await rig.served("thief");
      const before = await rig.everything();
      const place = { namespace: "default", name: "thief", subresource: "status" } as const;
      const status = { loadBalancer: { ingress: [{ ip: address, ipMode: "VIP" }] } };
      await rig.kube.patch(SERVICES, place, { merge: { status } });
      await eventually(async () => {
        const { ingress = [] } = (await rig.service("thief")).status.loadBalancer;
        assert.deepEqual(
          ingress.map(({ ip }) => ip),
          own,
        );
      }, WITHIN_MS);
      await rig.served("thief");
      assert.deepEqual(await rig.everything(), before);
      await rig.annotate("thief", { "azure-additional-public-ips": address });
      assert.match(
        await rig.warned("thief", "AddressTaken"),
        new RegExp(`"${address}" is the address of Service default/owner: `),
      );
      await rig.delete("thief");
      assert.deepEqual(await rig.served("owner"), [address]);
      await rig.delete("owner");
    });

    test("a Service of a class is another controller's", async () => {
      await rig.apply({ name: "classy", spec: { loadBalancerClass: "example.com/other" } });
      await rig.apply({ name: "ours" });
      await rig.served("ours");
      const classy = await rig.service("classy");
      assert.equal(classy.status.loadBalancer.ingress, undefined);
      assert.equal(classy.metadata.finalizers, undefined);
      await rig.delete("ours");
    });

    test("a Service that is no load balancer any more gives everything back", async () => {
      const before = await rig.everything();
      await rig.apply({ name: "retired" });
      await rig.served("retired");
      await rig.patch("retired", { spec: { type: "ClusterIP" } });
      await eventually(async () => {
        assert.deepEqual(await rig.everything(), before);
        assert.equal((await rig.service("retired")).metadata.finalizers, undefined);
      }, WITHIN_MS);
    });

    test("a misspelt annotation is named, with the one that was meant; the Service is served", async () => {
      await rig.apply({ name: "typo", annotations: { "azure-load-balancer-health-probe-path": "/" } });
      await rig.served("typo");
      assert.match(await rig.warned("typo", "UnknownAnnotation"), /azure-load-balancer-health-probe-request-path/);
      await rig.delete("typo");
    });
  });
}

function propertyOf(body: WireBody | undefined, field: string): unknown {
  return propertiesOf(body)[field];
}

async function balancer(rig: ServiceRig): Promise<WireBody> {
  const found = (await rig.list("loadBalancers")).find((one) => one.name === "kubernetes");
  assert.ok(found !== undefined, "there is no load balancer");
  return found;
}

async function pool(rig: ServiceRig): Promise<WireBody> {
  const pools = propertyOf(await balancer(rig), "backendAddressPools") as WireBody[];
  const found = pools.find((one) => one.name === "kubernetes");
  assert.ok(found !== undefined, "there is no pool");
  return found;
}

async function entriesOf(rig: ServiceRig): Promise<readonly Entry[]> {
  return (propertyOf(await pool(rig), "loadBalancerBackendAddresses") ?? []) as Entry[];
}

async function pooled(rig: ServiceRig, names: readonly string[]): Promise<void> {
  await eventually(async () => {
    assert.deepEqual((await entriesOf(rig)).map(({ name }) => name).sort(), names);
  }, WITHIN_MS);
}

async function putEntries(rig: ServiceRig, entries: readonly Entry[]): Promise<void> {
  const seen = await pool(rig);
  const properties = { ...(seen["properties"] as object), loadBalancerBackendAddresses: entries };
  await rig.put("loadBalancers/kubernetes/backendAddressPools/kubernetes", { ...seen, properties });
}

async function addServer(rig: ServiceRig, name: string, ipAddress: string): Promise<void> {
  await putEntries(rig, [...(await entriesOf(rig)), { name, properties: { ipAddress } }]);
}

async function removeServer(rig: ServiceRig, name: string): Promise<void> {
  const kept = (await entriesOf(rig)).filter((entry) => entry.name !== name);
  await putEntries(rig, kept);
}

async function ruleOf(rig: ServiceRig, service: string, field: string): Promise<unknown> {
  const base = baseName((await rig.service(service)).metadata.uid);
  const rules = propertyOf(await balancer(rig), "loadBalancingRules") as WireBody[];
  return propertyOf(
    rules.find((rule) => rule.name.startsWith(base)),
    field,
  );
}

/** As a person would in the portal: the whole load balancer, with one field changed. */
async function editRule(rig: ServiceRig, service: string, change: object): Promise<void> {
  const base = baseName((await rig.service(service)).metadata.uid);
  const seen = await balancer(rig);
  const rules = propertyOf(seen, "loadBalancingRules") as WireBody[];
  const loadBalancingRules = rules.map((rule) =>
    rule.name.startsWith(base) ? { ...rule, properties: { ...(rule["properties"] as object), ...change } } : rule,
  );
  await rig.put("loadBalancers/kubernetes", {
    ...seen,
    properties: { ...(seen["properties"] as object), loadBalancingRules },
  });
}
