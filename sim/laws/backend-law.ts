/**
 * A node that should serve is not removed from a pool, and a draining node gets no new connections.
 *
 *   law     | what must not happen
 *   --------|----------------------------------------------------------------------------------------------------
 *   backend | a controller's write removes the entry of a node that has belonged in pools for a while
 *   drain   | a controller's write removes Down from a node whose taint its process had received
 *   drain   | a draining node stays in service although there has been no disturbance for a while
 *
 * Azure refuses writes of the pools of a load balancer that is in the state Failed, so a refused write of that load
 * balancer as a whole is a disturbance of its pools. So is an operation on it that takes Azure long: a second write would
 * cancel it, and with it what it has put out of service.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, stringOf, type Json } from "../../sandbox/azure/model/json.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import { callName } from "../network/arm-transport.ts";
import type { Process } from "../environment/timeline.ts";
import type { OutgoingCall } from "../network/network.ts";
import { isForeign, lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import type { Law, Report } from "./law.ts";

/** Longer than a write that was decided earlier can wait to be sent. */
const WANTED_FOR_MS = 300_000;
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const DRAIN_TAINTS = ["node.kubernetes.io/out-of-service", "cloudprovider.azure.microsoft.com/draining"];

export interface BackendLawOptions {
  readonly report: Report;
  readonly azure: State;
  /** When the last slow operation on a resource ends. */
  readonly slowUntilMs: (id: string) => number;
  readonly nowMs: () => number;
  readonly nodes: () => readonly KubeObject[];
  /** A list of load balancers: nodes move between them, and follow endpoints in the pools of Services. */
  readonly isList: boolean;
  /** Basic load balancers have no admin states. */
  readonly isBasic: boolean;
}

interface Draining {
  readonly revision: number;
  readonly sinceMs: number;
}

export class BackendLaw implements Law {
  readonly #options: BackendLawOptions;
  /** Node → since when it belongs in pools with its current address. */
  readonly #wanted = new Map<string, { readonly sinceMs: number; readonly address: string }>();
  readonly #draining = new Map<string, Draining>();
  /** Process → revision up to which it has received the nodes. */
  readonly #received = new Map<string, number>();
  /** Process and call → that revision when the call was sent. */
  readonly #receivedAtSend = new Map<string, number>();

  /** Name of a load balancer → when a fault last kept it in the state Failed. */
  readonly #heldFailedMs = new Map<string, number>();

  constructor(options: BackendLawOptions) {
    this.#options = options;
    for (const node of options.nodes()) this.#update(node, 0);
  }

  onDelivered({ name }: Process, collection: string, revision: number): void {
    if (collection === "nodes") this.#received.set(name, revision);
  }

  onSend({ process: { name }, what }: OutgoingCall): void {
    this.#receivedAtSend.set(`${name} ${what}`, this.#received.get(name) ?? 0);
  }

