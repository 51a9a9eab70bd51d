/**
 * What one Service needs of the security group, and whether it has it already. Depends on the Service and its
 * addresses alone; whatever else stands in the group is left to its owners.
 *
 * A Service that has not changed is settled with what it has, as long as that opens exactly what it wants: rules that
 * should be its own may still be shared ones, and rules of releases up to 1.28 may still be there. Both are put right
 * by its next write, so that taking over a cluster writes nothing.
 */
import { canonicalAddress } from "../../util/cidr.ts";
import type { Service } from "../../model/kubernetes.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { type Owner, type Rejection, rejectionIn } from "../../outcome.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import type { SecurityGroupFragment, Opening, ServiceAddresses } from "./fragment.ts";
import { desiredSecurityGroup, opensOnNodes } from "./desired-security-group.ts";
import { mergeSecurityGroup, NO_GROUP } from "./merge-security-group.ts";
import { securityGroupIndex } from "./security-group-index.ts";
import { nodeSharersOf, openingOf, type Sharing, sharersOf } from "./shared-addresses.ts";

export type { ServiceAddresses } from "./fragment.ts";

export type AccessDecision =
  | { readonly kind: "settled" }
  | { readonly kind: "act"; readonly fragment: SecurityGroupFragment }
  | { readonly kind: "reject"; readonly rejection: Rejection };

interface SecurityGroupInput extends Sharing, Pick<ObservedAzure, "securityGroup"> {
  readonly service: Service;
}

/** `changed`: the Service is not what was last applied. @design reconcileSecurityGroup */
export function reconcileSecurityGroup(
  world: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
  { changed }: { readonly changed: boolean },
): AccessDecision {
  const rules = desiredSecurityGroup(intent, addresses);
  if (world.securityGroup === undefined)
    return rules.length === 0 ? { kind: "settled" } : { kind: "reject", rejection: NO_GROUP };
  const lands = opensOnNodes(intent);
  const held = [...addresses.current.IPv4, ...addresses.current.IPv6, ...intent.additionalPublicIPs];
  const claim = claimAddresses(world, intent.owner, addresses, { held, lands, changed });
  const fragment = fragmentOf(world, { owner: intent.owner, rules, ownRules: intent.access.ownRules }, claim);
  if (!changed && asItStands(fragment).some((lenient) => decide(world, lenient).kind === "settled")) {
    return { kind: "settled" };
  }
  return decide(world, fragment);
}

/** What may stand until the Service changes: rules of old, and shared rules in place of its own. */
function asItStands(fragment: SecurityGroupFragment): readonly SecurityGroupFragment[] {
  const withLegacy = { ...fragment, cleanLegacy: false };
  return fragment.ownRules ? [withLegacy, { ...withLegacy, ownRules: false }] : [withLegacy];
}

/** The Service wants nothing any more: all that opens its addresses goes, except for those who share them. */
export function releaseSecurityGroup(
  world: SecurityGroupInput,
  owner: Owner,
  addresses: ServiceAddresses,
): AccessDecision {
  if (world.securityGroup === undefined) return { kind: "settled" };
  const held = [...addresses.current.IPv4, ...addresses.current.IPv6];
  const claim = claimAddresses(world, owner, addresses, { held, lands: false, changed: true });
  return decide(world, fragmentOf(world, { owner, rules: [], ownRules: false }, claim));
}

function decide({ securityGroup }: SecurityGroupInput, fragment: SecurityGroupFragment): AccessDecision {
  const merged = mergeSecurityGroup(securityGroup, [fragment]);
  const rejection = rejectionIn(merged);
  if (rejection !== undefined) return { kind: "reject", rejection };
  return merged.outcome.kind === "unchanged" ? { kind: "settled" } : { kind: "act", fragment };
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
  world: SecurityGroupInput,
  owner: Owner,
  { released, nodes }: ServiceAddresses,
  { held, lands, changed }: { readonly held: readonly string[]; readonly lands: boolean; readonly changed: boolean },
): Claim {
  // whoever only gives back an address names no nodes
  const former = lands || (changed && canonicalNodes(nodes).length > 0) ? atItsNodePorts(world) : [];
  const own = new Set([...held, ...released, ...former].map(canonicalAddress));
  const isOnNodes = lands || (changed ? isAnythingOnNodes(world, nodes) : hasRulesOnNodes(world, nodes));
  const nodeAddresses = isOnNodes ? canonicalNodes(nodes) : [];
  const sharers = new Set(sharersOf(world, owner.uid, own));
  const nodeSharers = new Set(nodeAddresses.length === 0 ? [] : nodeSharersOf(world, owner.uid));

  const openings = [...sharers, ...nodeSharers].map((service) => ({
    service,
    opening: openingOf(service, world, nodes),
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

/** An address shared with a Service that nobody can read is left alone, since that Service is too. */
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
 * What rules for its node ports open: nodes, also those that have gone, whose addresses nothing tells any more. A node
 * port is one Service's alone, so a rule that has one of them was made for it, with whatever other ports it had then.
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

/** Nobody speaks for another Service about addresses of its alone. */
function within(opening: Opening, addresses: ReadonlySet<string>): readonly Opening[] {
  const rules = opening.rules.flatMap((rule) => {
    const destinations = rule.destinations.filter((address) => addresses.has(canonicalAddress(address)));
    return destinations.length === 0 ? [] : [{ ...rule, destinations }];
  });
  return rules.length === 0 ? [] : [{ ...opening, rules }];
}
