/**
 * The whole product for one test: an emulated Azure, a cluster (embedded or real) with its machines as nodes, and the
 * controller between them. Tests act as users and other tools do, through the Kubernetes API and the official SDK, and
 * assert what is then in Azure and on the Services.
 */
import assert from "node:assert/strict";

import { startAzure, type AzureOptions } from "../../sandbox/azure/index.ts";
import { projectService, type CachedService } from "../../src/controller/projections.ts";
import { SILENT_LOG, type Log } from "../../src/core/util/log.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { EVENTS, SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { withClusterView } from "../../src/main/cluster-view.ts";
import { startController, type ControllerProcessOptions, type RunningController } from "../../src/main/controller.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { makePlan, type Plan } from "../../src/main/make-plan.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { armHttp, type ArmHttp } from "../contract/azure/arm-http.ts";
import { clientsOf, type AzureUnderTest } from "../contract/azure/azure-under-test.ts";
import type { Cluster, ClusterOpener } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import { assertSettled } from "./settled-plan.ts";

export const WITHIN_MS = 60_000;
/** Of tests that each open a rig of their own: it waits more than it computes. */
export const CLUSTERS_AT_ONCE = 2;
const PREFIX = "service.beta.kubernetes.io/";
const API_VERSION = "api-version=2026-01-01";

export interface RigOptions {
  readonly azure?: AzureOptions;
  readonly controller?: Partial<ControllerProcessOptions>;
  /** Changes of the cloud config. */
  readonly cloudConfig?: Readonly<Record<string, unknown>>;
  /** Gives each node an IPv6 address too, though its machine has none: with a dual-stack topology it has anyway. */
  readonly ipv6?: boolean;
  /** What must be there before the controller starts. */
  readonly prepare?: (rig: ServiceRig) => Promise<void>;
}

type OptionChange = Partial<ControllerProcessOptions>;

export interface Manifest {
  /** In namespace `default`, or `namespace/name`; so in all methods of the rig. */
  readonly name: string;
  /** Keys without `service.beta.kubernetes.io/`, unless they have a prefix of their own. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** kube-apiserver checks its allocations of addresses and ports, and tells of those that it comes across half made. */
const REPAIRS = /allocator-repair-controller$/;

interface TestEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

export class ServiceRig {
  readonly azure: AzureUnderTest;
  readonly cluster: Cluster;
  readonly kube: KubeClient;
  readonly arm: ArmHttp;
  readonly #options: RigOptions;
  readonly #closeKube: () => Promise<void>;
  #cloudConfig: Readonly<Record<string, unknown>>;
  #controller: RunningController | undefined;

  private constructor(parts: {
    azure: AzureUnderTest;
    cluster: Cluster;
    kube: KubeClient;
    arm: ArmHttp;
    options: RigOptions;
    closeKube: () => Promise<void>;
  }) {
    this.azure = parts.azure;
    this.cluster = parts.cluster;
    this.kube = parts.kube;
    this.arm = parts.arm;
    this.#options = parts.options;
    this.#cloudConfig = parts.options.cloudConfig ?? {};
    this.#closeKube = parts.closeKube;
  }

