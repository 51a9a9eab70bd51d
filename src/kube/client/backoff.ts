/** How long to wait after the n-th failure in a row: doubling, capped, and spread so that many do not wake at once. */
import type { Backoff } from "../../core/retry.ts";
import type { Random } from "../../core/util/clock.ts";

/** Between half and the whole of `firstMs · 2^failures`, never above the cap. */
export function backoffMs({ firstMs, capMs }: Backoff, failures: number, random: Random): number {
  return Math.min(capMs, firstMs * 2 ** failures) * (0.5 + random() / 2);
}
