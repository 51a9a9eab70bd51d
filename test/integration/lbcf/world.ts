/**
 * A cluster with LBCF's definitions, an emulated Azure and our controller between them, all in this process, for suites
 * that run on either API server. No kubelet runs: what a pod's status says is what the test wrote.
 */
import assert from "node:assert/strict";

import { startAzure, type AzureOptions, type RunningAzure } from "../../../sandbox/azure/index.ts";
import type { LbcfOptions } from "../../../src/controller/lbcf/lbcf-part.ts";
import { ANY_STATIC_ADDRESS } from "../../../src/core/lbcf/azure/static-addresses.ts";
import { LOCAL_HOSTS } from "../../../src/core/lbcf/drivers/webhook-hosts.ts";
import { SILENT_LOG, type Log } from "../../../src/core/util/log.ts";
import {
  type ControllerProcessOptions,
  startController,
  type RunningController,
} from "../../../src/main/controller.ts";
import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import type { KubeObject, Reply } from "../../support/kube-connection.ts";
import { installDefinitions } from "./definitions.ts";

const CORE = "/api/v1/namespaces/default";
const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";
/** Generous: the machine may be busy. */
const PATIENCE_MS = 120_000;
const QUICK: Partial<LbcfOptions> = {
  retries: { leastMs: 20, stepMs: 50, mostMs: 500 },
  healthEveryMs: 500,
  lookEveryMs: 100,
};

export interface PoolEntry {
  readonly name: string;
  readonly properties: { readonly ipAddress?: string; readonly adminState?: string; readonly [field: string]: unknown };
}

export interface LbcfWorldOptions {
  readonly azure?: AzureOptions;
  readonly lbcf?: Partial<LbcfOptions>;
  readonly log?: Log;
  readonly withController?: boolean;
  /** The controller's own; by default it may do all that the test may. */
  readonly kubeconfig?: string;
  /** Where the test installs them itself. */
  readonly withDefinitions?: boolean;
  readonly gateWebhook?: ControllerProcessOptions["gateWebhook"];
}

export class LbcfWorld {
  readonly cluster: Cluster;
  readonly azure: RunningAzure;
  readonly #options: LbcfWorldOptions;
  #controller: RunningController | undefined;
  #token: string | undefined;

  private constructor(cluster: Cluster, azure: RunningAzure, options: LbcfWorldOptions) {
    this.cluster = cluster;
    this.azure = azure;
    this.#options = options;
  }

  static async open(open: ClusterOpener, options: LbcfWorldOptions = {}): Promise<LbcfWorld> {
    const [cluster, azure] = await Promise.all([open(), startAzure({ topology: { nodes: 2 }, ...options.azure })]);
    const world = new LbcfWorld(cluster, azure, options);
    if (options.withDefinitions !== false) await installDefinitions(cluster);
    for (const { name, ip } of azure.nodes) await world.addNode(name, ip);
    if (options.withController !== false) await world.startController();
    return world;
  }