  static async open(open: ClusterOpener, options: RigOptions = {}): Promise<ServiceRig> {
    const [running, cluster] = await Promise.all([startAzure({ topology: { nodes: 3 }, ...options.azure }), open()]);
    const azure = clientsOf(running);
    const { client, close } = openKubeClient({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
    const nodes = azure.nodes.map(({ name, ip, ipv6, providerId }, at) => ({
      name,
      internalIPs: [
        ip,
        ...(ipv6 === undefined && options.ipv6 !== true ? [] : [ipv6 ?? `fd00::${(0x64 + at).toString(16)}`]),
      ],
      providerID: providerId,
    }));
    await ensureNodes(client, nodes);
    const rig = new ServiceRig({
      azure,
      cluster,
      kube: client,
      arm: await armHttp(azure),
      options,
      closeKube: close,
    });
    await options.prepare?.(rig);
    await rig.start();
    return rig;
  }

  /** `change`: other options than at the first start. */
  async start(log: Log = SILENT_LOG, change: OptionChange = {}): Promise<RunningController> {
    this.#controller = await startController({ leaderElect: false, ...this.#processOptions(), ...change, log });
    return this.#controller;
  }

  /** Where the running controller is scraped. */
  get metricsUrl(): string {
    return this.#controller?.metricsUrl ?? "";
  }

  /** All that the running controller counts, in Prometheus' form. */
  async metrics(): Promise<string> {
    return (await fetch(this.metricsUrl)).text();
  }

  /** Of the running controller's API, where the options ask for one. */
  get apiUrl(): string {
    return this.#controller?.apiUrl ?? "";
  }

  /** In good order, as a rollout does. */
  async stop(): Promise<void> {
    await this.#controller?.close();
    this.#controller = undefined;
  }

  /** Stops the controller, and starts it with these keys of the cloud config, and these options, changed. */
  async restart(cloudConfig: Readonly<Record<string, unknown>>, change: OptionChange = {}): Promise<void> {
    await this.stop();
    this.reconfigure(cloudConfig);
    await this.start(SILENT_LOG, change);
  }

  /** For the next start, and for plans from now on. */
  reconfigure(cloudConfig: Readonly<Record<string, unknown>>): void {
    this.#cloudConfig = { ...this.#cloudConfig, ...cloudConfig };
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#closeKube();
    await this.cluster.close();
    await this.azure.close();
  }

  async createNamespace(name: string): Promise<void> {
    const { code, text } = await this.cluster.request("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
    assert.ok([201, 409].includes(code), text);
  }

  /** Creates the Service, or gives the one that is there these annotations and this spec. */
  async apply({ name, annotations = {}, spec = {} }: Manifest): Promise<CachedService> {
    const place = placeOf(name);
    const metadata = { ...place, annotations: prefixed(annotations) };
    const whole = { type: "LoadBalancer", selector: { app: place.name }, ports: [{ port: 80 }], ...spec };
    try {
      return projectService(await this.kube.create(SERVICES, { metadata, spec: whole }));
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error;
    }
    return projectService(
      await this.kube.patch(SERVICES, place, { merge: { metadata: { annotations: metadata.annotations }, spec } }),
    );
  }

  /** A merge patch; `null` removes. */
  async patch(name: string, patch: object): Promise<void> {
    await this.kube.patch(SERVICES, placeOf(name), { merge: patch });
  }

  async annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.patch(name, { metadata: { annotations: prefixed(annotations) } });
  }

  async service(name: string): Promise<CachedService> {
    return projectService(await this.kube.get<KubeObject>(SERVICES, placeOf(name)));
  }

  /** Waits until its status has an address. */
  async publishedWithin(name: string, withinMs: number): Promise<void> {
    await this.#toldWithWarnings(name, withinMs, async () => {
      const { ingress = [] } = (await this.service(name)).status.loadBalancer;
      assert.notEqual(ingress.length, 0, `${name} has no address`);
    });
  }

