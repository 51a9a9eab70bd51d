/**
 * Carries out what a scheduled event announces. A preempted or terminated machine is deleted, and its addresses stop
 * answering; a frozen, rebooted or redeployed one does not answer until the event is over. A reboot and a redeployment end
 * the machine's connections, a freeze does not. The Node of the machine is for Kubernetes to remove.
 */
import { JournalWriteError } from "../../shared/journal.ts";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { ArmRequest, Draws } from "../model/index.ts";
import type { AzureStore } from "../store/azure-store.ts";
import type { Machine } from "./machines.ts";
import { isFinal, type Impact } from "./scheduled-events.ts";

const COMPUTE_VERSION = "2025-04-01";

export interface MachineImpactOptions {
  readonly store: AzureStore;
  readonly dataPlane: DataPlane | undefined;
  readonly nowMs: () => number;
  readonly guid: () => string;
  readonly log: (line: string) => void;
}

export function machineImpact({ store, dataPlane, nowMs, guid, log }: MachineImpactOptions): Impact {
  const draws: Draws = { guid, tailMs: () => 0, retryAfterSeconds: () => undefined };

  function remove({ id, name }: Machine): void {
    const request: ArmRequest = {
      method: "DELETE",
      path: id,
      query: { "api-version": COMPUTE_VERSION },
      headers: {},
      body: undefined,
      nowMs: nowMs(),
      baseUrl: "https://management.azure.com",
    };
    try {
      const { response } = store.handle(request, draws);
      if (response.status >= 300) log(`${name} stays: ${JSON.stringify(response.body)}`);
    } catch (error) {
      if (!(error instanceof JournalWriteError)) throw error;
      log(`${name} stays: ${error.message}`);
    }
  }

  return {
    begin(type, machines) {
      const addresses = machines.flatMap((machine) => machine.addresses);
      if (isFinal(type)) for (const machine of machines) remove(machine);
      dataPlane?.stop(addresses, type === "Freeze" ? "frozen" : "gone");
    },
    end: (machines) => dataPlane?.resume(machines.flatMap((machine) => machine.addresses)),
  };
}
