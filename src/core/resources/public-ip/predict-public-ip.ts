/** How Azure will show public IPs that we write: with an address each, and with defaults filled in. */
import type { Family, PublicIP } from "../../model/arm.ts";
import { placeholderAddress } from "../placeholder-address.ts";

/** Reserved and for documentation: no real address is among them, nor one that the Azure emulator gives. */
const PLACEHOLDER_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "252.0.0.0/8", IPv6: "2001:db8::/64" };

/** `present`: all that are there before. */
export function predictPublicIPs(bodies: readonly PublicIP[], present: Iterable<PublicIP>): PublicIP[] {
  const taken = new Set<string>();
  for (const { properties } of bodies.some(isUnaddressed) ? [...present, ...bodies] : [])
    if (properties.ipAddress !== undefined) taken.add(properties.ipAddress);
  return bodies.map((body) => {
    const { properties } = body;
    const family = properties.publicIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
    const ipAddress = properties.ipAddress ?? placeholderAddress(PLACEHOLDER_BLOCKS[family], body.id, taken);
    taken.add(ipAddress);
    return { ...body, properties: { idleTimeoutInMinutes: 4, ipAddress, ...properties } };
  });
}

function isUnaddressed({ properties }: PublicIP): boolean {
  return properties.ipAddress === undefined;
}
