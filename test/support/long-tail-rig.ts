/**
 * One long-tail scenario on a cluster and an emulated Azure: seeds what it was recorded with, carries out its steps as a
 * user, a kubelet and other clients would, and brings the resulting state into the form of the recordings.
 */
import assert from "node:assert/strict";

import { baseName } from "../../src/core/model/names.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { ENDPOINT_SLICES, NODES, SERVICES, type Resource } from "../../src/kube/client/resources.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import type { ClusterOpener } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import {
  comparable,
  type JsonObject,
  type KnownService,
  type RealState,
  type RecordedState,
} from "./incumbent-states.ts";
import type { LongTailDoing, LongTailScenario, SliceDoing } from "./long-tail.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "./service-rig.ts";

const API = { network: "api-version=2026-01-01", compute: "api-version=2025-04-01", groups: "api-version=2021-04-01" };
const FOREIGN_RULE = {
  access: "Allow",
  direction: "Inbound",
  priority: 100,
  protocol: "Tcp",
  sourceAddressPrefix: "*",
  sourcePortRange: "*",
  destinationAddressPrefix: "*",
  destinationPortRange: "22",
};
/** In ids that other clients write. */
const RECORDED_SUBSCRIPTION = "00000000-0000-0000-0000-000000000001";
const SECOND_SET_SIZE = 2;
const FIRST_SET_SIZE = 3;

export class LongTailRig {
  readonly rig: ServiceRig;
  readonly scenario: LongTailScenario;
  /** Every Service that ever was, by `namespace/name`. */
  readonly known = new Map<string, KnownService>();
  /** Those that there are. */
  readonly alive = new Set<string>();
  /** Those of them that the incumbent refuses. */
  readonly refused = new Set<string>();

  private constructor(rig: ServiceRig, scenario: LongTailScenario) {
    this.rig = rig;
    this.scenario = scenario;
  }

  static async open(open: ClusterOpener, scenario: LongTailScenario): Promise<LongTailRig> {
    const ipv6 = JSON.stringify(scenario).includes('"IPv6"');
    const rig = await ServiceRig.open(open, {
      ipv6,
      azure: { topology: { nodes: FIRST_SET_SIZE, ...scenario.sandbox.topology } },
      cloudConfig: scenario.azureJson,
      prepare: (made) => seed(made, scenario, ipv6),
    });
    return new LongTailRig(rig, scenario);
  }

  close(): Promise<void> {
    return this.rig.close();
  }

  /** Everything but `restart`. A step about a Service that is gone already does nothing. */
  async perform(doing: LongTailDoing): Promise<void> {
    if (doing.arm !== undefined) await this.#arm(doing.arm);
    if (doing.slice !== undefined) await this.#slice(doing.slice, doing.ns);
    if (doing.deleteSlice !== undefined) await this.#deleteSlice(doing.deleteSlice, doing.ns);
    if (doing.node !== undefined) await this.#node(...doing.node);
    if (doing.apply?.kind === "Namespace") await this.#namespace(doing.apply.metadata);
    if (doing.apply?.kind === "Service") await this.#apply(doing.apply);
    const name = touchedBy(doing);
    if (name === undefined || !this.alive.has(name)) return;
    if (doing.fail === true) this.refused.add(name);
    else this.refused.delete(name);
    if (doing.annotate !== undefined) await this.rig.annotate(name, doing.annotate[1]);
    if (doing.patch !== undefined) await this.rig.patch(name, doing.patch[1]);
  }

  /** The Service that the step gives another spec; `undefined`: none, or it is gone. */
  touched(doing: LongTailDoing): string | undefined {
    const name = touchedBy(doing);
    return name !== undefined && this.alive.has(name) ? name : undefined;
  }

  forget(name: string): void {
    this.alive.delete(name);
  }

