/** Addresses in predictions, where Azure has not given one yet: the same resource always gets the same one. */
import { formatAddress, parseCidr } from "../util/cidr.ts";
import { md5 } from "../util/md5.ts";

const PLACES = 65_536;

/** An address of the block for the resource with this id; not one of the first, which Azure keeps for itself. */
export function placeholderAddress(block: string, id: string): string {
  const cidr = parseCidr(block);
  if ("problem" in cidr) return block;
  const bits = (cidr.family === "IPv4" ? 32 : 128) - cidr.length;
  const place = 256 + (Number.parseInt(md5(id.toLowerCase()).slice(0, 8), 16) % (PLACES - 512));
  const offset = bits >= 16 ? place : place % 2 ** bits;
  return formatAddress({ family: cidr.family, value: cidr.value + BigInt(offset) });
}
