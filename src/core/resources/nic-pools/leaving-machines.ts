/**
 * Which machines leave a pool of network interfaces: those of nodes that are not eligible, and those of no node that the
 * durable member list names. Where too many would leave at once, `brake/pool-brake.ts` keeps them in.
 */
import { isLeaving, withheldMembers } from "../../brake/pool-brake.ts";
import type { Compute } from "../../backends/compute.ts";
import { isEligible } from "../../backends/eligible-nodes.ts";
import { nicResourceOf } from "../../backends/machines.ts";
import { nameOfId } from "../../model/ids.ts";
import type { Node } from "../../model/kubernetes.ts";
import { countServicesOn, loadBalancerIndex } from "../load-balancer/load-balancer-index.ts";
import type { NicPoolsInput } from "./desired-nic-pools.ts";
import type { NicPoolsFragment, PoolRef } from "./fragment.ts";
import { type Attachable, isAttached } from "./merge-nic-pools.ts";

interface Leaving {
  readonly kind: NicPoolsFragment["resource"];
  readonly body: Attachable;
}

export function leavingMachines(input: NicPoolsInput, pool: PoolRef): Leaving[] {
  const kept = withheldIn(input, pool);
  return candidates(input, pool).filter(({ body }) => !kept.has(idOf(body)));
}

/** Ids, in lower case, of machines that the brake keeps in the pool. */
export function withheldIn(input: NicPoolsInput, ref: PoolRef): ReadonlySet<string> {
  const { brake, nodes, loadBalancer } = input;
  const going = brake === undefined ? [] : candidates(input, ref);
  if (brake === undefined || going.length === 0) return new Set();
  const pool = ref.pool.toLowerCase();
  const present = machinesIn(input, ref);
  // Azure itself takes a machine out that is deleted: that was no write of the controller
  const recent = [...(brake.recent.get(pool) ?? [])].filter((id) => isThere(input.compute, id));
  return withheldMembers(
    { ...brake, recent: new Map([[pool, new Set(recent)]]) },
    {
      pool,
      present,
      wanted: present.difference(new Set(going.map(({ body }) => idOf(body)))),
      leaving: new Set(machinesOf(nodes.filter(isLeaving), input.compute).map(({ body }) => idOf(body))),
      services: countServicesOn(loadBalancerIndex(loadBalancer), nameOfId(ref.pool)),
    },
  );
}

/** Ids, in lower case, of the cluster's machines that are in the pool. */
export function machinesIn(input: NicPoolsInput, ref: PoolRef): ReadonlySet<string> {
  const attached = machinesOf(input.nodes, input.compute).filter(({ kind, body }) => isAttached(body, kind, ref.pool));
  return new Set([...attached, ...candidates(input, ref)].map(({ body }) => idOf(body)));
}

function machinesOf(nodes: readonly Node[], compute: Compute): Leaving[] {
  return nodes.flatMap((node) => nicResourceOf(node, compute) ?? []);
}

function isThere({ networkInterfaces, instances }: Compute, id: string): boolean {
  return networkInterfaces.has(id) || instances.has(id);
}

function idOf({ id }: Attachable): string {
  return id.toLowerCase();
}

/** All that no longer belong there, whether or not the brake keeps some. */
function candidates(input: NicPoolsInput, { pool }: PoolRef): Leaving[] {
  const { config, nodes, compute, known } = input;
  const excluded = nodes
    .filter((node) => !isEligible(node, config))
    .flatMap((node) => nicResourceOf(node, compute) ?? []);
  const current = new Set(nodes.flatMap((node) => nicResourceOf(node, compute)?.body.id.toLowerCase() ?? []));
  const names = new Set(known.map((name) => name.toLowerCase()));
  const isForgotten = (body: Attachable): boolean =>
    !current.has(body.id.toLowerCase()) && isKnownAs(body, names, compute);
  const forgotten: Leaving[] = [
    ...[...compute.networkInterfaces.values()]
      .filter(isForgotten)
      .map((body) => ({ kind: "networkInterface" as const, body })),
    ...[...compute.instances.values()].filter(isForgotten).map((body) => ({ kind: "instance" as const, body })),
  ];
  return [...excluded, ...forgotten].filter(({ kind, body }) => isAttached(body, kind, pool));
}

/** Nodes are named after the computer name of their machine. */
export function isKnownAs(body: Attachable, names: ReadonlySet<string>, compute: Compute): boolean {
  const machine = body.properties["virtualMachine"] as { readonly id: string } | undefined;
  const holder = machine === undefined ? body : compute.virtualMachines.get(machine.id.toLowerCase());
  const profile = holder?.properties["osProfile"] as { readonly computerName?: string } | undefined;
  const candidates = [profile?.computerName, holder?.name].filter((name) => typeof name === "string");
  return candidates.some((name) => names.has(name.toLowerCase()));
}
