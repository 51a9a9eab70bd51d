/** Addresses and ranges of both families, as far as validation and allocation need them. */
import { isIP, isIPv4, isIPv6 } from "node:net";

import type { Draws } from "./contract.ts";

export interface Cidr {
  readonly text: string;
  readonly base: bigint;
  readonly hostBits: number;
  readonly bits: 32 | 128;
}

export function isAddress(value: string): boolean {
  return isIP(value) !== 0 && !value.includes("%");
}

export function familyOf(address: string): "IPv4" | "IPv6" | undefined {
  if (isIPv4(address)) return "IPv4";
  return isIPv6(address) ? "IPv6" : undefined;
}

export function isCidr(value: string): boolean {
  return parseCidr(value) !== undefined;
}

export function parseCidr(value: string): Cidr | undefined {
  const [address = "", length = "", ...rest] = value.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length) || !isAddress(address)) return undefined;
  const bits = isIPv4(address) ? 32 : 128;
  const hostBits = bits - Number(length);
  if (hostBits < 0) return undefined;
  const number = toNumber(address);
  return { text: value, base: (number >> BigInt(hostBits)) << BigInt(hostBits), hostBits, bits };
}

export function contains(cidr: Cidr, address: string): boolean {
  if (!isAddress(address) || (isIPv4(address) ? 32 : 128) !== cidr.bits) return false;
  return toNumber(address) >> BigInt(cidr.hostBits) === cidr.base >> BigInt(cidr.hostBits);
}

/** A free host address; the network and (IPv4) broadcast addresses are never given out. */
export function randomAddress(cidr: Cidr, taken: (ip: string) => boolean, draws: Draws): string | undefined {
  const size = Math.min(2 ** cidr.hostBits, 2 ** 31) - 2;
  const start = draws.integer(size);
  for (let step = 0; step < size; step++) {
    const ip = toText(cidr.base + 1n + BigInt((start + step) % size), cidr.bits);
    if (!taken(ip)) return ip;
  }
  return undefined;
}

/** The n-th address of the range. */
export function nthAddress(cidr: Cidr, n: number): string {
  return toText(cidr.base + BigInt(n), cidr.bits);
}

function toNumber(address: string): bigint {
  if (isIPv4(address)) return address.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
  return groupsOf(address).reduce((number, group) => (number << 16n) | BigInt(group), 0n);
}

function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const plain = dotted
    ? `${dotted[1]}${hex(Number(dotted[2]) * 256 + Number(dotted[3]))}:${hex(Number(dotted[4]) * 256 + Number(dotted[5]))}`
    : address;
  const [head = "", tail] = plain.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? [] : Array<string>(8 - front.length - back.length).fill("0");
  return [...front, ...middle, ...back].map((group) => Number.parseInt(group, 16));
}

const hex = (group: number): string => group.toString(16);

function toText(number: bigint, bits: 32 | 128): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => hex(Number((number >> BigInt(112 - index * 16)) & 0xffffn)));
  return shortened(groups);
}

/** The longest run of zero groups becomes `::` (RFC 5952). */
function shortened(groups: readonly string[]): string {
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (groups[at + length] === "0") length++;
    if (length > best.length) best = { at, length };
  }
  if (best.at < 0) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}
