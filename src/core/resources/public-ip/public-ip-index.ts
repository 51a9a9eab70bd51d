/** The public IPs of one resource group by what they are looked for: one pass, remembered as long as the list lives. */
import type { PublicIP } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { servicesOf } from "./public-ip-tags.ts";

export interface PublicIPIndex {
  /** By name in lower case. */
  readonly byName: ReadonlyMap<string, PublicIP>;
  /** By address in its canonical spelling. */
  readonly byAddress: ReadonlyMap<string, PublicIP>;
  /** By the key of each Service that the tags list, in lower case. */
  readonly byService: ReadonlyMap<string, readonly PublicIP[]>;
}

const indexes = new WeakMap<readonly PublicIP[], PublicIPIndex>();

export function publicIPIndex(publicIPs: readonly PublicIP[]): PublicIPIndex {
  const known = indexes.get(publicIPs);
  if (known !== undefined) return known;
  const byService = new Map<string, PublicIP[]>();
  for (const publicIP of publicIPs) {
    for (const key of servicesOf(publicIP) ?? []) {
      const list = byService.get(key.toLowerCase()) ?? [];
      byService.set(key.toLowerCase(), [...list, publicIP]);
    }
  }
  const index: PublicIPIndex = {
    byName: new Map(publicIPs.map((publicIP) => [publicIP.name.toLowerCase(), publicIP])),
    byAddress: new Map(publicIPs.map((publicIP) => [canonicalAddress(publicIP.properties.ipAddress ?? ""), publicIP])),
    byService,
  };
  indexes.set(publicIPs, index);
  return index;
}
