/**
 * Which Services of a batch ask for ports of a frontend that are taken. A Service that is in the load balancer
 * already wins; among newcomers the first in the order of the batch. A refused Service keeps what it has, and that
 * counts against the others. What stands in the load balancer together already is Azure's to judge, not ours.
 */
import type { LoadBalancer } from "../../model/arm.ts";
import type { Rejection } from "../../outcome.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { type Claim, claimOf, loadBalancerIndex, type LoadBalancerIndex } from "./load-balancer-index.ts";
import { userOf } from "./part-user.ts";

/** `batch` in the order in which it is to be served. */
export function refusePortClashes(
  seen: LoadBalancer,
  batch: readonly LoadBalancerFragment[],
): Map<LoadBalancerFragment, Rejection> {
  const index = loadBalancerIndex(seen);
  const claimants = batch.map((fragment) => claimantOf(index, fragment));
  const refused = new Map<LoadBalancerFragment, Rejection>();
  for (let clash = firstClash(index, claimants, refused); clash; clash = firstClash(index, claimants, refused)) {
    refused.set(clash.claimant.fragment, rejectionOf(clash, seen, batch));
  }
  return refused;
}

interface Claimant {
  readonly fragment: LoadBalancerFragment;
  readonly base: string;
  /** Claims that the Service has in the load balancer and still wants. */
  readonly held: readonly Claim[];
  readonly added: readonly Claim[];
}

function claimantOf(index: LoadBalancerIndex, fragment: LoadBalancerFragment): Claimant {
  const base = fragment.owner.base.toLowerCase();
  const wanted = fragment.rules.map(claimOf).filter((claim) => claim !== undefined);
  const isHeld = (claim: Claim): boolean =>
    (index.claims.get(claim.frontend) ?? []).some((seen) => seen.user.base === base && equal(seen, claim));
  return { fragment, base, held: wanted.filter(isHeld), added: wanted.filter((claim) => !isHeld(claim)) };
}

interface Clash {
  readonly claimant: Claimant;
  readonly claim: Claim;
  readonly other: Claim;
}

/** First against what stays in the load balancer whatever this batch does, then against each other. */
function firstClash(
  index: LoadBalancerIndex,
  claimants: readonly Claimant[],
  refused: ReadonlyMap<LoadBalancerFragment, Rejection>,
): Clash | undefined {
  const moving = new Map(
    claimants.filter(({ fragment }) => !refused.has(fragment)).map((mover) => [mover.base, mover]),
  );
  for (const claimant of moving.values()) {
    for (const claim of claimant.added) {
      const former = new Set((claimant.fragment.replaces ?? []).map((name) => name.toLowerCase()));
      const standing = (index.claims.get(claim.frontend) ?? []).filter(
        ({ user }) => !moving.has(user.base) && !former.has(user.name.toLowerCase()),
      );
      const other = standing.find((seen) => overlap(seen, claim));
      if (other !== undefined) return { claimant, claim, other };
    }
  }
  const taken = new Map<string, Claim[]>();
  const take = (claim: Claim): void => {
    const list = taken.get(claim.frontend);
    if (list === undefined) taken.set(claim.frontend, [claim]);
    else list.push(claim);
  };
  for (const { held } of moving.values()) held.forEach(take);
  for (const claimant of moving.values()) {
    for (const claim of claimant.added) {
      const others = (taken.get(claim.frontend) ?? []).filter(({ user }) => user.base !== claimant.base);
      const other = others.find((seen) => overlap(seen, claim));
      if (other !== undefined) return { claimant, claim, other };
    }
    claimant.added.forEach(take);
  }
  return undefined;
}

function equal(one: Claim, other: Claim): boolean {
  return one.protocol === other.protocol && one.from === other.from && one.to === other.to;
}

export function overlap(one: Claim, other: Claim): boolean {
  const sameProtocol = one.protocol === other.protocol || one.protocol === "all" || other.protocol === "all";
  return sameProtocol && one.from <= other.to && other.from <= one.to;
}

function rejectionOf({ claim, other }: Clash, seen: LoadBalancer, batch: readonly LoadBalancerFragment[]): Rejection {
  const narrower = claim.from === claim.to ? claim : other;
  const message = `${portsText(narrower)} taken ${whereText(other, seen, batch)}: use another port in spec.ports, or another address`;
  return { kind: "rejection", reason: "PortConflict", message };
}

function portsText({ protocol, from, to }: Claim): string {
  const name = protocol === "all" ? "" : `${protocol.toUpperCase()} `;
  if (from === to) return `${name}port ${from} is`;
  return from === 0 ? "all ports are" : `${name}ports ${from} to ${to} are`;
}

/** A Service is found by its name; what a user made by hand, by where it stands. */
function whereText({ frontend, user }: Claim, seen: LoadBalancer, batch: readonly LoadBalancerFragment[]): string {
  const { isService, text } = userOf(user, batch);
  if (isService) return `on the address that it shares by ${text}`;
  const name = loadBalancerIndex(seen).frontends.get(frontend)?.name ?? frontend;
  return `on frontend "${name}" of load balancer "${seen.name}" by ${text}`;
}
