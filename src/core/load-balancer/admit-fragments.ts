/**
 * Which fragments of a batch can stand in a load balancer together. Whoever cannot keeps what it has there, and that
 * may stand in the way of others; so it goes on until all that are left can.
 */
import type { LoadBalancer } from "../arm.ts";
import type { Rejection } from "../service/service-intent.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { frontendOf, indexOf, type LoadBalancerIndex } from "./load-balancer-index.ts";
import { refusePortClashes } from "./port-clashes.ts";
import { refuseMovesOfShared } from "./shared-frontends.ts";

type Batch = readonly LoadBalancerFragment[];

export interface Admission {
  readonly accepted: Batch;
  readonly refused: readonly { readonly owner: string; readonly rejection: Rejection }[];
  /** Decided on what has changed since. */
  readonly stale: readonly string[];
}

/** `batch` in the order in which it is to be served. */
export function admitFragments(seen: LoadBalancer, batch: Batch): Admission {
  const index = indexOf(seen);
  const rejections = new Map<LoadBalancerFragment, Rejection>();
  const stale = new Set<LoadBalancerFragment>();
  for (;;) {
    const left = batch.filter((fragment) => !rejections.has(fragment) && !stale.has(fragment));
    const refused = refusals(seen, index, left);
    for (const fragment of left) {
      const rejection = refused.get(fragment.owner.base.toLowerCase());
      if (rejection !== undefined) rejections.set(fragment, rejection);
    }
    const accepted = left.filter((fragment) => !rejections.has(fragment));
    for (const fragment of staleIn(index, accepted)) stale.add(fragment);
    if (accepted.length < left.length || accepted.some((fragment) => stale.has(fragment))) continue;
    return {
      accepted,
      refused: batch.flatMap((fragment) => {
        const rejection = rejections.get(fragment);
        return rejection === undefined ? [] : [{ owner: fragment.owner.key, rejection }];
      }),
      stale: [...stale].map(({ owner }) => owner.key),
    };
  }
}

function refusals(seen: LoadBalancer, index: LoadBalancerIndex, batch: Batch): Map<string, Rejection> {
  return new Map([
    ...refusePortClashes(index, batch),
    ...refuseMovesOfShared(index, batch),
    ...refuseOtherSku(seen, batch),
  ]);
}

/** A load balancer cannot change its SKU, and takes public IPs of its own SKU only. */
function refuseOtherSku(seen: LoadBalancer, batch: Batch): Map<string, Rejection> {
  const sku = (seen.sku?.name ?? "Basic").toLowerCase();
  const refused = new Map<string, Rejection>();
  for (const { owner, shell } of batch) {
    if (shell === undefined || shell.sku.name.toLowerCase() === sku) continue;
    const message =
      `load balancer "${seen.name}" has SKU ${sku}, but loadBalancerSku is ${shell.sku.name.toLowerCase()}: ` +
      `upgrade or delete it, or set loadBalancerName to another name`;
    refused.set(owner.base.toLowerCase(), { kind: "rejection", reason: "LoadBalancerSkuMismatch", message });
  }
  return refused;
}

/** Fragments whose rules name a frontend of somebody else that has gone since they were decided. */
function staleIn(index: LoadBalancerIndex, batch: Batch): Batch {
  const coming = new Set(batch.flatMap(({ frontends }) => frontends.map(({ name }) => name.toLowerCase())));
  return batch.filter(({ rules }) =>
    rules.some((rule) => {
      const name = frontendOf(rule.properties.frontendIPConfiguration);
      return name !== undefined && !index.frontends.has(name) && !coming.has(name);
    }),
  );
}
