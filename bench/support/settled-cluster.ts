/**
 * A sandbox with many Services, all served, and everything at rest: where benchmarks of change begin. Azure answers at
 * once here, since what is counted are calls.
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
import { AddressWatch, createServices } from "./services.ts";

export interface SettledCluster {
  readonly sandbox: SandboxProcess;
  readonly client: KubeClient;
  readonly control: AzureControl;
  controller: ControllerProcess;
  /** Does something, waits until Azure is asked nothing more, and returns what it was asked meanwhile. */
  callsFor(work: () => Promise<unknown>): Promise<readonly AuditEntry[]>;
  close(): Promise<void>;
}

const WITHIN_MS = 900_000;
/** Nothing asked for this long, and no poll either: at rest. */
const REST_MS = 3_000;
const LOOK_MS = 250;

/** `most`: how many Services there will be in the end; `env`: for the controller. */
export async function openSettledCluster(
  services: number,
  nodes: number,
  { most = services, env = {} }: { readonly most?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<SettledCluster> {
  const flags = ["--without-controller", "--nodes", String(nodes), ...limitsFor(most).flags];
  const sandbox = await startSandboxProcess(flags);
  const { client, close } = openKubeClient({ kubeconfig: sandbox.line.kubeconfig ?? "", userAgent: "azlb-bench" });
  const control = new AzureControl(sandbox.line.azureControlUrl ?? "");
  const watch = new AddressWatch(client);
  const cluster: SettledCluster = {
    sandbox,
    client,
    control,
    controller: startControllerProcess(sandbox, [], env),
    callsFor: (work) => callsFor(control, work),
    async close() {
      await watch.close();
      await close();
      await cluster.controller.close();
      await sandbox.close();
    },
  };
  await callsFor(control, async () => {
    await createServices(client, services);
    await watch.served(services, WITHIN_MS);
  });
  return cluster;
}

async function callsFor(control: AzureControl, work: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
  const before = await control.lastSequence();
  await work();
  let last = await control.lastSequence();
  let quietSinceMs = realClock.monotonicMs();
  while (realClock.monotonicMs() - quietSinceMs < REST_MS) {
    await realClock.sleep(LOOK_MS);
    const now = await control.lastSequence();
    if (now !== last) quietSinceMs = realClock.monotonicMs();
    last = now;
  }
  return control.audit(before);
}
