/**
 * Where webhooks may go. Any user who may create a LoadBalancerDriver chooses its url, and the controller calls it from
 * its own place in the network.
 *
 *   the url leads to                                        | no list     | with a list
 *   --------------------------------------------------------|-------------|------------------------
 *   an address in a block of the list                       |             | allowed
 *   loopback, link-local, multicast, unspecified addresses, | refused     | refused
 *     and Azure's 168.63.129.16                             |             |
 *   a host that the list names                              |             | allowed
 *   anything else                                           | allowed     | refused
 *
 * The address counts, not only the name: a name may resolve to anything.
 */
import { type Cidr, contains, formatCidr, parseAddress, parseCidr } from "../../util/cidr.ts";
import { blocksOf, specialBlock, unmapped } from "../objects/special-addresses.ts";

export interface WebhookHosts {
  /** In lower case; `*.suffix` stands for every name that ends in `.suffix`, `*` for every host. */
  readonly names: readonly string[];
  readonly blocks: readonly Cidr[];
}

const NAME = /^\*$|^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A list such as `*.svc,10.0.0.0/8`. */
export function parseWebhookHosts(text: string): WebhookHosts | { readonly mistake: string } {
  const names: string[] = [];
  const blocks: Cidr[] = [];
  for (const entry of text.split(",").map((each) => each.trim().toLowerCase())) {
    const block = parseCidr(parseAddress(entry) === undefined ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`);
    if (!("problem" in block)) blocks.push(block);
    else if (NAME.test(entry) && !/^[\d.]+$/.test(entry)) names.push(entry);
    else return { mistake: `"${entry}" is neither a host name, *.suffix, an address nor a block such as 10.0.0.0/8` };
  }
  return { names, blocks };
}

/** Where the controller and its drivers run on one machine. */
export const LOCAL_HOSTS: WebhookHosts = { names: ["*"], blocks: blocksOf("127.0.0.0/8", "::1/128") };

/** Why the webhook may not be sent there; `undefined` when it may. `address`: what `host` resolved to. */
export function hostRefusal(hosts: WebhookHosts | undefined, host: string, address: string): string | undefined {
  const parsed = parseAddress(address.replace(/%.*$/, ""));
  if (parsed === undefined) return `${address} is no address`;
  const where = host === address ? address : `${host} (${address})`;
  if (hosts?.blocks.some((block) => contains(block, unmapped(parsed))) === true) return undefined;
  const refused = specialBlock(parsed);
  if (refused !== undefined) {
    return `${where} is ${refused.what}, where no driver is called: add ${formatCidr(refused.block)} to --lbcf-webhook-hosts`;
  }
  if (hosts === undefined || hosts.names.some((name) => isNamed(name, host.toLowerCase()))) return undefined;
  return `${where} is not in --lbcf-webhook-hosts`;
}

function isNamed(name: string, host: string): boolean {
  if (name === "*") return true;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}
