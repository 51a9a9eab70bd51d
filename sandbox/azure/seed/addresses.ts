/**
 * The addresses of the seeded network: its ranges, and what each node has. With dual stack everything has an IPv6 range or
 * address beside the IPv4 one. Azure assigns from the fifth address of a subnet on, and so do nodes.
 */
import { nthAddress, parseBlock } from "../../shared/cidr.ts";
import { NAMES } from "./scope.ts";

interface Ranges {
  readonly ipv4: string;
  readonly ipv6: string;
}

const NETWORK: Ranges = { ipv4: "10.240.0.0/12", ipv6: "fd00:10::/32" };
const SUBNETS = {
  [NAMES.subnet]: { ipv4: "10.240.0.0/16", ipv6: "fd00:10:240::/64" },
  [NAMES.secondSubnet]: { ipv4: "10.241.0.0/16", ipv6: "fd00:10:241::/64" },
} as const satisfies Record<string, Ranges>;

const FIRST_HOST = 4;

export const SUBNET_NAMES = Object.keys(SUBNETS) as (keyof typeof SUBNETS)[];

export function networkPrefixes(dualStack: boolean): readonly string[] {
  return rangesOf(NETWORK, dualStack);
}

/** The key that Azure has for one range, or for several. */
export function subnetPrefixes(name: keyof typeof SUBNETS, dualStack: boolean): Readonly<Record<string, unknown>> {
  const ranges = SUBNETS[name];
  return dualStack ? { addressPrefixes: rangesOf(ranges, true) } : { addressPrefix: ranges.ipv4 };
}

function rangesOf({ ipv4, ipv6 }: Ranges, dualStack: boolean): readonly string[] {
  return dualStack ? [ipv4, ipv6] : [ipv4];
}

/** The node's address of a family, in the subnet of the nodes. */
export function nodeAddress(index: number, family: keyof Ranges): string {
  const block = parseBlock(SUBNETS[NAMES.subnet][family]);
  if (block === undefined) throw new Error(`${SUBNETS[NAMES.subnet][family]} is no range`);
  return nthAddress(block, index + FIRST_HOST);
}

/** The IPv6 configuration of a network interface, beside the IPv4 one, which is the primary. */
export function ipv6Configuration(properties: Readonly<Record<string, unknown>>): unknown {
  return { name: "ipconfig2", properties: { primary: false, privateIPAddressVersion: "IPv6", ...properties } };
}
