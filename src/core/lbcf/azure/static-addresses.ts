/**
 * Which `static` addresses of a BackendGroup may enter a pool of `lbcf-azure`. A user who may write a group chooses them, and what
 * receives a load balancer's traffic need not be theirs; so none may, unless the operator lists them by the flag
 * `--lbcf-static-addresses`. Addresses of pods and nodes are the cluster's own and are not asked for here; what a webhook
 * driver does with `static` is that driver's to decide.
 *
 *   an entry             | allows
 *   ---------------------|---------------------------------------------------------
 *   10.1.0.0/16, 10.1.0.4 | these addresses in every namespace
 *   shop=10.2.0.0/24     | these addresses in groups of the namespace `shop`
 *   *, shop=*            | every address, in all namespaces or in that one
 */
import { type Address, type Cidr, contains, formatAddress, parseAddress, parseCidr } from "../../util/cidr.ts";

interface Allowed {
  /** `undefined`: every namespace. */
  readonly namespace: string | undefined;
  /** `undefined`: every address. */
  readonly block: Cidr | undefined;
}

export type StaticAddresses = readonly Allowed[];

export const NO_STATIC_ADDRESSES: StaticAddresses = [];
export const ANY_STATIC_ADDRESS: StaticAddresses = [{ namespace: undefined, block: undefined }];

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A list such as `shop=10.2.0.0/24,10.1.0.4`. */
export function parseStaticAddresses(text: string): StaticAddresses | { readonly mistake: string } {
  const all: Allowed[] = [];
  for (const entry of text.split(",").map((each) => each.trim())) {
    const at = entry.indexOf("=");
    const namespace = at < 0 ? undefined : entry.slice(0, at);
    const addresses = entry.slice(at + 1);
    const block = addresses === "*" ? undefined : blockOf(addresses);
    const isNamespace = namespace === undefined || NAMESPACE.test(namespace);
    if (!isNamespace || (block !== undefined && "problem" in block)) {
      return { mistake: `"${entry}" is no address, block or *, nor NAMESPACE= before one: write shop=10.2.0.0/24` };
    }
    all.push({ namespace, block });
  }
  return all;
}

function blockOf(text: string): Cidr | { readonly problem: string } {
  const address = parseAddress(text);
  return parseCidr(address === undefined ? text : `${text}/${address.family === "IPv6" ? 128 : 32}`);
}

/** Why the address may not be used in that namespace; `undefined` when it may. */
export function staticRefusal(allowed: StaticAddresses, of: string, address: Address): string | undefined {
  const isAllowed = allowed.some(
    ({ namespace, block }) =>
      (namespace === undefined || namespace === of) && (block === undefined || contains(block, address)),
  );
  if (isAllowed) return undefined;
  const text = formatAddress(address);
  return (
    `static address ${text} is not allowed in namespace "${of}": select pods, or have the operator add ` +
    `${of}=${text} to --lbcf-static-addresses`
  );
}
