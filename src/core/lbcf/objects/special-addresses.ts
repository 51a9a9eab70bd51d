/**
 * Addresses that mean something else on every machine, or reach what belongs to the machine or to Azure: no driver is
 * called there by default, and none is a backend.
 */
import { type Address, type Cidr, contains, parseCidr } from "../../util/cidr.ts";

export interface SpecialBlock {
  /** With its article, for messages. */
  readonly what: string;
  readonly block: Cidr;
}

const SPECIAL: readonly SpecialBlock[] = [
  ...named("a loopback address", "127.0.0.0/8", "::1/128"),
  ...named("a link-local address", "169.254.0.0/16", "fe80::/10"),
  ...named("an unspecified address", "0.0.0.0/8", "::/128"),
  ...named("a multicast or reserved address", "224.0.0.0/3", "ff00::/8"),
  ...named("Azure's own address", "168.63.129.16/32"),
];

function named(what: string, ...texts: readonly string[]): readonly SpecialBlock[] {
  return blocksOf(...texts).map((block) => ({ what, block }));
}

export function blocksOf(...texts: readonly string[]): readonly Cidr[] {
  return texts.flatMap((text) => {
    const block = parseCidr(text);
    return "problem" in block ? [] : [block];
  });
}

/** `undefined` for an ordinary address. */
export function specialBlock(address: Address): SpecialBlock | undefined {
  const plain = unmapped(address);
  return SPECIAL.find(({ block }) => contains(block, plain));
}

/** IPv4 addresses are also written as IPv6: `::ffff:127.0.0.1`. */
export function unmapped(address: Address): Address {
  const isMapped = address.family === "IPv6" && address.value >> 32n === 0xffffn;
  return isMapped ? { family: "IPv4", value: address.value - (0xffffn << 32n) } : address;
}
