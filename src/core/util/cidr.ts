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

/** By character codes too. `gap`: how many groups stand before `::`. */
function parseIPv6(text: string): bigint | undefined {
  const groups: number[] = [];
  let gap = -1;
  let at = 0;
  while (at < text.length) {
    if (text.charCodeAt(at) === COLON && text.charCodeAt(at + 1) === COLON) {
      if (gap !== -1) return undefined;
      gap = groups.length;
      at += 2;
      continue;
    }
    const isFirst = at === 0 || gap === groups.length;
    if (!isFirst && text.charCodeAt(at++) !== COLON) return undefined;
    const end = text.indexOf(":", at);
    const last = end === -1 ? text.length : end;
    const group = hexOf(text, at, last);
    if (group !== undefined) groups.push(group);
    else if (end !== -1 || !appendDotted(groups, text.slice(at))) return undefined;
    at = last;
  }
  const missing = 8 - groups.length;
  if (gap === -1 ? missing !== 0 : missing < 1) return undefined;
  if (gap !== -1) groups.splice(gap, 0, ...ZEROS.slice(0, missing));
  return joined(groups);
}

const COLON = 0x3a;
const ZEROS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0];

/** One to four hexadecimal digits. */
function hexOf(text: string, from: number, to: number): number | undefined {
  if (to === from || to - from > 4) return undefined;
  let value = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    const letter = (code | LOWER_BIT) - LETTER_A;
    const digit = code >= ZERO && code <= NINE ? code - ZERO : letter >= 0 && letter < 6 ? letter + 10 : -1;
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

const NINE = 0x39;
const LETTER_A = 0x61;
const LOWER_BIT = 0x20;

/** The last two groups may be written as an IPv4 address. */
function appendDotted(groups: number[], text: string): boolean {
  const dotted = parseIPv4(text);
  if (dotted === undefined) return false;
  groups.push(Number(dotted >> 16n), Number(dotted & 0xffffn));
  return true;
}

/** Eight groups as one number; by threes, because an operation on a bigint costs as much as twenty on numbers. */
function joined(groups: readonly number[]): bigint {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const high = (a * 0x10000 + b) * 0x10000 + c;
  const middle = (d * 0x10000 + e) * 0x10000 + f;
  return (BigInt(high) << 80n) | (BigInt(middle) << 32n) | BigInt(g * 0x10000 + h);
}

export function formatAddress(address: Address): string {
  return address.family === "IPv4" ? formatIPv4(address.value) : formatIPv6(address.value);
}

function formatIPv4(value: bigint): string {
  const bits = Number(value);
  return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
}

function formatIPv6(value: bigint): string {
  if (value >> 32n === 0xffffn) return `::ffff:${formatIPv4(value & 0xffff_ffffn)}`;
  const groups = [value >> 96n, value >> 64n, value >> 32n, value].flatMap((shifted) => {
    const bits = Number(BigInt.asUintN(32, shifted));
    return [(bits >>> 16).toString(16), (bits & 0xffff).toString(16)];
  });
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

/** Of an address, or of a block. */
export function familyOfPrefix(text: string): Family | undefined {
  return familyOf(text.split("/", 1)[0] ?? "");
}

/** A block with its host bits zero, or what is wrong with the text, as the end of a sentence about it. */
export function parseCidr(text: string): Cidr | { readonly problem: string } {
  const slash = text.indexOf("/");
  const address = slash === -1 ? undefined : parseAddress(text.slice(0, slash));
  const length = lengthOf(text, slash + 1);
  if (address === undefined || length === undefined) return { problem: "is no CIDR such as 10.0.0.0/8" };
  if (length > bitsOf(address.family)) return { problem: `has a mask beyond ${bitsOf(address.family)} bits` };
  const masked = maskOf(address.family, length) & address.value;
  const cidr = { family: address.family, value: masked, length };
  if (masked !== address.value) return { problem: `has host bits set: write ${formatCidr(cidr)}` };
  return cidr;
}

/** One to three digits up to the end, without leading zeros. */
function lengthOf(text: string, from: number): number | undefined {
  const digits = text.length - from;
  if (digits < 1 || digits > 3 || (digits > 1 && text.charCodeAt(from) === ZERO)) return undefined;
  let length = 0;
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    length = length * 10 + digit;
  }
  return length;
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr)}/${cidr.length}`;
}

const MASKS: Readonly<Record<Family, readonly bigint[]>> = { IPv4: masksOf(32), IPv6: masksOf(128) };

function masksOf(bits: number): readonly bigint[] {
  return Array.from({ length: bits + 1 }, (_, length) => ((1n << BigInt(length)) - 1n) << BigInt(bits - length));
}

function maskOf(family: Family, length: number): bigint {
  return MASKS[family][length] ?? 0n;
}

export function contains(block: Cidr, address: Address): boolean {
  return block.family === address.family && (address.value & maskOf(block.family, block.length)) === block.value;
}

/** The fewest blocks of one family that cover the same addresses, in order of address. */
export function aggregate(blocks: readonly Cidr[]): Cidr[] {
  const merged: Cidr[] = [];
  for (const block of inOrder(blocks)) {
    const last = merged.at(-1);
    if (last !== undefined && last.length <= block.length && contains(last, block)) continue;
    merged.push(block);
    joinSiblings(merged);
  }
  return merged;
}

/** Compared by their upper bits as numbers first, which is faster. */
function inOrder(blocks: readonly Cidr[]): Cidr[] {
  const keyed = blocks.map((block) => ({
    block,
    upper: Number(block.family === "IPv4" ? block.value : block.value >> 80n),
  }));
  keyed.sort((a, b) => a.upper - b.upper || compare(a.block.value, b.block.value) || a.block.length - b.block.length);
  return keyed.map(({ block }) => block);
}

/** Replaces two halves of one block at the end of the list by that block, repeatedly. */
function joinSiblings(blocks: Cidr[]): void {
  for (;;) {
    const left = blocks.at(-2);
    const right = blocks.at(-1);
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
