/**
 * Machines that Azure gets during a history: those of the nodes that the cluster does not start with. The platform makes
 * the machine of a node just before the node registers, or, of some, Azure shows it a few seconds later. Nodes themselves
 * are `nodes.ts`.
 */
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import { BadInput } from "../../sandbox/shared/input.ts";
import type { SeedResource } from "../../sandbox/azure/seed/scope.ts";
import { topologyNodes, type Topology } from "../../sandbox/azure/seed/topology.ts";
import { resourcesOf } from "../environment/azure-seed.ts";
import type { SimulatedAzure } from "../environment/simulated-azure.ts";
import type { Timeline } from "../environment/timeline.ts";

/** After how long Azure shows the machine of such a slot. */
const SHOWN_AFTER_MS = 5_000;
const AGAIN_AFTER_MS = 1_000;

export interface SimulatedMachinesOptions {
  readonly azure: SimulatedAzure;
  readonly timeline: Timeline;
  /** With the machines of all slots. */
  readonly topology: Topology;
  /** The machines of the first slots are there from the start. */
  readonly first: number;
}

export class SimulatedMachines {
  readonly #options: SimulatedMachinesOptions;
  /** Of each slot that comes later: its network interface and its virtual machine; none in a uniform scale set. */
  readonly #resources: readonly SeedResource[];

  constructor(options: SimulatedMachinesOptions) {
    this.#options = options;
    const { topology, first } = options;
    const there = new Set(resourcesOf({ ...topology, nodes: first }).map(({ path }) => path));
    this.#resources = resourcesOf(topology).filter(({ path }) => !there.has(path));
  }

  /** Makes the machine of a slot, unless there is one. */
  ensure(slot: number): void {
    const { timeline, first } = this.#options;
    if (slot < first) return;
    const isShownLate = slot % 3 === 2 && this.#resources.length > 0;
    if (isShownLate) timeline.after(SHOWN_AFTER_MS, () => this.#make(slot));
    else this.#make(slot);
  }

  /** The address that the machine of a slot has or will have; `undefined`: as the topology says. */
  addressOf(slot: number): string | undefined {
    const { azure, first } = this.#options;
    if (slot < first) return undefined;
    if (this.#resources.length > 0) return lateAddress(slot);
    const { assigned = {} } = azure.state.resources.get(this.#instanceKey(slot)) ?? {};
    const [address] = Object.values((assigned["addresses"] ?? {}) as Readonly<Record<string, string>>);
    return address;
  }

  #make(slot: number): void {
    const { azure, timeline } = this.#options;
    try {
      azure.seed(this.#missing(slot));
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      timeline.after(AGAIN_AFTER_MS, () => this.#make(slot)); // another operation on the scale set runs
    }
  }

  #missing(slot: number): readonly SeedResource[] {
    const { azure, first } = this.#options;
    if (this.#resources.length === 0) return this.#capacityFor(slot);
    const at = (slot - first) * 2;
    return this.#resources
      .slice(at, at + 2)
      .filter(({ path }) => !azure.state.resources.has(path.toLowerCase()))
      .map(({ path, body }) => ({ path, body: atLateAddress(body, slot) }));
  }

  /** A uniform scale set makes its instances in order. */
  #capacityFor(slot: number): readonly SeedResource[] {
    const { azure } = this.#options;
    if (azure.state.resources.has(this.#instanceKey(slot))) return [];
    const path = this.#instanceKey(slot).replace(/\/virtualmachines\/\d+$/, "");
    const body = azure.read(path) as { readonly sku: object };
    return [{ path, body: { ...body, sku: { ...body.sku, capacity: slot + 1 } } }];
  }

  #instanceKey(slot: number): string {
    const { providerId = "" } = topologyNodes(SANDBOX_ACCOUNT, this.#options.topology)[slot] ?? {};
    return providerId.replace(/^azure:\/\//, "").toLowerCase();
  }
}

/** Outside the addresses that Azure has given to frontends meanwhile. */
function lateAddress(slot: number): string {
  return `10.240.50.${slot + 4}`;
}

function atLateAddress(body: unknown, slot: number): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(`"10.240.0.${slot + 4}"`, `"${lateAddress(slot)}"`));
}
