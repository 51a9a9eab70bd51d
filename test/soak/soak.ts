/**
 * A controller under load and under faults of every kind, all in processes of their own, for as long as is asked for.
 * Then the faults end, and it must come to rest with everything right; and when all is taken away, Azure must be as it
 * was at the beginning.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

import { startSandboxProcess } from "../../bench/support/sandbox-process.ts";
import { NODES } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { FaultControl } from "../support/fault-control.ts";
import { assertConverged, everythingIn, whatIsWrong, type Cluster, type Standing } from "./converged.ts";
import { Load } from "./load.ts";
import { SoakFaults } from "./faults.ts";
import { HealthSamples, type HealthReport } from "./health-samples.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly services: number;
  readonly random: () => number;
  readonly onProgress?: (line: string) => void;
}

export interface SoakReport extends HealthReport {
  readonly minutes: number;
  readonly actions: number;
  /** Requests, and how many of them a fault hit. */
  readonly azure: Hit;
  readonly kubernetes: Hit;
  /** What there was when everything was right again. */
  readonly standing: Standing | undefined;
  readonly convergedAfterMs: number;
  readonly emptiedAfterMs: number;
  /** What may never be, on whatever machine. */
  readonly problems: readonly string[];
}

interface Hit {
  readonly requests: number;
  readonly hit: number;
  readonly hitPercent: number;
}

const SECOND_MS = 1_000;
const CONVERGES_WITHIN_MS = 180_000;
const ACTIONS_AT_ONCE = 5;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const sandbox = await startSandboxProcess(["--without-controller", "--nodes", "5"]);
  const files = { kubeconfig: sandbox.line.kubeconfig ?? "", cloudConfig: sandbox.line.cloudConfig ?? "" };
  const { client, close } = openKubeClient({ kubeconfig: files.kubeconfig, userAgent: "soak" });
  const azure = new FaultControl(sandbox.line.azureControlUrl ?? "");
  const kubernetes = new FaultControl(sandbox.line.kubeControlUrl ?? "");
  const before = await everythingIn(azure);
  const controller = await ControllerProcess.start(files, ["--drift-policy=enforce", "--drift-check-period=10s"]);
  try {
    await controller.ready();
    const cluster: Cluster = { ...files, client, azure };
    const faults = new SoakFaults(azure, kubernetes, options.random);
    return await run(options, { cluster, controller, faults, before });
  } finally {
    await controller.kill();
    await close();
    await sandbox.close();
  }
}

interface Parts {
  readonly cluster: Cluster;
  readonly controller: ControllerProcess;
  readonly faults: SoakFaults;
  readonly before: Readonly<Record<string, unknown>>;
}

async function run(options: SoakOptions, { cluster, controller, faults, before }: Parts): Promise<SoakReport> {
  const { client, azure } = cluster;
  const nodes = (await client.list(NODES, {})).items.map(({ metadata }) => metadata.name);
  const load = new Load({ client, nodes, ...options });
  const samples = new HealthSamples(controller);
  await load.begin();
  const actions = await stress(options, { controller, faults, load, samples });
  let standing: Standing | undefined;
  const converge = async (): Promise<void> => void (standing = await assertConverged(cluster));
  const converged = await timed(() => whatIsWrong(converge, CONVERGES_WITHIN_MS));
  await load.end();
  const empty = async (): Promise<void> => assert.deepEqual(await everythingIn(azure), before);
  const emptied = await timed(() => whatIsWrong(empty, CONVERGES_WITHIN_MS));
  const problems = [
    ...(controller.ended ? [`the controller ended: ${controller.output}`] : []),
    ...(converged.value === undefined ? [] : [`not converged after the faults ended: ${converged.value}`]),
    ...(emptied.value === undefined ? [] : [`something is left when everything was deleted: ${emptied.value}`]),
  ];
  return {
    minutes: options.minutes,
    actions,
    azure: hitOf(faults.azure),
    kubernetes: hitOf(faults.kubernetes),
    ...samples.report(),
    standing,
    convergedAfterMs: converged.afterMs,
    emptiedAfterMs: emptied.afterMs,
    problems,
  };
}

interface Stress {
  readonly controller: ControllerProcess;
  readonly faults: SoakFaults;
  readonly load: Load;
  readonly samples: HealthSamples;
}

/** Answers how many actions there were; the faults have ended then. */
async function stress({ minutes, onProgress }: SoakOptions, { controller, faults, load, samples }: Stress) {
  const untilMs = performance.now() + minutes * 60 * SECOND_MS;
  let actions = 0;
  while (performance.now() < untilMs && !controller.ended) {
    await faults.arm();
    for (let action = 0; action < ACTIONS_AT_ONCE; action++, actions++) await load.act();
    await delay(SECOND_MS);
    if (!controller.ended) await samples.sample();
    const { azure, kubernetes } = faults;
    onProgress?.(`${actions} actions, ${azure.hitPercent} and ${kubernetes.hitPercent} % of requests hit`);
  }
  await faults.clear();
  return actions;
}

function hitOf({ requests, hit, hitPercent }: Hit): Hit {
  return { requests, hit, hitPercent };
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly afterMs: number }> {
  const startMs = performance.now();
  const value = await work();
  return { value, afterMs: Math.round(performance.now() - startMs) };
}
