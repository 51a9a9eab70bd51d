/** The public IPs of one resource group by what they are looked for: one pass, remembered as long as the list lives. */
import type { PublicIP } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { memo } from "../../util/memo.ts";
import { servicesOf } from "../../model/tags.ts";

export interface PublicIPIndex {
  /** By name in lower case. */
  readonly byName: ReadonlyMap<string, PublicIP>;
  /** By address in its canonical spelling. */
  readonly byAddress: ReadonlyMap<string, PublicIP>;
  /** By the key of each Service that the tags list, in lower case. */
  readonly byService: ReadonlyMap<string, readonly PublicIP[]>;
}

export const publicIPIndex: (publicIPs: readonly PublicIP[]) => PublicIPIndex = memo((publicIPs) => {
  const byService = new Map<string, PublicIP[]>();
  for (const publicIP of publicIPs) {
    for (const key of servicesOf(publicIP) ?? []) {
      const list = byService.get(key.toLowerCase()) ?? [];
      byService.set(key.toLowerCase(), [...list, publicIP]);
    }
  }
  return {
    byName: new Map(publicIPs.map((publicIP) => [publicIP.name.toLowerCase(), publicIP])),
    byAddress: new Map(publicIPs.map((publicIP) => [canonicalAddress(publicIP.properties.ipAddress ?? ""), publicIP])),
    byService,
  };
});
