/**
 * What one Service wants of the shared security group, as data.
 * Made by `desired-security-group.ts`, put in by `merge-security-group.ts`.
 */
import type { Family } from "../../model/arm.ts";
import type { Owner } from "../../outcome.ts";

export interface AccessRule {
  readonly family: Family;
  readonly access: "Allow" | "Deny";
  /** ARM spelling: `Tcp`, `Udp` or `*`. */
  readonly protocol: string;
  /** CIDRs, or one service tag. */
  readonly sources: readonly string[];
  /** Empty: all ports. */
  readonly ports: readonly number[];
  /** Addresses that this Service opens. */
  readonly destinations: readonly string[];
  /**
   * Under the Service's own name, whatever `ownRules` says: for addresses that nothing but the name of the rule tells
   * to be the Service's once they are gone, and for denials of some ports.
   */
  readonly own?: true;
}

/** Closes all ports of its addresses. */
export function isWideDenial({ access, ports }: AccessRule): boolean {
  return access === "Deny" && ports.length === 0;
}

/** Closes some ports only: the others may be another Service's. */
export function isNarrowDenial({ access, ports }: AccessRule): boolean {
  return access === "Deny" && ports.length > 0;
}

/** What one Service wants open. */
export interface Opening {
  readonly owner: Owner;
  /** In this order new rules get their priorities. */
  readonly rules: readonly AccessRule[];
  /** Rules under the Service's own name instead of rules shared by content. */
  readonly ownRules: boolean;
}

/** At most one per owner goes into a merge. */
export interface SecurityGroupFragment extends Opening {
  /** Addresses that are, or were, this Service's, canonically spelt: nothing but `rules` and `others` may open them. */
  readonly addresses: readonly string[];
  /** What other Services want for addresses that they share with this one; their own fragment is more recent. */
  readonly others: readonly Opening[];
  /** Rules that releases up to 1.28 of the incumbent left for this Service go too. */
  readonly cleanLegacy: boolean;
  /** All that it changes is which nodes rules name: no edit of another client is overwritten by it. */
  readonly followsNodes?: true;
  readonly tags: Readonly<Record<string, string>>;
  readonly systemTags: readonly string[];
}

/** The addresses that decide what a Service opens. */
export interface ServiceAddresses {
  /** Of its frontends. */
  readonly current: Readonly<Record<Family, readonly string[]>>;
  /**
   * What it had and gives up now: earlier frontends', those in its status, those of nodes that left its pools. Each as
   * Azure or the status tells, never as the user may write.
   */
  readonly released: readonly string[];
  /** Of the nodes that its pools hold. */
  readonly nodes: Readonly<Record<Family, readonly string[]>>;
}
