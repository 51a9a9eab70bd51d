/**
 * Whether every machine of a Scheduled Event is out of its load balancers, by what the controller has written on their Nodes
 * (`core/admin-state/drain-account.ts`). Pure. Where anything is not known, the answer is no: a machine without a Node, a drain
 * that is not in effect, an account of an earlier drain.
 */
import { accountOf } from "../core/admin-state/drain-account.ts";
import { desiredAdminState } from "../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../core/model/kubernetes.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

/** The first machine that is not out, or not known to be; `undefined`: all are. */
export function machineStillIn({ resources }: ScheduledEvent, nodes: readonly Node[]): string | undefined {
  const byMachine = Map.groupBy(nodes, ({ spec }) => machineOf(spec.providerID ?? ""));
  const isOut = (machine: string): boolean => {
    const found = byMachine.get(machine.toLowerCase()) ?? [];
    return (
      machine !== "" &&
      found.length > 0 &&
      found.every((node) => desiredAdminState(node) === "Down" && accountOf(node) !== undefined)
    );
  };
  return resources.length === 0 ? "" : resources.find((machine) => !isOut(machine));
}

/** As Scheduled Events name it, in lower case; empty where the Node has no machine of Azure. */
function machineOf(providerID: string): string {
  const [, set, name] =
    /^azure:\/\/.*?(?:\/virtualMachineScaleSets\/([^/]+))?\/virtualMachines\/([^/]+)$/i.exec(providerID) ?? [];
  return (set === undefined ? (name ?? "") : `${set}_${name}`).toLowerCase();
}
