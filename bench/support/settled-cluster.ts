/**
 * A sandbox with many served Services and no pending work: the starting point of benchmarks that count calls. The emulator
 * answers without latency.
 */
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { AzureControl, type AuditEntry } from "./azure-control.ts";
import { limitsFor } from "./limits.ts";
import {
  startControllerProcess,
  startSandboxProcess,
  type ControllerProcess,
  type SandboxProcess,
} from "./sandbox-process.ts";
import type { Command } from "./shipped-controller.ts";
import { configureFleet, configureLoadBalancers, nodesOfFirst } from "./several-load-balancers.ts";
import { AddressWatch, createServices } from "./services.ts";

export interface SettledCluster {
  readonly sandbox: SandboxProcess;
  readonly client: KubeClient;
  readonly control: AzureControl;
  controller: ControllerProcess;
  /** Runs `work`, waits until Azure receives no more requests, and returns those received since. */
  callsFor(work: () => Promise<unknown>): Promise<readonly AuditEntry[]>;
  close(): Promise<void>;
}

const WITHIN_MS = 2_400_000;
/** The cluster counts as settled after this long without a request, polls included. */
const QUIET_MS = 3_000;
const POLL_MS = 250;

export interface SettledOptions {
  /** The largest number of Services that there will be. */
  readonly most?: number;
  /** Environment of the controller. */
  readonly env?: Readonly<Record<string, string>>;
  readonly loadBalancers?: number;
  /** Each of them has all nodes. */
  readonly isFleet?: boolean;
  /** How the controller is started; absent: from the sources. */
  readonly command?: Command;
  /** Of each Service. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

export async function openSettledCluster(
  services: number,
  nodes: number,
  { most = services, env = {}, loadBalancers = 1, isFleet = false, spec = {}, command }: SettledOptions = {},
): Promise<SettledCluster> {
  const own = String(isFleet ? nodes : nodesOfFirst(nodes, loadBalancers));
  const flags = ["--without-controller", "--nodes", own, ...limitsFor(most).flags];
  const sandbox = await startSandboxProcess(flags);
  const { client, close } = openKubeClient({ kubeconfig: sandbox.line.kubeconfig ?? "", userAgent: "azlb-bench" });
  if (isFleet) configureFleet(sandbox, { loadBalancers, services });
  else await configureLoadBalancers(sandbox, client, { loadBalancers, nodes });
  const control = new AzureControl(sandbox.line.azureControlUrl ?? "");
  const watch = new AddressWatch(client);
  const cluster: SettledCluster = {
    sandbox,
    client,
    control,
    controller: startControllerProcess(sandbox, [], env, command),
    callsFor: (work) => callsFor(control, work),
    async close() {
      await watch.close();
      await close();
      await cluster.controller.close();
      await sandbox.close();
    },
  };
  await callsFor(control, async () => {
    await createServices(client, services, 0, spec);
    await Promise.race([watch.served(services, WITHIN_MS), cluster.controller.ended]);
  });
  return cluster;
}

/** Runs `work`, waits until Azure has received no request for `quietMs`, and returns those received since. */
export async function callsFor(
  control: AzureControl,
  work: () => Promise<unknown>,
  quietMs = QUIET_MS,
): Promise<readonly AuditEntry[]> {
  const before = await control.lastSequence();
  await work();
  let last = await control.lastSequence();
  let quietSinceMs = realClock.monotonicMs();
  while (realClock.monotonicMs() - quietSinceMs < quietMs) {
    await realClock.sleep(POLL_MS);
    const now = await control.lastSequence();
    if (now !== last) quietSinceMs = realClock.monotonicMs();
    last = now;
  }
  return control.audit(before);
}
