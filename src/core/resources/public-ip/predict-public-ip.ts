/** How Azure will show a public IP that we write: with an address, and with defaults filled in. */
import type { Family, PublicIP } from "../../model/arm.ts";
import { placeholderAddress } from "../placeholder-address.ts";

/** Reserved and for documentation: no real address is among them, nor one that the Azure emulator gives. */
const PLACEHOLDER_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "252.0.0.0/8", IPv6: "2001:db8::/64" };

export function predictPublicIP(body: PublicIP): PublicIP {
  const family = body.properties.publicIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
  return {
    ...body,
    properties: {
      idleTimeoutInMinutes: 4,
      ipAddress: placeholderAddress(PLACEHOLDER_BLOCKS[family], body.id),
      ...body.properties,
    },
  };
}
