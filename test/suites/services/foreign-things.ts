/**
 * What others have on the same Azure resources goes back as it was read, over the whole life of Services: frontends,
 * pools, members, probes, rules, security rules and tags of theirs, and fields that this version of the controller has
 * never heard of, also on the resources that it writes itself. Compared on the wire.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import { EVENTS, NODES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

/** A value that nothing of ours could have made by itself. */
const UNKNOWN = { fromTheFuture: { list: [1, { deep: null }, "x"], text: 'Ünïcode " \\ ', yes: true, number: 1e-7 } };
const LISTS = {
  loadBalancers: [
    "frontendIPConfigurations",
    "backendAddressPools",
    "probes",
    "loadBalancingRules",
    "outboundRules",
    "inboundNatRules",
  ],
  networkSecurityGroups: ["securityRules"],
} as const;
type Kind = keyof typeof LISTS;
type Part = { readonly name: string; readonly properties: Readonly<Record<string, unknown>> };

export function foreignThingsSuite(name: string, open: ClusterOpener): void {
  describe(`foreign things, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3, foreign: true } } });
      await rig.leavePool();
      await decorate(rig, "loadBalancers", "kubernetes");
      await decorate(rig, "networkSecurityGroups", "nsg");
    });
    after(() => rig.close());

    test("are the same bytes at every step of a Service's life", async () => {
      const before = { lb: await foreign(rig, "loadBalancers"), nsg: await foreign(rig, "networkSecurityGroups") };
      assert.ok(before.lb.split("fromTheFuture").length > 6, "the emulator keeps what it does not know");
      const unchanged = async (when: string): Promise<void> => {
        assert.equal(await foreign(rig, "loadBalancers"), before.lb, `the load balancer, ${when}`);
        assert.equal(await foreign(rig, "networkSecurityGroups"), before.nsg, `the security group, ${when}`);
      };
      await rig.apply({ name: "web" });
      await rig.served("web");
      await unchanged("created");
      await rig.apply({ name: "web", spec: { ports: [{ port: 8080 }], loadBalancerSourceRanges: ["192.0.2.0/24"] } });
      await rig.served("web");
      await unchanged("changed");
      await rig.apply({ name: "neighbour" });
      await rig.served("neighbour");
      await rig.annotate("web", { "azure-load-balancer-internal": "true" });
      await rig.served("web");
      await unchanged("internal");
      await rig.annotate("web", { "azure-load-balancer-internal": null });
      await rig.served("web");
      await rig.delete("neighbour");
      await unchanged("external again");
      await rig.delete("web");
      await unchanged("deleted");
    });

    test("unknown fields on what is ours survive changes of others and of itself", async () => {
      await rig.apply({ name: "ours" });
      await rig.served("ours");
      await decorate(rig, "loadBalancers", "kubernetes");
      const before = await decorated(rig);
      assert.ok(before["loadBalancingRules"]?.some(isOfService), "our rule bears the field");
      await rig.apply({ name: "other" });
      await rig.served("other");
      await rig.delete("other");
      assert.deepEqual(await decorated(rig), before);
      await rig.annotate("ours", { "azure-load-balancer-tcp-idle-timeout": "11" });
      await rig.served("ours");
      assert.deepEqual(await decorated(rig), before);
      await rig.delete("ours");
    });

    test("an entry in our pool stays, and the Services on the load balancer are told, once", async () => {
      await rig.apply({ name: "told" });
      await rig.apply({ name: "neighbour" });
      await Promise.all([rig.served("told"), rig.served("neighbour")]);
      await addEntry(rig, "by-hand", "10.0.0.99");
      // the pool is written for a node, without any Service
      await ensureNodes(rig.kube, [{ name: "late", internalIPs: ["10.0.0.98"] }]);
      const about = /"by-hand"/;
      assert.match(await rig.warned("told", "ForeignBackendAddress"), about);
      assert.match(await rig.warned("neighbour", "ForeignBackendAddress"), about);
      for (const minutes of ["9", "10", "11"]) {
        await rig.annotate("told", { "azure-load-balancer-tcp-idle-timeout": minutes });
        await rig.served("told");
      }
      assert.deepEqual(await foreignEntryEvents(rig, "told"), ["1 by-hand"]);
      await addEntry(rig, "another", "10.0.0.97");
      await rig.apply({ name: "told", annotations: { "azure-load-balancer-tcp-idle-timeout": "12" } });
      await eventually(async () => {
        assert.deepEqual(await foreignEntryEvents(rig, "told"), ["1 by-hand", "1 by-hand another"]);
      }, WITHIN_MS);
      await rig.kube.delete(NODES, { name: "late" });
      await rig.delete("told");
      await rig.delete("neighbour");
    });
  });
}

/** A person's, through the official SDK. */
async function addEntry({ azure }: ServiceRig, name: string, ipAddress: string): Promise<void> {
  const { network, resourceGroup } = azure;
  const pools = network.loadBalancerBackendAddressPools;
  const pool = await pools.get(resourceGroup, "kubernetes", "kubernetes");
  const loadBalancerBackendAddresses = [...(pool.loadBalancerBackendAddresses ?? []), { name, ipAddress }];
  await pools.beginCreateOrUpdateAndWait(resourceGroup, "kubernetes", "kubernetes", {
    ...pool,
    loadBalancerBackendAddresses,
  });
}

/** How often each was told, and which entries it names. */
async function foreignEntryEvents(rig: ServiceRig, service: string): Promise<string[]> {
  type Told = KubeObject & { readonly reason: string; readonly message: string; readonly count?: number };
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${service}`;
  const { items } = await rig.kube.list<Told>(EVENTS, { namespace: "default", fieldSelector });
  return items
    .filter(({ reason }) => reason === "ForeignBackendAddress")
    .map(({ count = 1, message }) => `${count} ${/stay: (.*)$/.exec(message)?.[1]?.replaceAll(/[",]/g, "")}`)
    .sort();
}

async function bodyOf(rig: ServiceRig, kind: Kind): Promise<WireBody & { properties: Record<string, Part[]> }> {
  const [first] = await rig.list(kind);
  assert.ok(first !== undefined, `there are no ${kind}`);
  return first as WireBody & { properties: Record<string, Part[]> };
}

/** Puts a field from the future on the resource, on each of its parts, and on the members of its pools. */
async function decorate(rig: ServiceRig, kind: Kind, name: string): Promise<void> {
  const body = await bodyOf(rig, kind);
  const parts = LISTS[kind].map((list) => [list, (body.properties[list] ?? []).map(decoratedPart)] as const);
  await rig.put(`${kind}/${name}`, {
    ...body,
    tags: { ...(body["tags"] as object | undefined), "someone's": "tag" },
    properties: { ...body.properties, ...UNKNOWN, ...Object.fromEntries(parts) },
  });
}

function decoratedPart(part: Part): Part {
  const { loadBalancerBackendAddresses: members } = part.properties as { loadBalancerBackendAddresses?: Part[] };
  const decoratedMembers = members?.map((member) => ({
    ...member,
    properties: { ...member.properties, ...UNKNOWN },
  }));
  return {
    ...part,
    properties: {
      ...part.properties,
      ...UNKNOWN,
      ...(decoratedMembers !== undefined && { loadBalancerBackendAddresses: decoratedMembers }),
    },
  };
}

/** Text of everything that is not a Service's, but for versions. Azure lists in a part what refers to it. */
async function foreign(rig: ServiceRig, kind: Kind): Promise<string> {
  const { etag: _, ...body } = await bodyOf(rig, kind);
  const lists = LISTS[kind].map((list) => {
    const parts = (body.properties[list] ?? []).filter(({ name }) => !isOfService(name));
    return [list, parts] as const;
  });
  const whole = { ...body, properties: { ...body.properties, ...Object.fromEntries(lists) } };
  return JSON.stringify(whole, (key, value: unknown) => {
    if (key === "etag" || key === "provisioningState") return undefined;
    if (!Array.isArray(value) || !value.some(isReferenceToService)) return value;
    const others = value.filter((item) => !isReferenceToService(item));
    return others.length > 0 ? others : undefined;
  });
}

const SERVICE_PART = /^(k8s-azure-lb_|a[0-9a-f]{31})/;
const isOfService = (name: string): boolean => SERVICE_PART.test(name);

function isReferenceToService(item: unknown): boolean {
  const { id } = (item ?? {}) as { id?: string };
  return typeof id === "string" && isOfService(id.split("/").at(-1) ?? "");
}

/** Names of the parts of our Service that bear the field, by list. */
async function decorated(rig: ServiceRig): Promise<Record<string, string[]>> {
  const { properties } = await bodyOf(rig, "loadBalancers");
  const entries = LISTS.loadBalancers.map((list) => {
    const bearing = (properties[list] ?? []).filter((part) => "fromTheFuture" in part.properties);
    return [list, bearing.map(({ name }) => name).toSorted()] as const;
  });
  return Object.fromEntries(entries);
}
