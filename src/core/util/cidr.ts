/**
 * Addresses and CIDR blocks of both families as numbers: parsed, printed in canonical form (RFC 5952), compared and
 * aggregated. Rule names are hashes of these forms, so they must never change.
 */

export type Family = "IPv4" | "IPv6";

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

export interface Cidr extends Address {
  /** Bits of the mask. `value` has no bit set beyond them. */
  readonly length: number;
}

export function bitsOf(family: Family): number {
  return family === "IPv4" ? 32 : 128;
}

const MOST_REMEMBERED = 50_000;

/** Memoised: merging pools of a thousand nodes asks for the same addresses repeatedly. */
function remembered<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    if (known.has(text)) return known.get(text) as Answer;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const found = answer(text);
    known.set(text, found);
    return found;
  };
}

/** `undefined` unless it is a bare address, without mask, zone, leading zeros or blanks. */
export function parseAddress(text: string): Address | undefined {
  const value = text.includes(":") ? parseIPv6(text) : parseIPv4(text);
  return value === undefined ? undefined : { family: text.includes(":") ? "IPv6" : "IPv4", value };
}

/** By character codes: a Service may name thousands of ranges. */
function parseIPv4(text: string): bigint | undefined {
  let value = 0;
  let part = -1;
  let parts = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    if (code === DOT) {
      if (part < 0) return undefined;
      value = value * 256 + part;
      part = -1;
      parts += 1;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9 || part === 0) return undefined; // a leading zero
    part = part < 0 ? digit : part * 10 + digit;
    if (part > 255) return undefined;
  }
  return parts === 4 ? BigInt(value) : undefined;
}

const DOT = 0x2e;
const ZERO = 0x30;

function parseIPv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [groupsOf(halves[0] ?? "", halves.length === 1), groupsOf(halves[1] ?? "", true)];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** The 16-bit groups of a run without `::`; the last run may end in a dotted IPv4 address. */
function groupsOf(run: string, isLast: boolean): number[] | undefined {
  if (run === "") return [];
  const parts = run.split(":");
  const dotted = isLast && parts.at(-1)?.includes(".") ? parseIPv4(parts.pop() ?? "") : 0n;
  if (dotted === undefined) return undefined;
  if (!parts.every((part) => /^[\da-f]{1,4}$/i.test(part))) return undefined;
  const groups = parts.map((part) => Number.parseInt(part, 16));
  return parts.length < run.split(":").length ? [...groups, Number(dotted >> 16n), Number(dotted & 0xffffn)] : groups;
}

export function formatAddress(address: Address): string {
  return address.family === "IPv4" ? formatIPv4(address.value) : formatIPv6(address.value);
}

function formatIPv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

function formatIPv6(value: bigint): string {
  if (value >> 32n === 0xffffn) return `::ffff:${formatIPv4(value & 0xffff_ffffn)}`;
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(16 * (7 - at))) & 0xffffn).toString(16));
  const gap = longestZeroRun(groups);
  if (gap.length < 2) return groups.join(":");
  return `${groups.slice(0, gap.start).join(":")}::${groups.slice(gap.start + gap.length).join(":")}`;
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

/** The canonical form of an address; other text is returned unchanged. */
export const canonicalAddress = remembered(spell);

function spell(text: string): string {
  const bare = text.replace(/\/(32|128)$/, "");
  const address = parseAddress(bare);
  if (address === undefined) return text;
  return text === bare || text.endsWith(`/${bitsOf(address.family)}`) ? formatAddress(address) : text;
}

export const familyOf = remembered((text): Family | undefined => parseAddress(text)?.family);

/** A block with its host bits zero, or what is wrong with the text, as the end of a sentence about it. */
export function parseCidr(text: string): Cidr | { readonly problem: string } {
  const [left = "", right = "", ...rest] = text.split("/");
  const address = rest.length === 0 ? parseAddress(left) : undefined;
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(right)) return { problem: "is no CIDR such as 10.0.0.0/8" };
  const length = Number(right);
  if (length > bitsOf(address.family)) return { problem: `has a mask beyond ${bitsOf(address.family)} bits` };
  const masked = maskOf(address.family, length) & address.value;
  const cidr = { family: address.family, value: masked, length };
  if (masked !== address.value) return { problem: `has host bits set: write ${formatCidr(cidr)}` };
  return cidr;
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr)}/${cidr.length}`;
}

function maskOf(family: Family, length: number): bigint {
  const bits = BigInt(bitsOf(family));
  return ((1n << BigInt(length)) - 1n) << (bits - BigInt(length));
}

export function contains(block: Cidr, address: Address): boolean {
  return block.family === address.family && (address.value & maskOf(block.family, block.length)) === block.value;
}

/** The fewest blocks of one family that cover the same addresses, in order of address. */
export function aggregate(blocks: readonly Cidr[]): Cidr[] {
  const sorted = [...blocks].sort((a, b) => compare(a.value, b.value) || a.length - b.length);
  const merged: Cidr[] = [];
  for (const block of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && last.length <= block.length && contains(last, block)) continue;
    merged.push(block);
    joinSiblings(merged);
  }
  return merged;
}

/** Replaces two halves of one block at the end of the list by that block, repeatedly. */
function joinSiblings(blocks: Cidr[]): void {
  for (;;) {
    const [left, right] = blocks.slice(-2);
    if (left === undefined || right === undefined || left.length !== right.length) return;
    const parent = { ...left, length: left.length - 1 };
    const isParent = (left.value & maskOf(left.family, parent.length)) === left.value;
    if (!isParent || !contains(parent, right)) return;
    blocks.splice(-2, 2, parent);
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const NOT_GLOBAL = ["0.0.0.0/32", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"];
const NOT_GLOBAL_V6 = ["::/128", "::1/128", "fe80::/10", "ff00::/8"];
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];
/** Azure's own address, the source of DHCP, DNS and health probes. */
const AZURE_WIRE = "168.63.129.16/32";

const NEVER_PUBLIC: readonly Cidr[] = [...NOT_GLOBAL, ...NOT_GLOBAL_V6, ...PRIVATE, AZURE_WIRE].flatMap((text) => {
  const block = parseCidr(text);
  return "problem" in block ? [] : [block];
});

/** Whether it can be the address of a public IP. */
export function mayBePublic(address: Address): boolean {
  return !NEVER_PUBLIC.some((block) => contains(block, address));
}
