/**
 * What one Service wants of the shared security group, as data.
 * Who makes it: `desired-access.ts`. Who puts it in: `merge-security-group.ts`.
 */
import type { Family } from "../arm.ts";
import type { Owner } from "../service/service-intent.ts";

export interface AccessRule {
  readonly family: Family;
  readonly access: "Allow" | "Deny";
  /** ARM spelling: `Tcp`, `Udp` or `*`. */
  readonly protocol: string;
  /** Sorted; CIDRs or one service tag. */
  readonly sources: readonly string[];
  readonly ports: readonly number[];
  /** Addresses that this Service opens. */
  readonly destinations: readonly string[];
}

export interface AccessFragment {
  readonly owner: Owner;
  readonly rules: readonly AccessRule[];
  /** Addresses that are, or were, this Service's: nothing but `rules` and `others` may open them. */
  readonly addresses: readonly string[];
  /** What other Services want for addresses that they share with this one: stays open. */
  readonly others: readonly AccessRule[];
  /** Rules under the Service's own name instead of rules shared by content. */
  readonly ownRules: boolean;
  readonly tags: Readonly<Record<string, string>>;
}