  async startController(): Promise<void> {
    this.#controller = await startController({
      kubeconfig: this.#options.kubeconfig ?? this.cluster.kubeconfig,
      cloudConfig: { kind: "file", path: this.azure.cloudConfigFile },
      clusterName: "kubernetes",
      env: {},
      leaderElect: false,
      log: this.#options.log ?? SILENT_LOG,
      lbcf: { staticAddresses: ANY_STATIC_ADDRESS, ...QUICK, ...this.#options.lbcf },
      webhookHosts: LOCAL_HOSTS,
      gateWebhook: this.#options.gateWebhook,
    });
  }

  async stopController(): Promise<void> {
    await this.#controller?.close();
    this.#controller = undefined;
  }

  get metricsUrl(): string {
    return this.#controller?.metricsUrl ?? "";
  }

  get gateWebhookUrl(): string {
    return this.#controller?.gateWebhookUrl ?? "";
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.cluster.close();
    await this.azure.close();
  }

  async addNode(name: string, ip: string): Promise<void> {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } } };
    await this.#post("/api/v1/nodes", node);
    const status = { addresses: [{ type: "InternalIP", address: ip }] };
    await this.patch(`/api/v1/nodes/${name}/status`, { status });
  }

  /** A pod that runs and is ready, unless `ready` says otherwise. */
  async addPod(name: string, pod: PodOptions): Promise<KubeObject> {
    const spec = {
      nodeName: pod.node ?? this.azure.nodes[0]?.name,
      containers: [{ name: "web", image: "web" }],
      ...(pod.gated && { readinessGates: [{ conditionType: "lbcf.tkestack.io/registered" }] }),
    };
    const metadata = { name, labels: pod.labels ?? { app: "web" }, annotations: pod.annotations ?? {} };
    const made = await this.#post(`${CORE}/pods`, { apiVersion: "v1", kind: "Pod", metadata, spec });
    await this.setPod(name, pod);
    return made;
  }

  async setPod(name: string, { ip, ready = true, phase = "Running", gated = false }: PodOptions): Promise<void> {
    const containers = { type: "ContainersReady", status: ready ? "True" : "False" };
    const conditions = [containers, { type: "Ready", status: ready && !gated ? "True" : "False" }];
    await this.patch(`${CORE}/pods/${name}/status`, {
      status: { phase, podIP: ip, podIPs: [{ ip }], conditions },
    });
  }

  /** As the kubelet does when the containers have ended: gone at once. */
  async killPod(name: string): Promise<void> {
    await this.remove(`${CORE}/pods/${name}`, { gracePeriodSeconds: 0 });
  }

  async terminatePod(name: string, gracePeriodSeconds: number): Promise<void> {
    await this.remove(`${CORE}/pods/${name}`, { gracePeriodSeconds });
  }

  create(kind: string, name: string, spec: object, metadata: object = {}): Promise<KubeObject> {
    const body = { apiVersion: "lbcf.tkestack.io/v1beta1", kind, metadata: { name, ...metadata }, spec };
    return this.#post(`${LBCF}/${kind.toLowerCase()}s`, body);
  }

  createIn(namespace: string, kind: string, name: string, spec: object): Promise<KubeObject> {
    const body = { apiVersion: "lbcf.tkestack.io/v1beta1", kind, metadata: { name }, spec };
    return this.#post(`/apis/lbcf.tkestack.io/v1beta1/namespaces/${namespace}/${kind.toLowerCase()}s`, body);
  }

  post(path: string, body: object): Promise<KubeObject> {
    return this.#post(path, body);
  }

  async get(kind: string, name: string): Promise<LbcfObject> {
    return (await this.read(`${LBCF}/${kind.toLowerCase()}s/${name}`)) as LbcfObject;
  }

  async read(path: string): Promise<KubeObject> {
    const reply = await this.cluster.request("GET", path);
    assert.equal(reply.code, 200, reply.text);
    return reply.body;
  }

  async exists(kind: string, name: string): Promise<boolean> {
    return (await this.cluster.request("GET", `${LBCF}/${kind.toLowerCase()}s/${name}`)).code === 200;
  }

  async records(): Promise<readonly LbcfObject[]> {
    return ((await this.read(`${LBCF}/backendrecords`)) as KubeObject & { items: LbcfObject[] }).items;
  }

  async change(kind: string, name: string, change: object): Promise<void> {
    await this.patch(`${LBCF}/${kind.toLowerCase()}s/${name}`, change);
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.remove(`${LBCF}/${kind.toLowerCase()}s/${name}`, {});
  }

  async patch(path: string, body: object): Promise<Reply> {
    const headers = { "content-type": "application/merge-patch+json" };
    const reply = await this.cluster.request("PATCH", path, { body, headers });
    assert.equal(reply.code, 200, reply.text);
    return reply;
  }

  async remove(path: string, options: object): Promise<void> {
    const body = { kind: "DeleteOptions", apiVersion: "v1", ...options };
    const reply = await this.cluster.request("DELETE", path, { body });
    assert.ok(reply.code < 300 || reply.code === 404, reply.text);
  }

  /** Reasons of the events about an object. */
  async eventsOf(name: string): Promise<readonly string[]> {
    const { items } = (await this.read(`${CORE}/events?fieldSelector=involvedObject.name=${name}`)) as KubeObject & {
      items: { reason: string }[];
    };
    return items.map(({ reason }) => reason);
  }

  eventually(assertion: () => void | Promise<void>): Promise<void> {
    return eventually(assertion, PATIENCE_MS);
  }

  /** Azure as it is: a GET of Resource Manager. */
  async arm(path: string): Promise<ArmResource | undefined> {
    const reply = await this.#arm("GET", path);
    return reply.status === 404 ? undefined : ((await reply.json()) as ArmResource);
  }

  async putArm(path: string, body: object): Promise<void> {
    const reply = await this.#arm("PUT", path, body);
    assert.ok(reply.ok, await reply.text());
  }

  loadBalancerPath(name: string): string {
    const { subscriptionId, resourceGroup } = this.azure;
    const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
    return `${group}/providers/Microsoft.Network/loadBalancers/${name}`;
  }

  /** The load balancer `shared` of another owner, whose pool `mixed` holds these servers. */
  async addSharedLoadBalancer(theirs: readonly object[]): Promise<void> {
    const path = this.loadBalancerPath("shared");
    const subnet = path.replace("loadBalancers/shared", "virtualNetworks/vnet/subnets/subnet");
    const virtualNetwork = { id: subnet.slice(0, subnet.indexOf("/subnets/")) };
    await this.putArm(path, {
      location: "westus2",
      sku: { name: "Standard" },
      tags: { team: "them" },
      properties: {
        frontendIPConfigurations: [{ name: "theirs", properties: { subnet: { id: subnet } } }],
        backendAddressPools: [{ name: "mixed", properties: { virtualNetwork, loadBalancerBackendAddresses: theirs } }],
      },
    });
  }

  /** The entries of the load balancer's pools, of all or of one. */
  async entries(loadBalancer: string, pool?: string): Promise<readonly PoolEntry[]> {
    const body = await this.arm(this.loadBalancerPath(loadBalancer));
    const pools = (body?.properties["backendAddressPools"] ?? []) as {
      name: string;
      properties: { loadBalancerBackendAddresses?: PoolEntry[] };
    }[];
    const chosen = pools.filter(({ name }) => pool === undefined || name === pool);
    return chosen.flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? []);
  }

  async addresses(loadBalancer: string): Promise<readonly string[]> {
    return (await this.entries(loadBalancer)).map(({ properties }) => properties.ipAddress ?? "").sort();
  }

  /** How many writes of load balancers and pools Azure has seen. */
  async azureWrites(): Promise<number> {
    const { requests } = (await (await fetch(`${this.azure.controlUrl}/counters`)).json()) as {
      requests: Record<string, Record<string, number>>;
    };
    return Object.entries(requests)
      .filter(([type]) => /loadBalancers/i.test(type))
      .reduce((sum, [, verbs]) => sum + (verbs["PUT"] ?? 0) + (verbs["DELETE"] ?? 0), 0);
  }

  /** Names of pool entries that any write has taken out so far. */
  async removedEntries(): Promise<ReadonlySet<string>> {
    return new Set((await this.removals()).map(({ name }) => name));
  }

  /** The pool entries that any write has taken out so far, and when. */
  async removals(): Promise<readonly Removal[]> {
    const reply = await fetch(`${this.azure.controlUrl}/audit`);
    const { entries } = (await reply.json()) as { entries: readonly AuditedWrite[] };
    return entries.flatMap(({ time, diff = [] }) =>
      diff
        .flatMap(({ changes }) => changes)
        .filter(({ after }) => after === undefined)
        .flatMap(({ path, before }) => {
          const name = /\.loadBalancerBackendAddresses\[([^\]]+)\]$/.exec(path)?.[1];
          const address = before?.properties?.ipAddress ?? "";
          return name === undefined ? [] : [{ name, address, atMs: Date.parse(time) }];
        }),
    );
  }

  async #arm(method: string, path: string, body?: object): Promise<Response> {
    this.#token ??= await this.#signIn();
    const { controlUrl } = this.azure;
    const endpoint = this.azure.httpEndpoint;
    assert.ok(endpoint !== null, `start Azure with plainHttp for this (${controlUrl})`);
    return fetch(`${endpoint}${path}?api-version=2025-05-01`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async #signIn(): Promise<string> {
    const { env } = this.azure;
    const url = `${env["IDENTITY_ENDPOINT"]}?resource=https://management.azure.com/`;
    const reply = await fetch(url, { headers: { "x-identity-header": env["IDENTITY_HEADER"] ?? "" } });
    return ((await reply.json()) as { access_token: string }).access_token;
  }

  async #post(path: string, body: object): Promise<KubeObject> {
    const reply = await this.cluster.request("POST", path, { body });
    assert.equal(reply.code, 201, reply.text);
    return reply.body;
  }
}

export interface Removal {
  readonly name: string;
  readonly address: string;
  readonly atMs: number;
}

interface AuditedWrite {
  readonly time: string;
  readonly diff?: readonly {
    readonly changes: readonly {
      readonly path: string;
      readonly before?: { readonly properties?: { readonly ipAddress?: string } };
      readonly after?: unknown;
    }[];
  }[];
}

export interface PodOptions {
  readonly ip: string;
  readonly node?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly gated?: boolean;
}

export interface ArmResource {
  readonly id: string;
  readonly etag?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface LbcfObject extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly backendAddr?: string;
    readonly backends?: number;
    readonly registeredBackends?: number;
    readonly lbInfo?: Readonly<Record<string, string>>;
    readonly injectedInfo?: Readonly<Record<string, string>>;
    readonly conditions?: readonly ConditionOf[];
  };
}

export interface ConditionOf {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export function condition(object: LbcfObject, type: string): ConditionOf | undefined {
  return object.status?.conditions?.find((each) => each.type === type);
}
