/**
 * A controller under load and under faults of every kind, all in processes of their own, for as long as is asked for.
 * Then the faults end, and it must come to rest with everything right, without having grown.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { startSandboxProcess, type SandboxProcess } from "../../bench/support/sandbox-process.ts";
import { SILENT_LOG } from "../../src/core/log.ts";
import type { KubeClient } from "../../src/kube/kube-client.ts";
import { isFailure } from "../../src/kube/kube-failure.ts";
import { NODES, SERVICES } from "../../src/kube/resources.ts";
import { withClusterView } from "../../src/main/cluster-view.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { makePlan } from "../../src/main/make-plan.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { FaultControl } from "../support/fault-control.ts";
import { Troubles } from "./troubles.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly services: number;
  readonly random: () => number;
  readonly onProgress?: (line: string) => void;
}

export interface SoakReport {
  readonly minutes: number;
  readonly actions: number;
  /** Requests that a fault hit. */
  readonly hit: { readonly azure: number; readonly kubernetes: number };
  /** Of the requests to Azure that were neither polls nor sign-ins. */
  readonly azureHitPercent: number;
  readonly rssMiB: { readonly afterWarmUp: number; readonly atEnd: number };
  /** The longest wait for an answer of its health endpoint. */
  readonly eventLoopLagMs: number;
  readonly convergedAfterMs: number;
  readonly problems: readonly string[];
}

const SECOND_MS = 1_000;
const CONVERGES_WITHIN_MS = 180_000;
/** Everything is warm after this share of the time. */
const WARM_SHARE = 0.5;
const MOST_GROWTH_MIB = 64;
const INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal";

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const sandbox = await startSandboxProcess(["--without-controller", "--nodes", "5"]);
  const { line } = sandbox;
  const files = { kubeconfig: line.kubeconfig ?? "", cloudConfig: line.cloudConfig ?? "" };
  const { client, close } = openKubeClient({ kubeconfig: files.kubeconfig, userAgent: "soak" });
  const controller = await ControllerProcess.start(files, ["--drift-policy=enforce", "--drift-check-period=10s"]);
  try {
    await controller.ready();
    return await run(options, { sandbox, client, controller });
  } finally {
    await controller.kill();
    await close();
    await sandbox.close();
  }
}

interface Parts {
  readonly sandbox: SandboxProcess;
  readonly client: KubeClient;
  readonly controller: ControllerProcess;
}

async function run({ minutes, services, random, onProgress }: SoakOptions, parts: Parts): Promise<SoakReport> {
  const { sandbox, client, controller } = parts;
  const azure = new FaultControl(sandbox.line.azureControlUrl ?? "");
  const troubles = new Troubles(azure, new FaultControl(sandbox.line.kubeControlUrl ?? ""), random);
  const untilMs = performance.now() + minutes * 60 * SECOND_MS;
  const warmMs = performance.now() + minutes * 60 * SECOND_MS * WARM_SHARE;
  let [actions, warmMiB, lagMs] = [0, 0, 0];
  while (performance.now() < untilMs && !controller.ended) {
    await troubles.stir();
    for (let action = 0; action < 5; action++, actions++) await act(client, services, random);
    await delay(SECOND_MS);
    lagMs = Math.max(lagMs, await lagOf(controller));
    if (performance.now() < warmMs) warmMiB = Math.max(warmMiB, rssMiB(controller.pid));
    onProgress?.(`${actions} actions, ${JSON.stringify(troubles.hit)} hit, ${rssMiB(controller.pid)} MiB`);
  }
  await troubles.calm();
  const calmMs = performance.now();
  const left = await converged(sandbox);
  const convergedAfterMs = Math.round(performance.now() - calmMs);
  const endMiB = controller.ended ? 0 : rssMiB(controller.pid);
  const problems = [
    ...(controller.ended ? [`the controller ended: ${controller.output}`] : []),
    ...(left === undefined
      ? []
      : [`not converged ${CONVERGES_WITHIN_MS / SECOND_MS} s after the faults ended: ${left}`]),
    ...(endMiB > warmMiB + MOST_GROWTH_MIB ? [`memory grew from ${warmMiB} to ${endMiB} MiB`] : []),
  ];
  const { hit } = troubles;
  const azureHitPercent = Math.round((100 * hit.azure) / Math.max(1, await requestsOf(azure)));
  const rss = { afterWarmUp: warmMiB, atEnd: endMiB };
  return { minutes, actions, hit, azureHitPercent, rssMiB: rss, eventLoopLagMs: lagMs, convergedAfterMs, problems };
}

/** What a user or an operator does next; one that is refused or hit by a fault is simply lost. */
async function act(client: KubeClient, services: number, random: () => number): Promise<void> {
  const name = `soak-${Math.floor(random() * services)}`;
  const place = { namespace: "default", name };
  const draw = random();
  try {
    if (draw < 0.5) await client.create(SERVICES, manifest(name, random));
    else if (draw < 0.65) await client.patch(SERVICES, place, { merge: { metadata: { annotations: flip(random) } } });
    else if (draw < 0.75) await client.patch(SERVICES, place, { merge: { spec: { ports: [portOf(random)] } } });
    else if (draw < 0.9) await client.delete(SERVICES, place);
    else if (draw < 0.95) await client.create(NODES, { metadata: { name: "visitor" }, status: VISITOR });
    else await client.delete(NODES, { name: "visitor" });
  } catch (error) {
    if (isFailure(error, "invalid", "unsupported") || !isFailure(error)) throw error;
  }
}

const VISITOR = { addresses: [{ type: "InternalIP", address: "10.240.8.8" }] };

function manifest(name: string, random: () => number) {
  const spec = { type: "LoadBalancer", selector: { app: name }, ports: [portOf(random)] };
  return { metadata: { name, namespace: "default", annotations: flip(random) }, spec };
}

function portOf(random: () => number): { port: number } {
  return { port: 80 + Math.floor(random() * 3) };
}

function flip(random: () => number): Record<string, string> {
  return { [INTERNAL]: random() < 0.5 ? "true" : "false" };
}

/** What is still to do when patience ends; `undefined` once nothing is. */
async function converged({ line }: SandboxProcess): Promise<string | undefined> {
  const deadlineMs = performance.now() + CONVERGES_WITHIN_MS;
  for (;;) {
    const plan = await withClusterView(
      {
        kubeconfig: line.kubeconfig ?? "",
        cloudConfig: { kind: "file", path: line.cloudConfig ?? "" },
        clusterName: "kubernetes",
        env: {},
        log: SILENT_LOG,
      },
      (view) => makePlan(view, undefined),
    );
    if (plan.steps.length === 0 && plan.rejected.length === 0) return undefined;
    if (performance.now() > deadlineMs) return JSON.stringify(plan);
    await delay(SECOND_MS);
  }
}

async function requestsOf(azure: FaultControl): Promise<number> {
  const { requests } = (await azure.send("GET", "/counters")) as { requests: Record<string, Record<string, number>> };
  return Object.values(requests)
    .flatMap((verbs) => Object.values(verbs))
    .reduce((sum, count) => sum + count, 0);
}

function rssMiB(pid: number): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 1024);
}

/** How late its health endpoint answers: what waits for the event loop waits as long. */
async function lagOf(controller: ControllerProcess): Promise<number> {
  const askedMs = performance.now();
  await fetch(`${controller.metricsUrl}/healthz`).catch(() => undefined);
  return Math.round(performance.now() - askedMs);
}
