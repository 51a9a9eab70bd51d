/**
 * `azlb verify-azure`: the controller itself, on an embedded Kubernetes with two Nodes, works in a resource group that holds nothing else. The
 * network, the security group and all that the controller makes bear a tag of this run; what bears it is removed at the end, and nothing else.
 */
import { randomBytes } from "node:crypto";

import { startKubernetes } from "../../sandbox/kubernetes/index.ts";
import type { ArmClient } from "../azure/arm/arm-client.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { NODES, SERVICES, type KubeObject } from "../kube/client/resources.ts";
import { AzureTrace, type TracedCall } from "./azure-trace.ts";
import { openArmClient } from "./azure-access.ts";
import { startController } from "./controller.ts";
import { loadCloudConfig } from "./load-cloud-config.ts";
import { openKubeClient } from "./kube-access.ts";
import { realClock } from "./real-clock.ts";
import { VERSION } from "./version.ts";

export interface VerifyOptions {
  /** The user's cloud config: identity, subscription, cloud and location are taken from it. */
  readonly cloudConfig: Readonly<Record<string, unknown>>;
  readonly resourceGroup: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly withinMs: number;
  readonly log: Log;
  readonly say: (line: string) => void;
}

export interface Verification {
  readonly azlb: string;
  readonly results: readonly { readonly scenario: string; readonly seconds: number; readonly problem?: string }[];
  readonly calls: readonly TracedCall[];
}

/** The group is not one to try things in. */
export class NotThrowaway extends Error {
  override readonly name = "NotThrowaway";
}

const TAG = "azlb-verify";
const CLUSTER = "azlb-verify";
const POLL_MS = 250;
const IDENTITY_KEYS =
  /^(cloud|tenantId|subscriptionId|location|resourceManagerEndpoint|caFile|aad\w+|use\w+Extension|userAssignedIdentityID)$/;
/** In the order in which they can be removed. */
const TYPES = ["loadBalancers", "publicIPAddresses", "virtualNetworks", "networkSecurityGroups"];
const SPEC = { type: "LoadBalancer", selector: { app: "none" }, ports: [{ name: "http", port: 80, protocol: "TCP" }] };
const INTERNAL = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
const TAINT = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

interface Tagged {
  readonly id: string;
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
}

interface Pool {
  readonly properties: { loadBalancerBackendAddresses?: readonly { properties: { adminState?: string } }[] };
}

export async function verifyAzure(options: VerifyOptions): Promise<Verification> {
  const { resourceGroup, env, log, say } = options;
  const run = randomBytes(6).toString("hex");
  const value = {
    ...Object.fromEntries(Object.entries(options.cloudConfig).filter(([key]) => IDENTITY_KEYS.test(key))),
    resourceGroup,
    vnetResourceGroup: resourceGroup,
    securityGroupResourceGroup: resourceGroup,
    vnetName: TAG,
    subnetName: "nodes",
    securityGroupName: TAG,
    vmType: "standard",
    loadBalancerSku: "standard",
    loadBalancerBackendPoolConfigurationType: "nodeIP",
    tags: `${TAG}=${run}`,
  };
  const cloudConfig = { kind: "object", value } as const;
  const trace = new AzureTrace(realClock, resourceGroup);
  const nodes = [10, 11].map((host) => ({ name: `node-${host}`, internalIPs: [`10.250.0.${host}`] }));
  const kubernetes = await startKubernetes({ nodes, simulate: true, log: () => {} });
  const { kubeconfig } = kubernetes;
  const kube = openKubeClient({ kubeconfig, userAgent: TAG });
  const closers = [() => kubernetes.close(), kube.close];
  const results: { scenario: string; seconds: number; problem?: string }[] = [];
  try {
    const loaded = await loadCloudConfig({ source: cloudConfig, clusterName: CLUSTER, env, client: kube.client, log });
    const { config, credentials } = loaded;
    const around = trace.around.bind(trace);
    const arm = await openArmClient({ credentials, env, userAgent: `azlb/${VERSION}`, around });
    closers.push(() => arm.close());
    const group = `/subscriptions/${config.subscriptionId}/resourceGroups/${resourceGroup}`;
    const azure = new Throwaway(arm.client, `${group}/providers/Microsoft.Network`, run);
    await azure.refuseIfUsed(resourceGroup);
    try {
      await azure.prepare(config.location);
      const controller = await startController({
        kubeconfig,
        cloudConfig,
        clusterName: CLUSTER,
        env,
        log,
        aroundAzure: around,
        leaderElect: false,
      });
      try {
        for (const [scenario, act] of scenarios(kube.client, azure, options.withinMs)) {
          trace.scenario = scenario;
          const startMs = realClock.monotonicMs();
          const problem = await act().then(
            () => undefined,
            (error: unknown) => errorText(error),
          );
          const seconds = Math.round((realClock.monotonicMs() - startMs) / 100) / 10;
          results.push({ scenario, seconds, ...(problem !== undefined && { problem }) });
          say(
            `${problem === undefined ? "OK   " : "WRONG"} ${scenario} (${seconds} s)${problem ? `: ${problem}` : ""}`,
          );
        }
      } finally {
        await controller.close();
      }
    } finally {
      trace.scenario = "clean up";
      for (const line of await azure.removeOwn()) say(line);
    }
  } finally {
    for (const close of closers.toReversed()) await close();
  }
  return { azlb: VERSION, results, calls: trace.calls };
}

