/**
 * Two tenants of one cluster: what namespace `evil` may write changes nothing that namespace `default` has, nor what
 * another cluster or a user has on the same Azure resources. Each story asserts Azure's state, the victim's Service, and
 * what the victim is told: nothing.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { EVENTS, NODES, type KubeObject } from "../../../src/kube/client/resources.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type Manifest, type WireBody } from "../../support/service-rig.ts";
import { securityRules } from "../services/annotation-cases.ts";

const NO_FLOATING = { "azure-disable-load-balancer-floating-ip": "true" };
/** Well below the minute after which a refused Service is looked at anyway. */
const WOKEN_WITHIN_MS = 30_000;
/** Of every new Node. */
const NOT_READY = "node.kubernetes.io/not-ready";
const APPLIED = "azlb.io/applied";
/** Of another cluster on the same security group. */
const THEIR_ADDRESSES = ["20.99.0.1", "20.99.0.2"];
const THEIR_NODES = ["10.250.0.4", "10.250.0.5"];

export function tenantsSuite(name: string, open: ClusterOpener): void {
  describe(`two tenants, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open);
      await rig.createNamespace("evil");
    });
    after(() => rig.close());

    const served = async (manifest: Manifest): Promise<string> => {
      await rig.apply(manifest);
      const [address = ""] = await rig.served(manifest.name);
      return address;
    };

    /** What belongs to the victim is the same before and after, and no Warning is on its Service. */
    const untouched = async (victim: string, addresses: readonly string[], attack: () => Promise<void>) => {
      const state = async () => ({ rules: await rulesAt(rig, addresses), status: (await rig.service(victim)).status });
      const before = await state();
      await attack();
      await rig.served(victim);
      assert.deepEqual(await state(), before);
      const told = (await rig.events(victim)).filter(({ type }) => type === "Warning");
      assert.deepEqual(told, []);
    };

    test("an Event about a Node in the tenant's namespace drains nothing", async () => {
      const address = await served({ name: "victim" });
      const nodes = rig.azure.nodes.map((node) => node.name);
      await untouched("victim", [address], async () => {
        const now = new Date().toISOString().replace(/\.\d+/, "");
        for (const node of nodes) {
          await rig.kube.create(EVENTS, {
            metadata: { name: `${node}.evil`, namespace: "evil" },
            involvedObject: { kind: "Node", name: node, uid: node, namespace: "evil" },
            reason: "PreemptScheduled",
            message: "Preempt Scheduled x",
            type: "Warning",
            firstTimestamp: now,
            lastTimestamp: now,
            source: { component: "node-problem-detector" },
          });
        }
        // a Service that is served after the Events says that they were seen
        await served({ name: "evil/later", spec: { ports: [{ port: 9000 }] } });
        await rig.delete("evil/later");
      });
      for (const node of nodes) {
        const { spec } = await rig.kube.get<KubeObject & { spec?: { taints?: { key: string }[] } }>(NODES, {
          name: node,
        });
        const keys = (spec?.taints ?? []).map(({ key }) => key).filter((key) => key !== NOT_READY);
        assert.deepEqual(keys, [], node);
      }
      await rig.delete("victim");
    });

    test("a port of another Service is not opened by a Service without a rule for it", async () => {
      const spec = { ports: [{ port: 5432 }], loadBalancerSourceRanges: ["192.0.2.0/24"] };
      const address = await served({ name: "victim", spec });
      await untouched("victim", [address], async () => {
        await rig.apply({
          name: "evil/opener",
          annotations: { "azure-load-balancer-ipv4": address, port_5432_no_lb_rule: "true" },
          spec: {
            ports: [
              { name: "a", port: 9999 },
              { name: "b", port: 5432 },
            ],
          },
        });
        assert.match(await rig.warned("evil/opener", "PortConflict"), /5432 is taken .* Service default\/victim/);
        await rig.delete("evil/opener");
      });
      await rig.delete("victim");
    });

    test("addresses that can never be public, and the nodes' own, are not opened, shown or closed", async () => {
      const nodes = rig.azure.nodes.map(({ ip }) => ip);
      await served({ name: "victim", annotations: NO_FLOATING });
      await untouched("victim", nodes, async () => {
        for (const address of [nodes.join(), "169.254.169.254", "127.0.0.1", "168.63.129.16"]) {
          await rig.apply({ name: "evil/grabber", annotations: { "azure-additional-public-ips": address } });
          await eventually(async () => {
            const warnings = (await rig.events("evil/grabber")).filter(({ type }) => type === "Warning");
            assert.ok(
              warnings.some(({ message }) => message.includes("azure-additional-public-ips")),
              address,
            );
          }, WITHIN_MS);
          assert.deepEqual((await rig.service("evil/grabber")).status.loadBalancer.ingress ?? [], [], address);
          await rig.delete("evil/grabber");
        }
      });
      await rig.delete("victim");
    });

    test("rules of another cluster on the same security group survive", async () => {
      await putRule(rig, "k8s-azure-lb_allow_IPv4_0123456789abcdef0123456789abcdef", 700, THEIR_NODES, "30080");
      await putRule(rig, "k8s-azure-lb_allow_IPv4_fedcba9876543210fedcba9876543210", 701, THEIR_ADDRESSES, "80");
      await served({ name: "victim" });
      await untouched("victim", [...THEIR_NODES, ...THEIR_ADDRESSES], async () => {
        const ports = [{ port: 80, nodePort: 30_080 }];
        await served({ name: "evil/same-port", annotations: NO_FLOATING, spec: { ports } });
        const claim = `changing addresses=${[...THEIR_ADDRESSES, ...THEIR_NODES].join()}`;
        await rig.annotate("evil/same-port", { [APPLIED]: claim });
        await rig.served("evil/same-port");
        await rig.annotate("evil/same-port", { [APPLIED]: claim });
        await rig.delete("evil/same-port");
        await rig.apply({
          name: "evil/namer",
          annotations: { "azure-additional-public-ips": THEIR_ADDRESSES.join() },
        });
        assert.match(
          await rig.warned("evil/namer", "AddressTaken"),
          /"20\.99\.0\.1" is in security rule "k8s-azure-lb_/,
        );
        await rig.annotate("evil/namer", { "azure-additional-public-ips": null });
        await rig.served("evil/namer");
        await rig.delete("evil/namer");
      });
      await rig.delete("victim");
    });

    test("an address that is kept for a Service that went cannot be had by another tenant", async () => {
      const address = await served({ name: "keeper", annotations: { "azlb.io/deletion-protection": "true" } });
      const [kept] = await rig.list("publicIPAddresses");
      await rig.delete("keeper");
      const ways = {
        pinned: { "azure-load-balancer-ipv4": address },
        named: { "azure-pip-name": kept?.name ?? "" },
        additional: { "azure-additional-public-ips": address },
      };
      for (const [way, annotations] of Object.entries(ways)) {
        await rig.apply({ name: `evil/${way}`, annotations, spec: { ports: [{ port: 9000 }] } });
        assert.match(await rig.warned(`evil/${way}`, "AddressTaken"), /kept for Service default\/keeper/);
        assert.deepEqual((await rig.service(`evil/${way}`)).status.loadBalancer.ingress ?? [], [], way);
        await rig.delete(`evil/${way}`);
      }
      assert.deepEqual(await rulesAt(rig, [address]), []);
      assert.equal(await served({ name: "keeper" }), address);
      await rig.delete("keeper");
    });

    test("a denial on a shared address covers the ports of its Service", async () => {
      const internal = { "azure-load-balancer-internal": "true" };
      const address = await served({ name: "victim", annotations: internal, spec: { ports: [{ port: 6379 }] } });
      await rig.apply({
        name: "evil/denier",
        annotations: { ...internal, "azure-deny-all-except-load-balancer-source-ranges": "true" },
        spec: { ports: [{ port: 9998 }], loadBalancerIP: address, loadBalancerSourceRanges: ["192.0.2.0/24"] },
      });
      await rig.served("evil/denier");
      assert.deepEqual(await rulesAt(rig, [address]), [
        `Allow Tcp 192.0.2.0/24 → ${address} 9998`,
        `Deny Tcp * → ${address} 9998`,
      ]);
      await rig.delete("evil/denier");
      await untouched("victim", [address], async () => {});
      await rig.delete("victim");
    });

    test("an address is shared with another namespace as far as addressSharing allows", async () => {
      const internal = { "azure-load-balancer-internal": "true" };
      const elsewhere = { "azure-additional-public-ips": "20.200.0.1" };
      const address = await served({ name: "victim", annotations: elsewhere });
      const inside = await served({ name: "inside", annotations: internal });
      const publicIP = (await rig.list("publicIPAddresses")).find((one) => propertiesOf(one)["ipAddress"] === address);
      const early = { annotations: { "azure-load-balancer-ipv4": address }, spec: { ports: [{ port: 9001 }] } };
      assert.equal(await served({ name: "evil/early", ...early }), address);

      await rig.restart({ addressSharing: "namespace" });
      assert.match(await rig.warned("evil/early", "AddressShared"), /held by Service default\/victim/);
      const ports = [{ port: 9002 }];
      const attempts = {
        "evil/by-address": { ...early, spec: { ports } },
        "evil/by-spec": { spec: { ports, loadBalancerIP: address } },
        "evil/by-name": { annotations: { "azure-pip-name": publicIP?.name ?? "" }, spec: { ports } },
        "evil/by-private": { annotations: internal, spec: { ports, loadBalancerIP: inside } },
        "evil/by-additional": { annotations: elsewhere, spec: { ports } },
      };
      const before = await rig.everything();
      await untouched("victim", [address], async () => {
        for (const [name, manifest] of Object.entries(attempts)) await rig.apply({ name, ...manifest });
        for (const name of Object.keys(attempts)) {
          assert.match(
            await rig.warned(name, "AddressTaken"),
            /held by Service default\/\w+, which does not share it with namespace "evil" \(addressSharing: namespace\)/,
          );
          assert.deepEqual((await rig.service(name)).status.loadBalancer.ingress ?? [], [], name);
        }
        assert.deepEqual(await rig.served("evil/early"), [address]);
      });
      assert.deepEqual(await rig.everything(), before);
      assert.equal(await served({ name: "mate", ...attempts["evil/by-spec"] }), address);
      await rig.delete("mate");

      await rig.restart({ addressSharing: "consent" });
      await untouched("victim", [address], () => rig.annotate("victim", { "azlb.io/share-address-with": "evil" }));
      // the consent wakes it: its next try by itself would be a minute after the refusal
      await rig.publishedWithin("evil/by-address", WOKEN_WITHIN_MS);
      assert.deepEqual(await rig.served("evil/by-address"), [address]);
      await eventually(async () => {
        const told = (await rig.events("evil/by-private")).map(({ message }) => message).join();
        assert.match(told, /add "evil" to annotation azlb\.io\/share-address-with of that Service/);
      }, WITHIN_MS);

      for (const name of ["evil/early", ...Object.keys(attempts), "inside", "victim"]) await rig.delete(name);
      await rig.restart({ addressSharing: "any" });
    });

    test("a Node that says it has another's address takes no entry of a pool from it", async () => {
      await served({ name: "victim" });
      const [mark] = rig.azure.nodes;
      assert.ok(mark !== undefined);
      const thief = { name: "thief", internalIPs: ["10.240.99.1"] };
      await ensureNodes(rig.kube, [thief]);
      const honest = rig.azure.nodes.map(({ name, ip }) => `${name} ${ip}`).sort();
      await eventually(
        async () => assert.deepEqual(await members(rig), [...honest, "thief 10.240.99.1"].sort()),
        WITHIN_MS,
      );
      const status = { addresses: [{ type: "InternalIP", address: mark.ip }] };
      await rig.kube.patch(NODES, { name: "thief", subresource: "status" }, { merge: { status } });
      const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
      await rig.kube.patch(NODES, { name: "thief" }, { merge: { spec: { taints } } });
      // a Service that is served after that says that it was seen
      await served({ name: "evil/later", spec: { ports: [{ port: 9000 }] } });
      await eventually(async () => assert.deepEqual(await members(rig), honest), WITHIN_MS);
      for (const name of ["thief", mark.name]) {
        await eventually(async () => {
          const { items } = await rig.kube.list<KubeObject & { reason: string; message: string }>(EVENTS, {
            fieldSelector: `involvedObject.kind=Node,involvedObject.name=${name}`,
          });
          const told = items.filter(({ reason }) => reason === "NodeAddressConflict").map(({ message }) => message);
          assert.match(told.join(), new RegExp(`^InternalIP ${mark.ip} is also that of node`));
        }, WITHIN_MS);
      }
      await rig.kube.delete(NODES, { name: "thief" });
      for (const name of ["evil/later", "victim"]) await rig.delete(name);
    });

    test("tags that differ in case cost few writes, and no public IP outlives its Service", async () => {
      const address = await served({ name: "victim" });
      const before = (await rig.list("publicIPAddresses")).map(({ name }) => name);
      await untouched("victim", [address], async () => {
        const tags = "k8s-azure-cluster-name=other,K8S-AZURE-CLUSTER-NAME=zzz,Team=a,TEAM=b";
        await served({ name: "evil/tagger", annotations: { "azure-pip-tags": tags }, spec: { ports: [{ port: 81 }] } });
        assert.match(await rig.warned("evil/tagger", "InvalidAnnotation"), /azure-pip-tags: "K8S-AZURE-CLUSTER-NAME"/);
        await rig.delete("evil/tagger");
      });
      await eventually(async () => {
        const names = (await rig.list("publicIPAddresses")).map((publicIP) => publicIP.name);
        assert.deepEqual(names, before);
      }, WITHIN_MS);
      await rig.delete("victim");
    });
  });
}

/** Private link services need pools of network interfaces. */
export function tenantLinksSuite(name: string, open: ClusterOpener): void {
  describe(`two tenants and private link services, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 1, backendPool: "nodeIPConfiguration" } } });
      await rig.createNamespace("evil");
      await rig.apply({ name: "victim", annotations: { ...LINK, "azure-pls-name": "theirs" } });
      await rig.served("victim");
    });
    after(() => rig.close());

    test("one of another Service is not taken by its name", async () => {
      const before = await rig.everything();
      await rig.apply({
        name: "evil/namer",
        annotations: { ...LINK, ...OPEN_TO_ALL, "azure-pls-name": "theirs" },
      });
      assert.match(await rig.warned("evil/namer", "PrivateLinkServiceTaken"), /belongs to Service default\/victim/);
      assert.deepEqual(await rig.everything(), before);
      await rig.delete("evil/namer");
      assert.deepEqual(await rig.everything(), before);
    });

    test("one on a shared frontend is shown and approved to none but those whom its owner names", async () => {
      const [address = ""] = await rig.served("victim");
      const before = (await rig.list("privateLinkServices")).map(propertiesOf);
      await rig.apply({
        name: "evil/sharer",
        annotations: { ...LINK, ...OPEN_TO_ALL, "azure-load-balancer-ipv4": address },
        spec: { ports: [{ port: 9000 }] },
      });
      await eventually(async () => {
        const plan = await rig.plan("evil/sharer");
        assert.deepEqual(plan.steps, []);
        const isDone = (await rig.events("evil/sharer")).length > 0;
        assert.ok(isDone, "the controller has not looked at it");
      }, WITHIN_MS);
      assert.deepEqual((await rig.list("privateLinkServices")).map(shownTo), before.map(shownToOf));
      await rig.delete("evil/sharer");
      assert.deepEqual((await rig.list("privateLinkServices")).map(shownTo), before.map(shownToOf));
      assert.deepEqual(await rig.served("victim"), [address]);
      const told = (await rig.events("victim")).filter(({ type }) => type === "Warning");
      assert.deepEqual(told, []);
    });
  });
}

