/**
 * Where a controller is killed: an emulated Azure (with things that belong to others in it) and an embedded Kubernetes
 * in this process, on a directory that can be copied, so that many runs begin from the very same state; and the
 * controller as a process of its own.
 *
 * What users do goes straight to the model of the embedded API, so that every write that arrives over the network is
 * the controller's and can be counted.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startAzure, type RunningAzure, type Topology } from "../../sandbox/azure/index.ts";
import { startKubernetes, type ClusterNode, type RunningKubernetes } from "../../sandbox/kubernetes/index.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { withClusterView } from "../../src/main/cluster-view.ts";
import { readDefinitions } from "../../src/main/lbcf-definitions.ts";
import { makePlan, type Plan } from "../../src/main/make-plan.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { FaultControl } from "../support/fault-control.ts";

export interface KubeObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface AzureResource {
  readonly id: string;
  readonly state: string;
  readonly body: unknown;
  readonly assigned?: unknown;
}

/** What kind of cluster it is. */
export interface ClusterShape {
  /** Default: three nodes of a uniform scale set, pools of addresses, Standard. */
  readonly topology?: Partial<Topology>;
  readonly dualStack?: boolean;
  /** With LBCF's definitions. */
  readonly backends?: boolean;
  /** Keys that are added to the cloud config. */
  readonly cloudConfig?: Readonly<Record<string, unknown>>;
}

export const DEFINITIONS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FIRST_IPV6_HOST = 0x64;

export class CrashBed {
  readonly azure: RunningAzure;
  readonly kubernetes: RunningKubernetes;
  readonly azureFaults: FaultControl;
  readonly kubeFaults: FaultControl;

  private constructor(azure: RunningAzure, kubernetes: RunningKubernetes) {
    this.azure = azure;
    this.kubernetes = kubernetes;
    this.azureFaults = new FaultControl(azure.controlUrl);
    this.kubeFaults = new FaultControl(kubernetes.controlUrl);
  }

  /** A new cluster, kept in the directory. */
  static async make(directory: string, shape: ClusterShape = {}): Promise<CrashBed> {
    const sixth = (at: number): string[] =>
      shape.dualStack === true ? [`fd00::${(FIRST_IPV6_HOST + at).toString(16)}`] : [];
    const bed = await CrashBed.#open(directory, shape, (azure) =>
      azure.nodes.map(({ name, ip, providerId }, at) => ({
        name,
        internalIPs: [ip, ...sixth(at)],
        providerID: providerId,
      })),
    );
    for (const definition of shape.backends === true ? readDefinitions() : [])
      bed.user("POST", DEFINITIONS_PATH, definition);
    return bed;
  }

  /** The cluster of that directory as it was left. */
  static reopen(directory: string, shape: ClusterShape = {}): Promise<CrashBed> {
    return CrashBed.#open(directory, shape, () => []);
  }

  static async #open(
    directory: string,
    { topology, dualStack = false, cloudConfig = {} }: ClusterShape,
    nodesOf: (azure: RunningAzure) => ClusterNode[],
  ): Promise<CrashBed> {
    const azure = await startAzure({
      dataDir: join(directory, "azure"),
      topology: { nodes: 3, foreign: true, ...topology },
    });
    const kubernetes = await startKubernetes({
      dataDir: join(directory, "kubernetes"),
      dualStack,
      simulate: true,
      nodes: nodesOf(azure),
    });
    const bed = new CrashBed(azure, kubernetes);
    bed.configure(cloudConfig);
    return bed;
  }

  /** Changes the cloud config, until the bed is opened again, which writes the file anew. */
  configure(change: Readonly<Record<string, unknown>>): void {
    writeFileSync(this.azure.cloudConfigFile, JSON.stringify({ ...this.cloudConfig(), ...change }));
  }

  cloudConfig(): Readonly<Record<string, unknown>> {
    return JSON.parse(readFileSync(this.azure.cloudConfigFile, "utf8")) as Record<string, unknown>;
  }

  startController(flags: readonly string[] = []): Promise<ControllerProcess> {
    const files = { kubeconfig: this.kubernetes.kubeconfig, cloudConfig: this.azure.cloudConfigFile };
    return ControllerProcess.start(files, flags);
  }

  /** What a user does. */
  user(method: string, path: string, body?: unknown): unknown {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const reply = this.kubernetes.api.request({ method, path, query: {}, accept: "", contentType, body });
    if (reply.kind !== "answer" || reply.status >= 300) {
      throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    }
    return reply.body;
  }

  objects(path: string): readonly KubeObject[] {
    return (this.user("GET", path) as { items: readonly KubeObject[] }).items;
  }

  /** What a person PUTs in Azure. */
  async plant(path: string, body: unknown): Promise<void> {
    const { subscriptionId, resourceGroup } = this.azure;
    const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers`;
    await this.azureFaults.send("POST", "/seed", { resources: [{ path: `${group}/${path}`, body }] });
  }

  async resources(): Promise<readonly AzureResource[]> {
    const { resources } = (await this.azureFaults.send("GET", "/state")) as { resources: readonly AzureResource[] };
    return resources;
  }

  /** What a controller would still do. */
  plan(): Promise<Plan> {
    return withClusterView(
      {
        kubeconfig: this.kubernetes.kubeconfig,
        cloudConfig: { kind: "file", path: this.azure.cloudConfigFile },
        clusterName: "kubernetes",
        env: {},
        log: SILENT_LOG,
      },
      (view) => makePlan(view, undefined),
    );
  }

  async close(): Promise<void> {
    await this.kubernetes.close();
    await this.azure.close();
  }
}