  onFault({ side, call, what }: OutgoingCall): void {
    if (side !== "azure" || call !== "write") return;
    const isWritten = ({ id, state }: Resource): boolean =>
      state === "Failed" && what.toLowerCase().endsWith(`/loadbalancers/${lastName(id).toLowerCase()}`);
    const held = resourcesOf(this.#options.azure, LOAD_BALANCER).find(isWritten);
    if (held !== undefined) this.#heldFailedMs.set(lastName(held.id), this.#options.nowMs());
  }

  onChange({ collection, type, object, revision }: HistoryEntry): void {
    if (collection !== "nodes") return;
    const name = object.metadata.name ?? "";
    if (type === "DELETED") {
      this.#wanted.delete(name);
      this.#draining.delete(name);
    } else {
      this.#update(object, revision);
    }
  }

  onOurWrite(write: ArmWrite): void {
    for (const { before, after } of write.touched) {
      if (before?.type !== LOAD_BALANCER || after === undefined) continue;
      for (const pool of partsOf(before, "backendAddressPools")) this.#checkPool(write, pool, after);
    }
  }

  /** Draining nodes that still get new connections, and since when they should not and Azure lets the pool be written. */
  *inService(): Iterable<{
    readonly node: string;
    /** Names of the load balancer and the pool. */
    readonly pool: readonly [string, string];
    readonly sinceMs: number;
  }> {
    if (this.#options.isBasic) return;
    for (const resource of resourcesOf(this.#options.azure, LOAD_BALANCER)) {
      for (const pool of partsOf(resource, "backendAddressPools")) {
        if (isForeign(nameOf(pool))) continue;
        for (const entry of entriesOf(pool)) {
          const draining = this.#draining.get(nameOf(entry));
          if (draining === undefined || isDown(entry)) continue;
          const heldMs = this.#heldFailedMs.get(lastName(resource.id)) ?? 0;
          const sinceMs = Math.max(draining.sinceMs, heldMs, this.#options.slowUntilMs(resource.id));
          yield { node: nameOf(entry), pool: [lastName(resource.id), nameOf(pool)], sinceMs };
        }
      }
    }
  }

  #checkPool(write: ArmWrite, pool: Json, after: Resource): void {
    const { caller, method } = write;
    const { report, nowMs } = this.#options;
    const later = partsOf(after, "backendAddressPools").find((one) => nameOf(one) === nameOf(pool));
    if (later === undefined || isForeign(nameOf(pool))) return; // a pool is deleted with its last Service
    const now = new Map(entriesOf(later).map((entry) => [nameOf(entry), entry]));
    for (const entry of entriesOf(pool)) {
      const name = nameOf(entry);
      const wanted = this.#wanted.get(name);
      const left = now.get(name);
      if (left === undefined) {
        const isLong = !this.#options.isList && wanted !== undefined && nowMs() - wanted.sinceMs > WANTED_FOR_MS;
        if (isLong && ![...now.values()].some((other) => addressIn(other) === wanted.address))
          report("backend", `${caller} ${method} took ${name} out of ${lastName(after.id)}/${nameOf(pool)}`);
      } else if (isDown(entry) && !isDown(left) && this.#hadReceivedTaint(write, name)) {
        report(
          "drain",
          `${caller} ${method} put draining ${name} back to work in ${lastName(after.id)}/${nameOf(pool)}`,
        );
      }
    }
  }

  #hadReceivedTaint({ caller, method, path }: ArmWrite, node: string): boolean {
    const draining = this.#draining.get(node);
    return (
      draining !== undefined &&
      draining.revision <= (this.#receivedAtSend.get(`${caller} ${callName(method, path)}`) ?? 0)
    );
  }

  #update(node: KubeObject, revision: number): void {
    const name = node.metadata.name ?? "";
    const sinceMs = this.#options.nowMs();
    const address = addressOfNode(node);
    if (!belongsInPools(node)) this.#wanted.delete(name);
    else if (this.#wanted.get(name)?.address !== address) this.#wanted.set(name, { sinceMs, address });
    if (!isDraining(node)) this.#draining.delete(name);
    else if (!this.#draining.has(name)) this.#draining.set(name, { revision, sinceMs });
  }
}

export function entriesOf(pool: Json): readonly Json[] {
  return partsOf({ body: pool }, "loadBalancerBackendAddresses");
}

function isDown(entry: Json): boolean {
  return propertiesOf(entry)["adminState"] === "Down";
}

export function addressIn(entry: Json): string {
  return stringOf(propertiesOf(entry)["ipAddress"]) ?? "";
}

interface NodeParts {
  readonly spec?: { readonly taints?: readonly { readonly key: string; readonly value?: string }[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

export function addressOfNode(node: KubeObject, isIPv6 = false): string {
  const { status } = node as NodeParts;
  const found = status?.addresses?.find(
    ({ type, address }) => type === "InternalIP" && address.includes(":") === isIPv6,
  );
  return found?.address ?? "";
}

export function belongsInPools(node: KubeObject): boolean {
  const { spec } = node as NodeParts;
  const isLeaving = spec?.taints?.some(({ key }) => key === "ToBeDeletedByClusterAutoscaler") ?? false;
  return node.metadata.deletionTimestamp === undefined && node.metadata.labels?.[EXCLUDE] === undefined && !isLeaving;
}

export function isDraining(node: KubeObject): boolean {
  const { spec } = node as NodeParts;
  return (
    spec?.taints?.some(
      ({ key, value }) => key === DRAIN_TAINTS[0] || (key === DRAIN_TAINTS[1] && value === "spot-eviction"),
    ) ?? false
  );
}