const LINK = { "azure-load-balancer-internal": "true", "azure-pls-create": "true" };
const OPEN_TO_ALL = { "azure-pls-visibility": "*" };

function shownTo(link: WireBody): unknown {
  return shownToOf(propertiesOf(link));
}

function shownToOf({ visibility, autoApproval, fqdns }: Readonly<Record<string, unknown>>): unknown {
  return { visibility, autoApproval, fqdns };
}

/** One line for each rule and address. */
async function rulesAt(rig: ServiceRig, addresses: readonly string[]): Promise<string[]> {
  const lines = (await securityRules(rig)).flatMap((rule) => {
    const { access, protocol, sourceAddressPrefix, sourceAddressPrefixes = [] } = rule;
    const { destinationAddressPrefix: one, destinationAddressPrefixes: many = [] } = rule;
    const { destinationPortRange, destinationPortRanges = [] } = rule;
    const sources = [sourceAddressPrefix ?? [], sourceAddressPrefixes].flat().join();
    const ports = [destinationPortRange ?? [], destinationPortRanges].flat().join();
    return [one ?? [], many]
      .flat()
      .filter((address) => addresses.includes(address))
      .map((address) => `${access} ${protocol} ${sources} → ${address} ${ports}`);
  });
  return lines.sort();
}

