/**
 * What the brake withholds, as a list that an operator can read and release. Each write is one line; the hash of all
 * lines is what a release is bound to, so that nothing is released that was not shown.
 */
import { md5 } from "../util/md5.ts";

export interface WithheldWrites {
  readonly services: readonly WithheldService[];
  readonly members: readonly WithheldMembers[];
}

export interface WithheldService {
  /** `namespace/name`. */
  readonly service: string;
  readonly uid: string;
  /** Published addresses that it would lose, sorted. */
  readonly addresses: readonly string[];
}

export interface WithheldMembers {
  /** The pool's id in lower case. */
  readonly pool: string;
  /** Sorted. */
  readonly members: readonly string[];
}

export function addressWrite({ service, uid, addresses }: WithheldService): string {
  return `service ${service} ${uid} ${addresses.toSorted().join(",")}`;
}

export function memberWrite(pool: string, member: string): string {
  return `member ${pool.toLowerCase()} ${member}`;
}

export function isWithheld({ services, members }: WithheldWrites): boolean {
  return services.length + members.length > 0;
}

/** Sorted, one for each write. */
export function linesOf({ services, members }: WithheldWrites): string[] {
  const ofPools = members.flatMap(({ pool, members: names }) => names.map((name) => memberWrite(pool, name)));
  return [...services.map(addressWrite), ...ofPools].sort();
}

/** Of sorted lines. */
export function hashOf(lines: readonly string[]): string {
  return md5(lines.join("\n")).slice(0, 12);
}
