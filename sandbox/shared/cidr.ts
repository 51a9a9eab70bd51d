/**
 * IP addresses and CIDR blocks of both families as numbers. Which addresses and blocks are acceptable where is left to
 * the two models.
 */
import { isIP } from "node:net";

export type Family = 4 | 6;

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

export interface Block {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
  readonly length: number;
  /** The text names the block's first address (10.0.0.0/24, not 10.0.0.1/24). */
  readonly aligned: boolean;
}

const BITS = { 4: 32, 6: 128 } as const;

/** An address as `node:net` accepts it, without a zone. */
export function parseAddress(text: string): Address | undefined {
  const family = text.includes("%") ? 0 : isIP(text);
  if (family === 4) return { family, value: ipv4Value(text) };
  return family === 6 ? { family, value: ipv6Value(text) } : undefined;
}

export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

function ipv4Value(text: string): bigint {
  return BigInt(text.split(".").reduce((value, part) => value * 256 + Number(part), 0));
}

function ipv6Value(text: string): bigint {
  const [head = [], tail = []] = text.split("::").map(groupsOf);
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** The groups of one side of `::`; a dotted IPv4 ending counts as two. */
function groupsOf(half: string): string[] {
  if (half === "") return [];
  return half.split(":").flatMap((group) => {
    if (!group.includes(".")) return [group];
    const value = ipv4Value(group);
    return [(value >> 16n).toString(16), (value & 0xffffn).toString(16)];
  });
}

export function parseBlock(text: string): Block | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match && parseAddress(match[1] ?? "");
  const length = Number(match?.[2]);
  if (!address || length > BITS[address.family]) return undefined;
  const size = 1n << BigInt(BITS[address.family] - length);
  const first = address.value - (address.value % size);
  return { family: address.family, first, last: first + size - 1n, length, aligned: first === address.value };
}

export function formatAddress(family: Family, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  return compress(groups);
}

/** The longest run of zero groups becomes `::` (RFC 5952). */
function compress(groups: readonly string[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start === -1) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}

export function formatBlock(block: Block): string {
  return `${formatAddress(block.family, block.first)}/${block.length}`;
}

/** The n-th address of a block, from 0. */
export function nthAddress(block: Block, n: number): string {
  return formatAddress(block.family, block.first + BigInt(n));
}

export function contains(block: Block, address: Address): boolean {
  return block.family === address.family && address.value >= block.first && address.value <= block.last;
}

export function overlaps(left: Block, right: Block): boolean {
  return left.family === right.family && left.first <= right.last && right.first <= left.last;
}

/** The first pair of blocks that overlap, by index. Sorting makes it linear after n log n. */
export function firstOverlap(blocks: readonly Block[]): [number, number] | undefined {
  const order = blocks.map((_, index) => index).sort((left, right) => compareBlocks(blocks, left, right));
  for (let at = 1; at < order.length; at++) {
    const [left, right] = [order[at - 1] ?? 0, order[at] ?? 0];
    const [lower, upper] = [blocks[left], blocks[right]];
    if (lower && upper && overlaps(lower, upper)) return [Math.min(left, right), Math.max(left, right)];
  }
  return undefined;
}

function compareBlocks(blocks: readonly Block[], left: number, right: number): number {
  const [a, b] = [blocks[left], blocks[right]];
  if (!a || !b) return 0;
  if (a.family !== b.family) return a.family - b.family;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}
