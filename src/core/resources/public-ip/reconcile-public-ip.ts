/**
 * What one Service must have written to one public IP: that it uses it, or that it does so no longer. Which public IPs
 * those are is decided by `desired-public-ips.ts`; when each may be written, by `service/reconcile-service.ts`.
 */
import type { PublicIP } from "../../model/arm.ts";
import { reconciled, type Reconciled } from "../reconciled.ts";
import type { PublicIPFragment } from "./fragment.ts";
import { mergePublicIP } from "./merge-public-ip.ts";

/** `seen` is absent where the public IP is yet to be made. @design reconcilePublicIP */
export function reconcilePublicIP(
  id: string,
  seen: PublicIP | undefined,
  fragment: PublicIPFragment,
): Reconciled<"publicIP"> {
  const merged = mergePublicIP(seen, [fragment]);
  return reconciled(merged, () => ({ kind: "publicIP", id, fragment, why: whyOf(fragment, seen) }));
}

function whyOf(fragment: PublicIPFragment, seen: PublicIP | undefined): string {
  const { key } = fragment.owner;
  if (fragment.kind === "absent") return `${key} does not use it any more`;
  return `${seen === undefined ? "made for" : "used by"} ${key} (${fragment.family})`;
}
