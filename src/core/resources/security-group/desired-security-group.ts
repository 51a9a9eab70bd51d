/**
 * What one Service wants of the security group, as a fragment: the rules that it opens, the addresses that it decides
 * about, and what other Services want for those. Depends on the Services and their addresses; of the group itself only
 * on which addresses of nodes it opens.
 */
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { Service } from "../../model/kubernetes.ts";
import type { Owner } from "../../outcome.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import { desiredAccessRules, opensOnNodes } from "./access-rules.ts";
import type { Opening, SecurityGroupFragment, ServiceAddresses } from "./fragment.ts";
import { securityGroupIndex } from "./security-group-index.ts";
import { nodeSharersOf, openingOf, type Sharing, sharersOf } from "./shared-addresses.ts";

export interface SecurityGroupInput extends Sharing, Pick<ObservedAzure, "securityGroup"> {
  readonly service: Service;
}

/** `changed`: the Service is not what was last applied. */
export function desiredSecurityGroup(
  input: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
  { changed }: { readonly changed: boolean },
): SecurityGroupFragment {
  const { owner, access } = intent;
  const lands = opensOnNodes(intent);
  const held = [...addresses.current.IPv4, ...addresses.current.IPv6, ...intent.additionalPublicIPs];
  const claim = claimAddresses(input, owner, addresses, { held, lands, changed });
  return fragmentOf(input, { owner, rules: desiredAccessRules(intent, addresses), ownRules: access.ownRules }, claim);
}

/** The Service wants nothing any more: all that opens its addresses goes, except for Services that share them. */
export function absentSecurityGroup(
  input: SecurityGroupInput,
  owner: Owner,
  addresses: ServiceAddresses,
): SecurityGroupFragment {
  const held = [...addresses.current.IPv4, ...addresses.current.IPv6];
  const claim = claimAddresses(input, owner, addresses, { held, lands: false, changed: true });
  return fragmentOf(input, { owner, rules: [], ownRules: false }, claim);
}

interface Claim {
  readonly addresses: readonly string[];
  readonly others: readonly Opening[];
}

function fragmentOf(
  { config }: SecurityGroupInput,
  opening: Opening,
  { addresses, others }: Claim,
): SecurityGroupFragment {
  return { ...opening, addresses, others, cleanLegacy: true, tags: config.tags, systemTags: config.systemTags };
}

/** The addresses that this Service decides about, and what others want for them. */
function claimAddresses(
  input: SecurityGroupInput,
  owner: Owner,
  { released, nodes }: ServiceAddresses,
  { held, lands, changed }: { readonly held: readonly string[]; readonly lands: boolean; readonly changed: boolean },
): Claim {
  // a caller that only gives back an address names no nodes
  const former = lands || (changed && canonicalNodes(nodes).length > 0) ? atItsNodePorts(input) : [];
  const own = new Set([...held, ...released, ...former].map(canonicalAddress));
  const isOnNodes = lands || (changed ? isAnythingOnNodes(input, nodes) : hasRulesOnNodes(input, nodes));
  const nodeAddresses = isOnNodes ? canonicalNodes(nodes) : [];
  const sharers = new Set(sharersOf(input, owner.uid, own));
  const nodeSharers = new Set(nodeAddresses.length === 0 ? [] : nodeSharersOf(input, owner.uid));

  const openings = [...sharers, ...nodeSharers].map((service) => ({
    service,
    opening: openingOf(service, input, nodes),
  }));
  const unreadable = openings.flatMap(({ service, opening }) => (opening === undefined ? [service] : []));
  const spared = new Set(unreadable.flatMap(ingressOf));
  const claimed = new Set([
    ...[...own].filter((address) => !spared.has(address)),
    ...(unreadable.some((service) => nodeSharers.has(service)) ? [] : nodeAddresses),
  ]);
  const others = new Map(
    openings.flatMap(({ opening }) => (opening === undefined ? [] : [[opening.owner.uid, opening]])),
  );
  return { addresses: [...claimed], others: [...others.values()].flatMap((opening) => within(opening, claimed)) };
}

/** An address shared with a Service that cannot be parsed is left alone, since that Service is too. */
function ingressOf({ status }: Service): readonly string[] {
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [canonicalAddress(ip)]));
}

/** A Service that just got its floating IP back has left rules for its node ports at the nodes' addresses. */
function hasRulesOnNodes({ service, securityGroup }: SecurityGroupInput, nodes: ServiceAddresses["nodes"]): boolean {
  if (securityGroup === undefined) return false;
  const { openers, managed } = securityGroupIndex(securityGroup);
  const names = service.spec.ports.flatMap(({ nodePort }) => openers.get(String(nodePort)) ?? []);
  if (names.length === 0) return false;
  const addresses = canonicalNodes(nodes);
  return names.some((name) => addresses.some((address) => managed.get(name)?.destinations.has(address)));
}

/**
 * What rules for its node ports open: nodes, also those that have gone, whose addresses are recorded nowhere else. A
 * node port is one Service's alone, so a rule that has one of them was made for it, with whatever other ports it had
 * then.
 */
function atItsNodePorts({ service, securityGroup }: SecurityGroupInput): readonly string[] {
  if (securityGroup === undefined) return [];
  const { openers, managed } = securityGroupIndex(securityGroup);
  const ports = service.spec.ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : String(nodePort)));
  const names = new Set(ports.flatMap((port) => openers.get(port) ?? []));
  return [...names].flatMap((name) => [...(managed.get(name)?.destinations.keys() ?? [])]);
}

/** A Service that changed may have had other node ports, which nothing tells any more. */
function isAnythingOnNodes({ securityGroup }: SecurityGroupInput, nodes: ServiceAddresses["nodes"]): boolean {
  if (securityGroup === undefined) return false;
  const { holders } = securityGroupIndex(securityGroup);
  return canonicalNodes(nodes).some((address) => holders.has(address));
}

function canonicalNodes(nodes: ServiceAddresses["nodes"]): readonly string[] {
  return [...nodes.IPv4, ...nodes.IPv6].map(canonicalAddress);
}

/** What another Service opens at these addresses; addresses that it has alone are left to its own fragment. */
function within(opening: Opening, addresses: ReadonlySet<string>): readonly Opening[] {
  const rules = opening.rules.flatMap((rule) => {
    const destinations = rule.destinations.filter((address) => addresses.has(canonicalAddress(address)));
    return destinations.length === 0 ? [] : [{ ...rule, destinations }];
  });
  return rules.length === 0 ? [] : [{ ...opening, rules }];
}
