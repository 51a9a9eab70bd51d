/**
 * Which fragments of a batch can stand in a load balancer together. The owner of one that cannot keeps what it has
 * there, and that may be in the way of others; so it goes on until all that are left can.
 */
import type { Frontend, LoadBalancer } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import type { Rejection } from "../../outcome.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { frontendOf, loadBalancerIndex, type LoadBalancerIndex, ruleUser } from "./load-balancer-index.ts";
import { baseOf } from "../../model/names.ts";
import { refuseOverflow } from "./limits.ts";
import { refusePortClashes } from "./port-clashes.ts";
import { userOf } from "./part-user.ts";
import { isAtAddress } from "./parts.ts";

type Batch = readonly LoadBalancerFragment[];

export interface Admission {
  readonly accepted: Batch;
  readonly refused: ReadonlyMap<LoadBalancerFragment, Rejection>;
  /** Decided on what has changed since. */
  readonly stale: ReadonlySet<LoadBalancerFragment>;
}

/** `batch` in the order in which it is to be served. */
export function admitFragments(seen: LoadBalancer, batch: Batch): Admission {
  const index = loadBalancerIndex(seen);
  const rejections = new Map<LoadBalancerFragment, Rejection>();
  const stale = new Set<LoadBalancerFragment>();
  for (;;) {
    const left = batch.filter((fragment) => !rejections.has(fragment) && !stale.has(fragment));
    const refused = refusals(seen, index, left);
    for (const fragment of left) {
      const rejection = refused.get(fragment);
      if (rejection === undefined) continue;
      if (rejection.reason === "LoadBalancerFull" && fragment.mayGoElsewhere === true) stale.add(fragment);
      else rejections.set(fragment, rejection);
    }
    const accepted = left.filter((fragment) => !rejections.has(fragment) && !stale.has(fragment));
    for (const fragment of staleIn(index, accepted)) stale.add(fragment);
    if (accepted.length < left.length || accepted.some((fragment) => stale.has(fragment))) continue;
    return { accepted, refused: rejections, stale };
  }
}

function refusals(seen: LoadBalancer, index: LoadBalancerIndex, batch: Batch): Map<LoadBalancerFragment, Rejection> {
  const refused = new Map([
    ...refusePortClashes(seen, batch),
    ...refuseMovesOfShared(index, batch),
    ...refuseOtherSku(seen, batch),
  ]);
  return refused.size > 0 ? refused : refuseOverflow(seen, batch); // what is refused needs no room
}

/**
 * A frontend that others use too keeps its address: giving it another would move them along. The Service that wants to
 * move is refused until it is alone.
 */
function refuseMovesOfShared(index: LoadBalancerIndex, batch: Batch): Map<LoadBalancerFragment, Rejection> {
  const refused = new Map<LoadBalancerFragment, Rejection>();
  for (const fragment of batch) {
    const base = fragment.owner.base.toLowerCase();
    for (const wanted of fragment.frontends) {
      const name = wanted.name.toLowerCase();
      const seen = index.frontends.get(name);
      if (seen === undefined || isAtAddress(seen, wanted)) continue;
      const user = userBeside(index, batch, base, name) ?? sharerBeside(fragment, batch, name);
      if (user !== undefined) refused.set(fragment, frontendShared(wanted.name, user));
    }
  }
  return refused;
}

/** Another user of the frontend that goes on using it after this batch. */
function userBeside(index: LoadBalancerIndex, batch: Batch, base: string, frontend: string): string | undefined {
  const moving = new Set(batch.map(({ owner }) => owner.base.toLowerCase()));
  const staying = (index.users.get(frontend) ?? []).find((user) => user.base !== base && !moving.has(user.base));
  const coming = batch
    .filter(({ owner }) => owner.base.toLowerCase() !== base)
    .flatMap(({ rules }) => rules)
    .find(({ properties }) => frontendOf(properties.frontendIPConfiguration) === frontend);
  const user = staying ?? (coming && ruleUser(coming));
  return user && userOf(user, batch).text;
}

