/**
 * A served cluster whose machines are evicted one after the other, with the controller and the agent as processes that a test kills.
 * Faults of the two emulators hold a process where the test wants it. An announced machine goes when the test says so.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { nodesSetDown } from "../../../bench/drain/drain-samples.ts";
import { AzureControl } from "../../../bench/support/azure-control.ts";
import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { COMPILE_CACHE } from "../../support/azlb-process.ts";
import { ControllerProcess } from "../../support/controller-process.ts";
import { clusterOf } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { startServer, type ServerProcess } from "../../support/server-process.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig } from "../../suites/admin-state/admin-state-rig.ts";

const AZLB = fileURLToPath(new URL("../../../bin/azlb", import.meta.url));
/** The external and the internal one. */
const POOLS = 2;

export type Part = "agent" | "controller";

export interface Hold {
  readonly at: "azure" | "kubernetes";
  readonly fault: Readonly<Record<string, unknown>>;
}

export interface Announced {
  readonly node: string;
  readonly eventId: string;
  readonly dueMs: number;
}

export class EvictionRig {
  readonly cluster: AdminStateRig;
  readonly controller: () => ControllerProcess;
  readonly #kubernetes: RunningKubernetes;
  readonly #azure: AzureControl;
  #controller: ControllerProcess;
  #agent: { readonly process: ServerProcess; readonly node: string; readonly writesTaints: boolean } | undefined;
  #isPaused = false;

  private constructor(cluster: AdminStateRig, kubernetes: RunningKubernetes, controller: ControllerProcess) {
    this.cluster = cluster;
    this.#kubernetes = kubernetes;
    this.#azure = new AzureControl(cluster.services.azure.controlUrl);
    this.#controller = controller;
    this.controller = () => this.#controller;
  }

  static async open(nodes: number): Promise<EvictionRig> {
    const kubernetes = await startKubernetes({ controllers: false, dualStack: false });
    const open = async () => clusterOf(kubernetes);
    const cluster = await AdminStateRig.open(open, { azure: { topology: { nodes } } });
    await cluster.serve();
    await cluster.services.stop();
    const rig = new EvictionRig(cluster, kubernetes, await startController(cluster));
    await rig.#controller.ready();
    return rig;
  }

  async close(): Promise<void> {
    await this.release();
    await this.#agent?.process.stop();
    await this.#controller.kill();
    await this.cluster.close();
  }

  startAgent(node: string, writesTaints: boolean): void {
    const { azure, cluster } = this.cluster.services;
    const environment = Object.entries(COMPILE_CACHE).map(([name, value]) => `${name}=${value}`);
    const process = startServer("env", [
      ...environment,
      AZLB,
      "agent",
      `--node-name=${node}`,
      `--kubeconfig=${cluster.kubeconfig}`,
      `--metadata-url=${azure.metadataUrl}/machines/${node}`,
      "--poll-interval=200ms",
      `--write-taints=${writesTaints}`,
    ]);
    this.#agent = { process, node, writesTaints };
  }

  get agentOutput(): string {
    return this.#agent?.process.output() ?? "";
  }

  /** As `kill -9` does. */
  async kill(part: Part): Promise<void> {
    if (part === "controller") return this.#controller.kill();
    const { process: agent } = this.#agent ?? assert.fail();
    if (!agent.ended()) process.kill(agent.pid, "SIGKILL");
    await agent.stop();
  }

  async startAgain(part: Part): Promise<void> {
    if (part === "agent") {
      const { node, writesTaints } = this.#agent ?? assert.fail();
      return this.startAgent(node, writesTaints);
    }
    this.#controller = await startController(this.cluster);
    await this.#controller.ready();
  }

  /** Until `release`; the controller gets no news meanwhile. */
  pauseController(): void {
    this.#controller.signal("SIGSTOP");
    this.#isPaused = true;
  }

  async hold({ at, fault }: Hold): Promise<void> {
    await control("POST", this.#faults(at), fault);
  }

  /** How many requests are, or were, held. */
  async held(at: Hold["at"]): Promise<number> {
    const { faults } = (await control("GET", this.#faults(at))) as { faults: readonly { readonly hits: number }[] };
    return faults.reduce((sum, { hits }) => sum + hits, 0);
  }

  /** Processes that are alive go on. */
  async release(): Promise<void> {
    for (const at of ["azure", "kubernetes"] as const) await control("DELETE", this.#faults(at));
    if (this.#isPaused && !this.#controller.ended) this.#controller.signal("SIGCONT");
    this.#isPaused = false;
  }

  /** The machine goes when `go` is called, and not before. */
  async announce(node: string, noticeSeconds: number): Promise<Announced> {
    const wanted = { type: "Preempt", machines: [node], noticeSeconds, lateSeconds: 3_600 };
    const reply = await this.cluster.services.azure.control("POST", "/scheduled-events", wanted);
    const { EventId: eventId, NotBefore } = reply as { EventId: string; NotBefore: string };
    return { node, eventId, dueMs: Date.parse(NotBefore) };
  }

  /** When it went, which is after it was due if `isLate`. What ran on it goes with it. */
  async go({ node, eventId, dueMs }: Announced, isLate: boolean): Promise<number> {
    if (isLate) await eventually(() => assert.ok(Date.now() > dueMs, "not due yet"), WITHIN_MS);
    const goneMs = Date.now();
    const url = `${this.cluster.services.azure.metadataUrl}/machines/${node}/metadata/scheduledevents`;
    const body = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
    const headers = { metadata: "true" };
    const { ok, status } = await fetch(`${url}?api-version=2020-07-01`, { method: "POST", headers, body });
    assert.ok(ok, `the machine stays: ${status}`);
    await this.kill("agent");
    return goneMs;
  }

  /** Number of the last request to Azure. */
  lastRequest(): Promise<number> {
    return this.#azure.lastSequence();
  }

  /** When Down was in effect for the node in every pool, by what Azure has logged; `undefined`: it is not. */
  async downSinceMs(node: string, afterRequest: number): Promise<number | undefined> {
    const entries = (await this.#azure.audit(afterRequest)).filter((entry) => nodesSetDown(entry).includes(node));
    const byPool = new Map(entries.map(({ path, time, operationMs }) => [path, Date.parse(time) + (operationMs ?? 0)]));
    return byPool.size < POOLS ? undefined : Math.max(...byPool.values());
  }

  #faults(at: Hold["at"]): string {
    return `${at === "azure" ? this.cluster.services.azure.controlUrl : this.#kubernetes.controlUrl}/faults`;
  }
}

function startController({ services }: AdminStateRig): Promise<ControllerProcess> {
  const { azure, cluster } = services;
  return ControllerProcess.start({ kubeconfig: cluster.kubeconfig, cloudConfig: azure.cloudConfigFile });
}

async function control(method: string, url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  assert.ok(response.ok, `${method} ${url}: ${response.status}`);
  return response.json();
}
