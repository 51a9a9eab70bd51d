/** IP addresses and CIDR blocks as numbers, for both families. */

export type Family = 4 | 6;

export interface Block {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
  readonly length: number;
  /** The text names the block's first address (10.0.0.0/24, not 10.0.0.1/24). */
  readonly aligned: boolean;
}

const BITS = { 4: 32, 6: 128 } as const;

export function parseAddress(text: string): { family: Family; value: bigint } | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): { family: Family; value: bigint } | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  let value = 0;
  for (const part of match.slice(1)) {
    if (Number(part) > 255) return undefined;
    value = value * 256 + Number(part);
  }
  return { family: 4, value: BigInt(value) };
}

function parseIpv6(text: string): { family: Family; value: bigint } | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...(Array(Math.max(missing, 0)).fill("0") as string[]), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return { family: 6, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
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

/** The longest run of zero groups becomes `::`. */
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

export function contains(block: Block, address: { family: Family; value: bigint }): boolean {
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