/** Another Service that goes on being served at the frontend after this batch, whether or not a rule of it stands there. */
function sharerBeside({ owner, held = [] }: LoadBalancerFragment, batch: Batch, frontend: string): string | undefined {
  const mates = new Set(batch.map((fragment) => fragment.owner.base.toLowerCase()));
  const keys = held.flatMap(({ frontend: name, by }) =>
    by?.kind === "service" && name === frontend && !mates.has(by.base) ? [by.key] : [],
  );
  const coming = batch.filter((mate) => mate.owner.uid !== owner.uid && mate.shares?.includes(frontend) === true);
  const [key] = [...keys, ...coming.map((mate) => mate.owner.key)];
  return key && `Service ${key}`;
}

function frontendShared(frontend: string, user: string): Rejection {
  const message =
    `the Service cannot get another address, because ${user} uses frontend "${frontend}" too: keep the address, ` +
    `or move the other first`;
  return { kind: "rejection", reason: "FrontendShared", message };
}

/** A load balancer cannot change its SKU, and takes public IPs of its own SKU only. */
function refuseOtherSku(seen: LoadBalancer, batch: Batch): Map<LoadBalancerFragment, Rejection> {
  const sku = (seen.sku?.name ?? "Basic").toLowerCase();
  const refused = new Map<LoadBalancerFragment, Rejection>();
  for (const fragment of batch) {
    const { shell } = fragment;
    if (shell === undefined || shell.sku.name.toLowerCase() === sku) continue;
    const message =
      `load balancer "${seen.name}" has SKU ${sku}, but loadBalancerSku is ${shell.sku.name.toLowerCase()}: ` +
      `delete it (docs/handover.md, "From Basic to Standard", says how addresses are kept), or set loadBalancerName to another name`;
    refused.set(fragment, { kind: "rejection", reason: "LoadBalancerSkuMismatch", message });
  }
  return refused;
}

/** Fragments that were decided on what is not so any more, or will not be: they are decided anew after this write. */
function staleIn(index: LoadBalancerIndex, batch: Batch): Batch {
  return [...namingGoneFrontends(index, batch), ...doublingAddresses(index, batch)];
}

/** They rest on a frontend of another owner that has gone. */
function namingGoneFrontends(index: LoadBalancerIndex, batch: Batch): Batch {
  const coming = new Set(batch.flatMap(({ frontends }) => frontends.map(({ name }) => name.toLowerCase())));
  return batch.filter(({ rules, shares = [] }) =>
    [...rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration)), ...shares].some(
      (name) => name !== undefined && !index.frontends.has(name) && !coming.has(name),
    ),
  );
}

/** They make a frontend for an address that another's frontend has, or gets with this write: that is the one to share. */
function doublingAddresses(index: LoadBalancerIndex, batch: Batch): Batch {
  const isNew = ({ name }: Frontend): boolean => !index.frontends.has(name.toLowerCase());
  const frontends = batch.flatMap((fragment) => fragment.frontends);
  const comers = new Map<string, Frontend>();
  for (const frontend of [...frontends.filter((one) => !isNew(one)), ...frontends.filter(isNew)]) {
    const address = addressOf(frontend);
    if (address !== undefined && !comers.has(address)) comers.set(address, frontend);
  }
  const isDoubling = (frontend: Frontend): boolean => {
    const address = addressOf(frontend) ?? "";
    const holder = index.byPublicIP.get(address) ?? index.byPrivateAddress.get(address) ?? comers.get(address);
    return holder !== undefined && isNew(frontend) && baseOf(holder.name) !== baseOf(frontend.name);
  };
  return batch.filter((fragment) => fragment.frontends.some(isDoubling));
}

/** A public IP's id, or a private address that is not left to Azure; as the index spells them. */
function addressOf({ properties: { publicIPAddress, privateIPAddress } }: Frontend): string | undefined {
  if (publicIPAddress?.id !== undefined) return publicIPAddress.id.toLowerCase();
  return privateIPAddress === undefined ? undefined : canonicalAddress(privateIPAddress);
}
