/**
 * Addresses in predictions, where Azure has not given one yet: the same resource gets the same one in every plan, unless another
 * resource has it. Two resources with one address would look like sharers of it.
 */
import { bitsOf, formatAddress, parseCidr } from "../util/cidr.ts";
import { md5 } from "../util/md5.ts";

/** More bits of a block are not used. */
const MOST_BITS = 24;
/** Of a subnet; Azure keeps the last one, too. */
const KEPT_BY_AZURE = 4;

/** An address of the block for the resource with this id, none of `taken` as long as one is free. */
export function placeholderAddress(block: string, id: string, taken: ReadonlySet<string>): string {
  const cidr = parseCidr(block);
  if ("problem" in cidr) return block;
  const { family, value, length } = cidr;
  const size = 2 ** Math.min(bitsOf(family) - length, MOST_BITS);
  const first = size > KEPT_BY_AZURE + 1 ? KEPT_BY_AZURE : 0;
  const places = Math.max(1, size - first - 1);
  const hash = Number.parseInt(md5(id.toLowerCase()).slice(0, 8), 16);
  const at = (place: number): string => formatAddress({ family, value: value + BigInt(first + (place % places)) });
  for (let tried = 0; tried < places; tried++) {
    const address = at(hash + tried);
    if (!taken.has(address)) return address;
  }
  return at(hash);
}