  /** Azure in the form of the recordings. */
  async state(): Promise<RecordedState> {
    const lists = await Promise.all([
      this.#privateLinkServices(),
      this.rig.list("loadBalancers"),
      this.rig.list("publicIPAddresses"),
      this.rig.list("networkSecurityGroups"),
    ]);
    const text = JSON.stringify(this.scenario.steps.map((step) => step.do));
    const isPinned = (address: string): boolean => text.includes(`"${address}"`);
    const network = comparable(lists.flat() as unknown as RealState, [...this.known.values()], isPinned);
    return { ...network, ...(await this.#subnets()), ...(await this.#scaleSets()) };
  }

  /** Of every resource group. */
  async #privateLinkServices(): Promise<WireBody[]> {
    const path = `/subscriptions/${this.rig.azure.subscriptionId}/providers/Microsoft.Network/privateLinkServices`;
    const { body } = await this.rig.arm.send("GET", `${path}?${API.network}`);
    return (body as { value: WireBody[] }).value;
  }

  async #subnets(): Promise<RecordedState> {
    const { body } = await this.rig.arm.send(
      "GET",
      `${this.rig.networkPath("virtualNetworks/vnet/subnets")}?${API.network}`,
    );
    const subnets = (body as { value: WireBody[] }).value;
    return Object.fromEntries(
      subnets.map((subnet) => {
        const policies = String(propertiesOf(subnet)["privateLinkServiceNetworkPolicies"]);
        return [`subnets/${subnet.name}`, { privateLinkServiceNetworkPolicies: policies }];
      }),
    );
  }

  /** Those whose model names pools. */
  async #scaleSets(): Promise<RecordedState> {
    const { body } = await this.rig.arm.send(
      "GET",
      `${computePath(this.rig, "virtualMachineScaleSets")}?${API.compute}`,
    );
    const named = (body as { value: WireBody[] }).value.map(({ name, ...set }) => {
      const ids = [...JSON.stringify(set).matchAll(/"id":"[^"]*\/(backendAddressPools\/[^"]+)"/g)];
      return [`scaleSets/${name}`, { modelPools: ids.map(([, ref = ""]) => ({ ref })) }] as const;
    });
    return Object.fromEntries(named.filter(([, { modelPools }]) => modelPools.length > 0));
  }

  async #apply({ metadata, spec = {} }: NonNullable<LongTailDoing["apply"]>): Promise<void> {
    const { name, namespace = "default" } = metadata;
    const key = keyOf(name, namespace);
    const pinned = spec["loadBalancerIP"];
    const other =
      typeof pinned === "string" && pinned.startsWith("$svcip:") ? pinned.slice("$svcip:".length) : undefined;
    const address = other === undefined ? undefined : (await this.#ingress(other))[0];
    const body = {
      metadata: { ...metadata, namespace },
      spec: { ...spec, ...(address && { loadBalancerIP: address }) },
    };
    const { metadata: made } = await this.rig.kube.create(SERVICES, body);
    this.alive.add(key);
    // node ports and health-check ports are given, so they stand in the recordings as they are
    this.known.set(key, { name, base: baseName(made.uid), nodePorts: [], healthPort: undefined });
  }

  async #ingress(name: string): Promise<string[]> {
    const { status } = await this.rig.service(name);
    return (status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []);
  }

  async #namespace({ name, labels = {} }: { readonly name: string; readonly labels?: object }): Promise<void> {
    await this.rig.createNamespace(name);
    const { code, text } = await this.rig.cluster.request("PATCH", `/api/v1/namespaces/${name}`, {
      body: { metadata: { labels } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    assert.equal(code, 200, text);
  }

  async #node(name: string, patch: JsonObject | null): Promise<void> {
    if (patch === null) await this.rig.kube.delete(NODES, { name });
    else await this.rig.kube.patch(NODES, { name }, { merge: patch });
  }

  async #slice([service, nodes, { suffix = "", family = "IPv4", conditions } = {}]: SliceDoing, namespace = "default") {
    const name = `${service}-slice${suffix}`;
    const endpoints = nodes.map((nodeName, at) => ({
      addresses: [family === "IPv6" ? `fd01::${at + 1}` : `10.1.0.${at + 1}`],
      nodeName,
      conditions: { ready: true, ...conditions },
    }));
    const labels = { "kubernetes.io/service-name": service };
    const slice = { metadata: { name, namespace, labels }, addressType: family, endpoints, ports: [] };
    await this.#createOr(ENDPOINT_SLICES, slice, { endpoints });
  }

  async #createOr(resource: Resource, object: { metadata: { name: string; namespace: string } }, merge: object) {
    const { name, namespace } = object.metadata;
    try {
      await this.rig.kube.create(resource, object);
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error;
      await this.rig.kube.patch(resource, { name, namespace }, { merge });
    }
  }

  async #deleteSlice(which: NonNullable<LongTailDoing["deleteSlice"]>, namespace = "default"): Promise<void> {
    const [service, suffix = ""] = typeof which === "string" ? [which] : which;
    await this.rig.kube.delete(ENDPOINT_SLICES, { namespace, name: `${service}-slice${suffix}` });
  }

  async #arm([method, path, body]: NonNullable<LongTailDoing["arm"]>): Promise<void> {
    const where = `${this.rig.networkPath(path)}?${API.network}`;
    const here = JSON.stringify(body)?.replaceAll(RECORDED_SUBSCRIPTION, this.rig.azure.subscriptionId);
    const request = here === undefined ? {} : { body: JSON.parse(here) as JsonObject };
    const { status, text } = await this.rig.arm.send(method, where, request);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
  }
}

