/**
 * What one Service wants of one public IP, as data: several Services may share it.
 * Made by `desired-public-ip.ts` and `desired-public-ips.ts`, put in by `merge-public-ip.ts`.
 */
import type { Family, PublicIP } from "../../model/arm.ts";
import type { Owner } from "../../outcome.ts";

export type PublicIPFragment =
  /** The Service uses it: create it where `create` allows that, bind the Service to it, keep its settings. */
  | {
      readonly kind: "present";
      readonly owner: Owner;
      readonly family: Family;
      /** The body to create; absent where it must exist already. */
      readonly create: PublicIP | undefined;
      /** What one of ours must have; a person's is left as it is. */
      readonly sku: "Standard" | undefined;
      /** `undefined`: leave as it is; `""`: remove. */
      readonly dnsLabel: string | undefined;
      readonly tags: Readonly<Record<string, string>>;
      /** Prefixes of tags that survive although they are not configured; empty: every tag survives. */
      readonly systemTags: readonly string[];
      /** `undefined`: leave as they are. */
      readonly ipTags: readonly IPTag[] | undefined;
    }
  /** The Service uses it no longer: unbind it, and delete it where no Service is left and the controller made it. */
  | {
      readonly kind: "absent";
      readonly owner: Owner;
      /** What else holds the address, so that it stays though no Service uses it. */
      readonly keptBy: string | undefined;
      /** The Service's deletion protection keeps it, bound to the Service's name. */
      readonly isProtected?: boolean;
    };

export function absentPublicIP(owner: Owner, keptBy: string | undefined, isProtected = false): PublicIPFragment {
  return { kind: "absent", owner, keptBy, ...(isProtected && { isProtected }) };
}

export interface IPTag {
  readonly type: string;
  readonly value: string;
}
