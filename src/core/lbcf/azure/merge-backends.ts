/**
 * Merges any number of backend changes into one address pool.
 *
 *   - The controller's entries are identified by name: `azlb-<cluster>-<hash of pool and address>`, one entry per
 *     address, however many records have it. All other entries are written back as read, unknown fields included.
 *   - An address that is in the pool under another name is not added again; the record gets a warning.
 *   - A change of admin state neither adds nor removes an entry.
 *   - Where one change adds an entry and another removes it, it stays: a live backend is never removed by mistake.
 */
import { correctAdminState } from "../../admin-state/reconcile-admin-state.ts";
import type { AdminState, BackendAddress, BackendPool } from "../../model/arm.ts";
import { bodyOf, corrected, entryOf, holdsInterfaces } from "../../resources/backend-pool/merge-backend-pool.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { md5 } from "../../util/md5.ts";
import { ACCEPTED, type Answer, type Merged, type Rejection } from "../../outcome.ts";

export interface BackendChange {
  readonly virtualNetworkId: string;
  readonly change:
    | {
        readonly kind: "present";
        readonly name: string;
        readonly ipAddress: string;
        /** Evaluated when the write is merged: taints may change while it waits. */
        readonly adminState: () => AdminState | undefined;
        /** The maximum number of entries in the pool. */
        readonly atMost: number;
      }
    | { readonly kind: "absent"; readonly name: string }
    /** By entry name in lower case. */
    | { readonly kind: "states"; readonly states: ReadonlyMap<string, AdminState> };
}

type Present = Extract<BackendChange["change"], { kind: "present" }>;

const PREFIX = "azlb";
const LONGEST_NAME = 80;
const HASH_LENGTH = 16;

/** Derived from pool and address, so that each address has at most one entry. */
export function entryName(clusterName: string, poolId: string, ipAddress: string): string {
  const hash = md5(`${poolId.toLowerCase()} ${canonicalAddress(ipAddress)}`).slice(0, HASH_LENGTH);
  const cluster = clusterName.toLowerCase().replaceAll(/[^a-z0-9_.-]/g, "-");
  return `${PREFIX}-${cluster.slice(0, LONGEST_NAME - PREFIX.length - HASH_LENGTH - 2)}-${hash}`;
}

export function mergeBackends(seen: BackendPool | undefined, changes: readonly BackendChange[]): Merged<BackendPool> {
  const problem = problemWith(seen);
  if (seen === undefined || problem !== undefined) {
    const refused: Answer = problem === undefined ? ACCEPTED : { kind: "refused", rejection: problem };
    const answers = changes.map(({ change }) => (change.kind === "present" ? refused : ACCEPTED));
    return { outcome: { kind: "unchanged" }, answers };
  }
  const { entries, present } = withoutAbsent(seen, changes);
  const network = { virtualNetworkId: changes[0]?.virtualNetworkId ?? "" };
  const added = new Additions(entries, seen, network);
  const answers = changes.map(({ change }) => (change.kind === "present" ? added.add(change) : ACCEPTED));
  const states = new Map(changes.flatMap(({ change }) => (change.kind === "states" ? [...change.states] : [])));
  const result = added.entries.map((entry) => stated(entry, states, present));
  const before = seen.properties.loadBalancerBackendAddresses ?? [];
  const isSame = result.length === before.length && result.every((entry, at) => entry === before[at]);
  return {
    outcome: isSame ? { kind: "unchanged" } : { kind: "put", body: bodyOf(seen, network, result) },
    answers,
  };
}

/** A missing pool is fine for changes that remove entries, and a problem for those that add them. */
function problemWith(seen: BackendPool | undefined): Rejection | undefined {
  if (seen === undefined) {
    const message = "the load balancer or its pool does not exist any more: delete the LoadBalancer and make it anew";
    return { kind: "rejection", reason: "PoolNotFound", message };
  }
  if (!holdsInterfaces(seen)) return undefined;
  const message = `pool "${seen.name}" holds network interfaces, and Azure does not mix them with addresses: use another`;
  return { kind: "rejection", reason: "PoolOfInterfaces", message };
}

function withoutAbsent(
  { properties }: BackendPool,
  changes: readonly BackendChange[],
): { entries: readonly BackendAddress[]; present: ReadonlySet<string> } {
  const present = new Set<string>();
  const absent = new Set<string>();
  for (const { change } of changes) {
    if (change.kind === "present") present.add(change.name.toLowerCase());
    if (change.kind === "absent") absent.add(change.name.toLowerCase());
  }
  const goes = (name: string): boolean => absent.has(name) && !present.has(name);
  const entries = (properties.loadBalancerBackendAddresses ?? []).filter(({ name }) => !goes(name.toLowerCase()));
  return { entries, present };
}

/** Entries added in this batch have their state already. */
function stated(
  entry: BackendAddress,
  states: ReadonlyMap<string, AdminState>,
  present: ReadonlySet<string>,
): BackendAddress {
  const name = entry.name.toLowerCase();
  return present.has(name) ? entry : correctAdminState(entry, states.get(name));
}

/** The entries as they become. */
class Additions {
  readonly entries: BackendAddress[];
  readonly #pool: BackendPool;
  readonly #network: Pick<BackendChange, "virtualNetworkId">;
  readonly #positions = new Map<string, number>();
  readonly #byAddress = new Map<string, BackendAddress>();

  constructor(entries: readonly BackendAddress[], pool: BackendPool, network: Pick<BackendChange, "virtualNetworkId">) {
    this.entries = [...entries];
    this.#pool = pool;
    this.#network = network;
    for (const [at, entry] of this.entries.entries()) this.#index(entry, at);
  }

  add({ name, ipAddress, adminState, atMost }: Present): Answer {
    const wanted = { name, ipAddress, adminState: adminState() };
    const at = this.#positions.get(name.toLowerCase());
    const current = at === undefined ? undefined : this.entries[at];
    if (at !== undefined && current !== undefined) {
      this.entries[at] = corrected(current, wanted);
      return ACCEPTED;
    }
    const foreign = this.#byAddress.get(canonicalAddress(ipAddress));
    if (foreign !== undefined) {
      const message = `${ipAddress} stands in the pool already, as "${foreign.name}", which is not ours`;
      return { kind: "accepted", warnings: [{ reason: "ForeignEntry", message }] };
    }
    if (this.entries.length >= atMost) {
      const message = `pool "${this.#pool.name}" has ${this.entries.length} entries, and maxBackends is ${atMost}`;
      return { kind: "refused", rejection: { kind: "rejection", reason: "PoolFull", message } };
    }
    const entry = entryOf(wanted, this.#pool, this.#network);
    this.#index(entry, this.entries.push(entry) - 1);
    return ACCEPTED;
  }

  #index(entry: BackendAddress, at: number): void {
    this.#positions.set(entry.name.toLowerCase(), at);
    this.#byAddress.set(canonicalAddress(entry.properties.ipAddress ?? ""), entry);
  }
}