/** The entries of the external pool: name, address, and the admin state if there is one. */
async function members(rig: ServiceRig): Promise<string[]> {
  const loadBalancer = (await rig.list("loadBalancers")).find(({ name }) => name === "kubernetes");
  const pools = (propertiesOf(loadBalancer)["backendAddressPools"] ?? []) as WireBody[];
  const entries = pools.flatMap((pool) => (propertiesOf(pool)["loadBalancerBackendAddresses"] ?? []) as Entry[]);
  return entries
    .map(({ name, properties: { ipAddress, adminState = "" } }) => `${name} ${ipAddress} ${adminState}`.trim())
    .sort();
}

interface Entry {
  readonly name: string;
  readonly properties: { readonly ipAddress: string; readonly adminState?: string };
}

async function putRule(
  rig: ServiceRig,
  name: string,
  priority: number,
  addresses: readonly string[],
  port: string,
): Promise<void> {
  await rig.put(`networkSecurityGroups/nsg/securityRules/${name}`, {
    properties: {
      access: "Allow",
      direction: "Inbound",
      priority,
      protocol: "Tcp",
      sourceAddressPrefix: "Internet",
      sourcePortRange: "*",
      destinationAddressPrefixes: addresses,
      destinationPortRanges: [port],
    },
  });
}
