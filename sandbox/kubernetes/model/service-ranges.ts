/** The address ranges that Services get their cluster IPs from, and the range of node ports. */
import { parseCidr, randomAddress, type Cidr } from "./cidr.ts";
import type { Draws } from "./contract.ts";

export type IpFamily = "IPv4" | "IPv6";

export interface ServiceRanges {
  /** The first is the cluster's primary family. */
  readonly families: readonly IpFamily[];
  readonly cidrs: Readonly<Partial<Record<IpFamily, Cidr>>>;
}

export const FIRST_NODE_PORT = 30_000;
export const LAST_NODE_PORT = 32_767;

/** A free address of the family, or undefined when the range is full. */
export function freeAddress(
  ranges: ServiceRanges,
  family: IpFamily,
  taken: (ip: string) => boolean,
  draws: Draws,
): string | undefined {
  const cidr = ranges.cidrs[family];
  return cidr === undefined ? undefined : randomAddress(cidr, taken, draws);
}

/** A node port that nobody has for this protocol, or undefined when all are in use. */
export function freeNodePort(taken: (port: number) => boolean, draws: Draws): number | undefined {
  const size = LAST_NODE_PORT - FIRST_NODE_PORT + 1;
  const start = draws.integer(size);
  for (let step = 0; step < size; step++) {
    const port = FIRST_NODE_PORT + ((start + step) % size);
    if (!taken(port)) return port;
  }
  return undefined;
}

/** The sandbox's ranges; single-stack is IPv4. */
export function sandboxRanges(dualStack: boolean): ServiceRanges {
  const ipv4 = parseCidr("10.0.0.0/16");
  const ipv6 = parseCidr("fd00:10::/112");
  if (ipv4 === undefined || ipv6 === undefined) throw new Error("unreachable: the ranges are constants");
  return dualStack
    ? { families: ["IPv4", "IPv6"], cidrs: { IPv4: ipv4, IPv6: ipv6 } }
    : { families: ["IPv4"], cidrs: { IPv4: ipv4 } };
}