  /** Its addresses, once it has them and everything that it asks for is applied. */
  async served(name: string): Promise<string[]> {
    let ips: string[] = [];
    await this.#toldWithWarnings(name, WITHIN_MS, async () => {
      const service = await this.service(name);
      ips = (service.status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []);
      assert.notEqual(ips.length, 0, `${name} has no address`);
      assertSettled(await this.plan(name), `${name} is not settled`);
    });
    return ips;
  }

  async delete(name: string): Promise<void> {
    await this.kube.delete(SERVICES, placeOf(name));
    await this.#toldWithWarnings(name, WITHIN_MS, async () => {
      const found = await this.service(name).catch((error: unknown) => {
        if (isFailure(error, "notFound")) return undefined;
        throw error;
      });
      assert.ok(found === undefined, `${name} is still there`);
    });
  }

  /** On a load balancer that others use too, a Service that goes leaves the cluster's pool: so that it is there before. */
  async leavePool(): Promise<void> {
    await this.apply({ name: "pioneer" });
    await this.served("pioneer");
    await this.delete("pioneer");
  }

  /** What the controller would still do, for one Service or for all. */
  plan(name?: string, change: OptionChange = {}): Promise<Plan> {
    return withClusterView({ ...this.#processOptions(), ...change, log: SILENT_LOG }, (view) =>
      makePlan(view, name === undefined ? undefined : keyOf(placeOf(name))),
    );
  }

  /** What the commands that only read connect with. */
  get viewOptions(): Omit<ControllerProcessOptions, "log" | "leaderElect" | "lease" | "health"> {
    return this.#processOptions();
  }

  /** Events on a Service, newest last. */
  async events(name: string): Promise<{ type: string; reason: string; message: string }[]> {
    const place = placeOf(name);
    const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${place.name}`;
    const { items } = await this.kube.list<TestEvent>(EVENTS, { namespace: place.namespace, fieldSelector });
    return items
      .filter(({ source, reportingComponent }) => !REPAIRS.test(source?.component || reportingComponent || ""))
      .map(({ type, reason, message }) => ({ type, reason, message }));
  }

  /** Why the Service cannot be served, once that is so. */
  async refused(name: string): Promise<string> {
    let message = "";
    await eventually(async () => {
      const { rejected } = await this.plan(name);
      assert.equal(rejected.length, 1, `${name} is not refused`);
      message = rejected[0]?.message ?? "";
    }, WITHIN_MS);
    return message;
  }

  /** The first Warning with that reason, once it is there. */
  async warned(name: string, reason: string): Promise<string> {
    let message = "";
    await eventually(async () => {
      const events = await this.events(name);
      const found = events.find((event) => event.type === "Warning" && event.reason === reason);
      assert.ok(found !== undefined, `no Warning ${reason} on ${name}, but ${JSON.stringify(events)}`);
      message = found.message;
    }, WITHIN_MS);
    return message;
  }

  /** Bodies of the network resources of a kind as they are on the wire. */
  async list(
    kind: "loadBalancers" | "publicIPAddresses" | "networkSecurityGroups" | "networkInterfaces" | "privateLinkServices",
  ): Promise<WireBody[]> {
    const { body } = await this.arm.send("GET", `${this.networkPath(kind)}?${API_VERSION}`);
    return (body as { value: WireBody[] }).value;
  }

  networkPath(rest: string): string {
    const { subscriptionId, resourceGroup } = this.azure;
    return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/${rest}`;
  }

  /** Another tool's write, without any condition. */
  async put(rest: string, body: unknown): Promise<void> {
    const answer = await this.arm.send("PUT", `${this.networkPath(rest)}?${API_VERSION}`, { body });
    assert.ok(answer.status < 300, `PUT ${rest}: ${answer.status} ${answer.text}`);
  }

  /** Everything that stands in Azure, of whatever kind and wherever, but for what changes by itself. */
  async everything(): Promise<unknown> {
    const { resources } = (await this.azure.control("GET", "/state")) as { resources: StoredResource[] };
    return Object.fromEntries(resources.map(({ id, body, assigned }) => [id, lasting({ body, assigned })]));
  }

  /** Eventually; what does not come true is told with the Warnings on the Service, which are asked for only then. */
  async #toldWithWarnings(name: string, withinMs: number, assertion: () => Promise<void>): Promise<void> {
    try {
      await eventually(assertion, withinMs);
    } catch (error) {
      const warnings = (await this.events(name)).filter(({ type }) => type === "Warning");
      if (error instanceof Error) error.message += `; warnings: ${JSON.stringify(warnings)}`;
      throw error;
    }
  }

  #processOptions(): Omit<ControllerProcessOptions, "log" | "leaderElect"> & { leaderElect?: boolean } {
    return {
      kubeconfig: this.cluster.kubeconfig,
      cloudConfig: { kind: "object", value: { ...this.azure.cloudConfig, ...this.#cloudConfig } },
      clusterName: "kubernetes",
      env: {},
      ...this.#options.controller,
    };
  }
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function placeOf(text: string): Place {
  const [name = "", namespace = "default"] = text.split("/").reverse();
  return { namespace, name };
}

function keyOf({ namespace, name }: Place): string {
  return `${namespace}/${name}`;
}

export type WireBody = Record<string, unknown> & { readonly id: string; readonly name: string };

export function propertiesOf(body: WireBody | undefined): Readonly<Record<string, unknown>> {
  return (body?.["properties"] ?? {}) as Readonly<Record<string, unknown>>;
}

interface StoredResource {
  readonly id: string;
  readonly body: unknown;
  readonly assigned: unknown;
}

/** Versions, states of operations, and Azure's note that a scale set was written since an instance was made. */
const PASSING = new Set(["etag", "resourceGuid", "provisioningState", "latestModelApplied"]);

function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PASSING.has(key))
      .map(([key, item]) => [key, lasting(item)]),
  );
}

function prefixed<V>(annotations: Readonly<Record<string, V>>): Record<string, V> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key.includes("/") ? key : PREFIX + key, value]),
  );
}
