/**
 * Accepts new flows of all frontends: enforces the flow limit, asks the policy to admit or refuse, and records the
 * outcome in the flow table. The listeners forward the traffic.
 */
import type { Admission } from "./admit-flow.ts";
import type { Clock } from "./clock.ts";
import type { Client, FlowTable } from "./flow-table.ts";
import type { Flow, Frontend, Member } from "./forwarding.ts";
import { sourceFor, type DataPlaneSettings } from "./settings.ts";

/** Decisions that need the state of Azure and of the probes. */
export interface FlowPolicy {
  admit(frontend: Frontend, flow: Flow): Admission;
  /** The members that may receive new flows. */
  eligible(frontend: Frontend): readonly Member[];
  /** The members whose established connections are reset now: by address, with the reason. */
  cutOff(frontend: Frontend): ReadonlyMap<string, "allProbesDown" | "machineGone">;
}

export interface FlowAcceptor extends FlowPolicy {
  readonly clock: Clock;
  readonly flowTable: FlowTable;
  settings(): DataPlaneSettings;
  /** Records the flow; an admitted one holds a slot until `freeSlot`. */
  receive(frontend: Frontend, address: string, port: number): { admission: Admission; client: Client };
  /** Reserves a slot; `false` when the limit is reached. */
  takeSlot(): boolean;
  freeSlot(): void;
}

/** The open socket of one frontend. */
export interface FrontendListener {
  readonly frontend: Frontend;
  /** Its loopback port; 0 until it is open. */
  readonly port: number;
  open(): Promise<void>;
  /** Serves the same frontend under a changed rule. */
  serve(frontend: Frontend): void;
  /** Re-evaluates established flows after health, admin states or settings changed. */
  reconsider(): void;
  close(): Promise<void>;
}

export function createFlowAcceptor(
  context: Pick<FlowAcceptor, "clock" | "flowTable" | "settings"> & { policy: FlowPolicy },
): FlowAcceptor {
  const { clock, flowTable, settings, policy } = context;
  let slotsTaken = 0;

  function takeSlot(): boolean {
    if (slotsTaken >= settings().maxFlows) return false;
    slotsTaken++;
    return true;
  }

  function freeSlot(): void {
    slotsTaken--;
  }

  function decide(frontend: Frontend, flow: Flow): Admission {
    if (!takeSlot()) return { kind: "refuse", reason: "limit" };
    const admission = policy.admit(frontend, flow);
    if (admission.kind === "refuse") freeSlot();
    return admission;
  }

  return {
    ...policy,
    clock,
    flowTable,
    settings,
    takeSlot,
    freeSlot,
    receive(frontend, address, port) {
      const flow = arriving(frontend, settings(), address, port);
      const client = { client: `${address}:${port}`, source: flow.sourceAddress };
      const admission = decide(frontend, flow);
      if (admission.kind === "refuse") flowTable.refused(frontend, client, admission);
      else flowTable.opened(frontend, admission.member, client);
      return { admission, client };
    },
  };
}

/** The five-tuple that Azure's network would see for this loopback client. */
function arriving(frontend: Frontend, settings: DataPlaneSettings, address: string, sourcePort: number): Flow {
  const { key, transport, port, rule } = frontend;
  return {
    transport,
    sourceAddress: sourceFor(settings, address, { key, address: rule.address }),
    sourcePort,
    destinationAddress: rule.address,
    destinationPort: port,
  };
}
