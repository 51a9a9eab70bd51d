/**
 * Where new flows arrive, of whatever frontend: counts them against the limit, has them decided, and writes them into
 * the book. Listeners do the forwarding.
 */
import type { Admission } from "./admit-flow.ts";
import type { Clock } from "./clock.ts";
import type { Client, FlowTable } from "./flow-table.ts";
import type { Flow, Frontend, Member } from "./forwarding.ts";
import { sourceFor, type DataPlaneSettings } from "./settings.ts";

/** What the desk asks those who know the state of Azure and of the probes. */
export interface FlowPolicy {
  admit(frontend: Frontend, flow: Flow): Admission;
  /** Those who get new flows. */
  eligible(frontend: Frontend): readonly Member[];
  /** Those whose established connections end now. */
  cutOff(frontend: Frontend): readonly Member[];
}

export interface FlowAcceptor extends FlowPolicy {
  readonly clock: Clock;
  readonly book: FlowTable;
  settings(): DataPlaneSettings;
  /** An admitted flow is in the book and holds a slot. */
  receive(frontend: Frontend, address: string, port: number): { admission: Admission; client: Client };
  /** Counts one more flow; `false` when there are too many already. */
  takeSlot(): boolean;
  freeSlot(): void;
}

/** A frontend that is being listened for. */
export interface FrontendListener {
  readonly frontend: Frontend;
  /** Where on loopback; 0 until it is open. */
  readonly port: number;
  open(): Promise<void>;
  /** The rule behind it has changed. */
  serve(frontend: Frontend): void;
  /** Health, admin states or settings have changed. */
  reconsider(): void;
  close(): Promise<void>;
}

export function frontDesk(
  around: Pick<FlowAcceptor, "clock" | "book" | "settings"> & { oracle: FlowPolicy },
): FlowAcceptor {
  const { clock, book, settings, oracle } = around;
  let flows = 0;

  function takeSlot(): boolean {
    if (flows >= settings().maxFlows) return false;
    flows++;
    return true;
  }

  function freeSlot(): void {
    flows--;
  }

  function decide(frontend: Frontend, flow: Flow): Admission {
    if (!takeSlot()) return { kind: "refuse", reason: "limit" };
    const admission = oracle.admit(frontend, flow);
    if (admission.kind === "refuse") freeSlot();
    return admission;
  }

  return {
    ...oracle,
    clock,
    book,
    settings,
    takeSlot,
    freeSlot,
    receive(frontend, address, port) {
      const flow = arriving(frontend, settings(), address, port);
      const client = { client: `${address}:${port}`, source: flow.sourceAddress };
      const admission = decide(frontend, flow);
      if (admission.kind === "refuse") book.refused(frontend, client, admission);
      else book.opened(frontend, admission.member, client);
      return { admission, client };
    },
  };
}

/** The flow of a client on this machine, as the network would see it. */
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
