/** Allocates from the cluster's ranges: cluster IPs and node ports. The Service kind decides what it needs. */
import { formatAddress, parseAddress, parseBlock, type Block } from "../../shared/cidr.ts";
import type { Draws } from "./contract.ts";

export type IpFamily = "IPv4" | "IPv6";

export function familyOf(address: string): IpFamily | undefined {
  const parsed = parseAddress(address);
  return parsed === undefined ? undefined : parsed.family === 4 ? "IPv4" : "IPv6";
}

export interface ServiceRanges {
  /** The first is the cluster's primary family. */
  readonly families: readonly IpFamily[];
  readonly cidrs: Readonly<Partial<Record<IpFamily, Block>>>;
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
  const block = ranges.cidrs[family];
  return block === undefined ? undefined : randomAddress(block, taken, draws);
}

/** A free host address; never the network address, nor (IPv4) the broadcast address. */
export function randomAddress(block: Block, taken: (ip: string) => boolean, draws: Draws): string | undefined {
  const size = Math.min(Number(block.last - block.first) + 1, 2 ** 31) - 2;
  const start = draws.integer(size);
  for (let step = 0; step < size; step++) {
    const ip = formatAddress(block.family, block.first + 1n + BigInt((start + step) % size));
    if (!taken(ip)) return ip;
  }
  return undefined;
}

/** A free node port, or undefined when all are in use. */
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
  const ipv4 = parseBlock("10.0.0.0/16");
  const ipv6 = parseBlock("fd00:10::/112");
  if (ipv4 === undefined || ipv6 === undefined) throw new Error("unreachable: the ranges are constants");
  return dualStack
    ? { families: ["IPv4", "IPv6"], cidrs: { IPv4: ipv4, IPv6: ipv6 } }
    : { families: ["IPv4"], cidrs: { IPv4: ipv4 } };
}