function scenarios(kube: KubeClient, azure: Throwaway, withinMs: number): [string, () => Promise<void>][] {
  const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    const startMs = realClock.monotonicMs();
    while (!(await look())) {
      if (realClock.monotonicMs() - startMs > withinMs) throw new Error(`${what}: not within ${withinMs / 1000} s`);
      await realClock.sleep(POLL_MS);
    }
  };
  const create = (name: string, annotations: object, spec: object = SPEC) =>
    kube.create(SERVICES, { metadata: { name, namespace: "default", annotations }, spec } as never);
  const served = (name: string) =>
    until(`${name} has an address`, async () => {
      const { status } = await kube.get<KubeObject & { status?: { loadBalancer?: { ingress?: unknown[] } } }>(
        SERVICES,
        at(name),
      );
      return (status?.loadBalancer?.ingress ?? []).length > 0;
    });
  const gone = (name: string) =>
    until(`${name} is gone`, async () =>
      kube.get(SERVICES, at(name)).then(
        () => false,
        (error: unknown) => isFailure(error, "notFound"),
      ),
    );
  const down = (count: number) =>
    until(`${count} members of the pool are Down`, async () => (await azure.membersDown(CLUSTER)) === count);
  const taint = (taints: object[]) => kube.patch(NODES, { name: "node-10" }, { merge: { spec: { taints } } });
  return [
    ["public load balancer", () => create("public", {}).then(() => served("public"))],
    [
      "security rule",
      async () => {
        const loadBalancerSourceRanges = ["10.250.9.0/24"];
        await kube.patch(SERVICES, at("public"), { merge: { spec: { loadBalancerSourceRanges } } });
        await until("the rule names the range", async () => (await azure.securityGroup()).includes("10.250.9.0/24"));
      },
    ],
    ["internal load balancer", () => create("internal", INTERNAL).then(() => served("internal"))],
    ["admin state Down", () => taint([TAINT]).then(() => down(1))],
    ["admin state None", () => taint([]).then(() => down(0))],
    [
      "deletion",
      async () => {
        for (const name of ["public", "internal"]) await kube.delete(SERVICES, at(name));
        for (const name of ["public", "internal"]) await gone(name);
        await until("no load balancer is left", async () => (await azure.list("loadBalancers")).length === 0);
      },
    ],
  ];
}

function at(name: string): { namespace: string; name: string } {
  return { namespace: "default", name };
}

/** The group's network resources. */
class Throwaway {
  readonly #arm: ArmClient;
  readonly #network: string;
  readonly #tags: Readonly<Record<string, string>>;

  constructor(arm: ArmClient, network: string, run: string) {
    this.#arm = arm;
    this.#network = network;
    this.#tags = { [TAG]: run };
  }

  list(type: string): Promise<Tagged[]> {
    return this.#arm.list<Tagged>(`${this.#network}/${type}`, { priority: "create" });
  }

  async refuseIfUsed(resourceGroup: string): Promise<void> {
    for (const type of TYPES) {
      const [first] = await this.list(type);
      if (first === undefined) continue;
      const fix = "create an empty group for this, and delete it afterwards";
      throw new NotThrowaway(`--resource-group ${resourceGroup} is in use: it has ${type} "${first.name}"; ${fix}`);
    }
  }

  async prepare(location: string): Promise<void> {
    const write = { priority: "create", ifMatch: "absent" } as const;
    const common = { location, tags: this.#tags };
    const subnets = [{ name: "nodes", properties: { addressPrefix: "10.250.0.0/24" } }];
    const space = { addressSpace: { addressPrefixes: ["10.250.0.0/16"] }, subnets };
    await this.#arm.put(`${this.#network}/networkSecurityGroups/${TAG}`, { ...common, properties: {} }, write);
    await this.#arm.put(`${this.#network}/virtualNetworks/${TAG}`, { ...common, properties: space }, write);
  }

  async securityGroup(): Promise<string> {
    return JSON.stringify(await this.#arm.get(`${this.#network}/networkSecurityGroups/${TAG}`, { priority: "create" }));
  }

  async membersDown(name: string): Promise<number> {
    const pool = await this.#arm.get<Pool>(`${this.#network}/loadBalancers/${name}/backendAddressPools/${name}`, {
      priority: "create",
    });
    const members = pool.properties.loadBalancerBackendAddresses ?? [];
    return members.filter(({ properties }) => properties.adminState === "Down").length;
  }

  /** What bears this run's tag. Returns what could not be removed, a line each. */
  async removeOwn(): Promise<string[]> {
    const left: string[] = [];
    for (const type of TYPES) {
      for (const { id, name, tags } of await this.list(type)) {
        if (tags?.[TAG] !== this.#tags[TAG]) left.push(`LEFT  ${type} "${name}": it is not of this run`);
        else
          await this.#arm
            .delete(id, { priority: "delete" })
            .catch((error: unknown) => left.push(`LEFT  ${type} "${name}": ${errorText(error)}`));
      }
    }
    return left;
  }
}