function touchedBy({ apply, annotate, patch, delete: gone, ns }: LongTailDoing): string | undefined {
  if (apply?.kind === "Service") return keyOf(apply.metadata.name, apply.metadata.namespace);
  const name = annotate?.[0] ?? patch?.[0] ?? gone;
  return name === undefined ? undefined : keyOf(name, ns);
}

function keyOf(name: string, namespace = "default"): string {
  return `${namespace}/${name}`;
}

function computePath({ azure }: ServiceRig, rest: string): string {
  const { subscriptionId, resourceGroup } = azure;
  return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute/${rest}`;
}

async function seed(rig: ServiceRig, { sandbox }: LongTailScenario, ipv6: boolean): Promise<void> {
  await rig.put("networkSecurityGroups/nsg/securityRules/foreign-ssh", { properties: FOREIGN_RULE });
  await rig.put("publicIPPrefixes/prefix1", {
    location: "westus2",
    sku: { name: "Standard" },
    properties: { prefixLength: 30, publicIPAddressVersion: "IPv4" },
  });
  if (sandbox.secondSet === true) await seedSecondSet(rig, ipv6);
  if (sandbox.links === true) await seedLinks(rig);
  for (const [name, patch] of Object.entries(sandbox.nodes ?? {})) {
    await rig.kube.patch(NODES, { name }, { merge: patch });
  }
}

/** As the first one, with two instances. Addresses follow those of the first. */
async function seedSecondSet(rig: ServiceRig, ipv6: boolean): Promise<void> {
  const sets = computePath(rig, "virtualMachineScaleSets");
  const first = (await rig.arm.send("GET", `${sets}/vmss?${API.compute}`)).body as JsonObject;
  const text = JSON.stringify({ location: first["location"], zones: first["zones"], properties: first["properties"] });
  const like = JSON.parse(text.replaceAll('"vmss"', '"vmss2"')) as JsonObject;
  const body = { ...like, sku: { ...(first["sku"] as JsonObject), capacity: SECOND_SET_SIZE } };
  const { status, text: answer } = await rig.arm.send("PUT", `${sets}/vmss2?${API.compute}`, { body });
  assert.ok(status < 300, `PUT vmss2: ${status} ${answer}`);
  await eventually(async () => {
    const { body: listed } = await rig.arm.send("GET", `${sets}/vmss2/virtualMachines?${API.compute}`);
    assert.equal((listed as { value: unknown[] }).value.length, SECOND_SET_SIZE);
  }, WITHIN_MS);
  const nodes = Array.from({ length: SECOND_SET_SIZE }, (_, at) => {
    const place = FIRST_SET_SIZE + at;
    return {
      name: `vmss200000${at}`,
      internalIPs: [`10.240.0.${4 + place}`, ...(ipv6 ? [`fd00::${(0x64 + place).toString(16)}`] : [])],
      providerID: `azure://${sets}/vmss2/virtualMachines/${at}`,
    };
  });
  await ensureNodes(rig.kube, nodes);
}

async function seedLinks(rig: ServiceRig): Promise<void> {
  const group = `/subscriptions/${rig.azure.subscriptionId}/resourceGroups/rg2?${API.groups}`;
  const { status, text } = await rig.arm.send("PUT", group, { body: { location: "westus2" } });
  assert.ok(status < 300, `PUT rg2: ${status} ${text}`);
  await rig.put("virtualNetworks/vnet/subnets/links", {
    properties: { addressPrefix: "10.242.0.0/16", privateLinkServiceNetworkPolicies: "Enabled" },
  });
}
