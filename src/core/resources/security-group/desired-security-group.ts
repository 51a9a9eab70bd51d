/**
 * What one Service wants of the security group, as a fragment: the rules that it opens, the addresses that it decides
 * about, and what other Services want for those. Depends on the Services and their addresses; of the group itself only
 * on which addresses of nodes it opens.
 *
 * An address is claimed, so that rules for it that no Service wants go, only if it is known to be the Service's or the
 * cluster's: as Azure has it on a frontend or in a pool, as the status shows it, or as a Node has it. Whatever else the
 * Service has opened is in rules under its own name.
 */
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { Service } from "../../model/kubernetes.ts";
import type { Owner } from "../../outcome.ts";
import { canonicalAddress, familyOfPrefix } from "../../util/cidr.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import { isOwnEntry, ownEntries, membersOf } from "../backend-pool/desired-backend-pool.ts";
import type { PoolsInput } from "../managed-pools.ts";
import { nodeAddresses } from "../../backends/eligible-nodes.ts";
import { desiredAccessRules, narrowWhere, opensOnNodes } from "./access-rules.ts";
import {
  type AccessRule,
  isNarrowDenial,
  isWideDenial,
  type Opening,
  type SecurityGroupFragment,
  type ServiceAddresses,
} from "./fragment.ts";
import { accessRuleOf, securityGroupIndex } from "./security-rules.ts";
import { openForOthers } from "./open-for-others.ts";
import { nodeSharersOf, openingOf, type Sharing, sharersOf } from "./shared-addresses.ts";

export interface SecurityGroupInput
  extends Sharing, Pick<ObservedAzure, "securityGroup">, Pick<PoolsInput, "nodes" | "loadBalancers" | "members"> {
  readonly service: Service;
}

/** How the rules may be written: as desired, or as the incumbent and earlier sharers leave them. */
export interface RuleForm {
  /** `shared`: under names by content, where the Service should have rules under its own. */
  readonly names: "desired" | "shared";
  /** Of all ports, or of the Service's, whatever is desired. */
  readonly denials: "desired" | "wide" | "narrow";
}

export const DESIRED_FORM: RuleForm = { names: "desired", denials: "desired" };

interface SecurityGroupOptions {
  /** The Service is not what was last applied. */
  readonly changed: boolean;
  readonly form?: RuleForm;
}

export function desiredSecurityGroup(
  input: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
  { changed, form = DESIRED_FORM }: SecurityGroupOptions,
): SecurityGroupFragment {
  const { owner } = intent;
  const lands = opensOnNodes(intent);
  const shown = new Set(ingressOf(input.service));
  const additional = intent.additionalPublicIPs.map(canonicalAddress).filter((address) => shown.has(address));
  const held = [...addresses.current.IPv4, ...addresses.current.IPv6, ...additional].map(canonicalAddress);
  const claim = claimAddresses(input, owner, addresses, { held, lands, changed });
  const others = form.denials === "wide" ? claim.others : narrowedAt(claim.others, held);
  return fragmentOf(input, openingIn(form, input, intent, addresses), { ...claim, others });
}

function openingIn(
  { names, denials }: RuleForm,
  input: SecurityGroupInput,
  intent: ServiceIntent,
  addresses: ServiceAddresses,
): Opening {
  const { owner, access } = intent;
  const isShared = (address: string): boolean =>
    sharersOf(input, owner.uid, new Set([canonicalAddress(address)])).length > 0;
  const isNarrow = denials === "desired" ? narrowWhere(isShared) : (): boolean => denials === "narrow";
  const rules = desiredAccessRules(intent, { ...addresses, isNarrow });
  if (names === "desired") return { owner, rules, ownRules: access.ownRules };
  return { owner, rules: rules.map(withSharedName), ownRules: false };
}

/** There is no shared rule that denies some ports only. */
function withSharedName(rule: AccessRule): AccessRule {
  const { own: _, ...shared } = rule;
  return isNarrowDenial(rule) ? rule : shared;
}

/** Where this Service is, others close their own ports only. */
function narrowedAt(others: readonly Opening[], held: readonly string[]): readonly Opening[] {
  const here = new Set(held);
  return others.map((opening) => ({
    ...opening,
    rules: opening.rules.flatMap((rule) => {
      if (!isWideDenial(rule)) return [rule];
      const destinations = rule.destinations.filter((address) => !here.has(canonicalAddress(address)));
      return destinations.length === 0 ? [] : [{ ...rule, destinations }];
    }),
  }));
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

/** The Service gives up some addresses and goes on elsewhere: what it has open there under its own name stays. */
export function partlyAbsentSecurityGroup(
  input: SecurityGroupInput,
  owner: Owner,
  released: readonly string[],
): SecurityGroupFragment {
  const nowhere = { IPv4: [], IPv6: [] };
  const absent = absentSecurityGroup(input, owner, { current: nowhere, nodes: nowhere, released });
  const left = new Set(released.map(canonicalAddress));
  return { ...absent, rules: ownRulesOf(input, owner, (address) => !left.has(address)), cleanLegacy: false };
}

/** As they stand, at those of their addresses. */
export function ownRulesOf(
  { securityGroup }: Pick<SecurityGroupInput, "securityGroup">,
  { base }: Owner,
  isAsked: (address: string) => boolean,
): AccessRule[] {
  if (securityGroup === undefined) return [];
  const { own, managed } = securityGroupIndex(securityGroup);
  return (own.get(base.toLowerCase()) ?? []).flatMap((name): AccessRule[] => {
    const { rule, destinations } = managed.get(name) ?? {};
    const here = [...(destinations?.keys() ?? [])].filter(isAsked);
    const family = familyOfPrefix(here[0] ?? "");
    return rule === undefined || family === undefined ? [] : [{ ...accessRuleOf(rule, family, here), own: true }];
  });
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

/**
 * The addresses that this Service decides about, and what others want for them. An address shared with a Service that cannot
 * be parsed is left alone, since that Service is too.
 */
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
  const unreadable = new Set(openings.flatMap(({ service, opening }) => (opening === undefined ? [service] : [])));
  const isSpared = (address: string): boolean =>
    unreadable.size > 0 && sharersOf(input, owner.uid, new Set([address])).some((service) => unreadable.has(service));
  const claimed = new Set([
    ...[...own].filter((address) => !isSpared(address)),
    ...([...unreadable].some((service) => nodeSharers.has(service)) ? [] : nodeAddresses),
  ]);
  const others = new Map(
    openings.flatMap(({ opening }) => (opening === undefined ? [] : [[opening.owner.uid, opening]])),
  );
  const wanted = [...others.values(), ...openForOthers(input, owner, { addresses: claimed, nodes: nodeAddresses })];
  return { addresses: [...claimed], others: wanted.flatMap((opening) => within(opening, claimed)) };
}

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
 * What shared rules for its node ports open, of the cluster's nodes alone: another cluster may have the same node port.
 * Nodes that have gone are in the Service's own rules, which need no claim.
 */
function atItsNodePorts(input: SecurityGroupInput): readonly string[] {
  const { service, securityGroup } = input;
  if (securityGroup === undefined) return [];
  const { openers, managed } = securityGroupIndex(securityGroup);
  const ports = service.spec.ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : String(nodePort)));
  const names = new Set(ports.flatMap((port) => openers.get(port) ?? []));
  if (names.size === 0) return [];
  const known = knownNodeAddresses(input);
  return [...names].flatMap((name) =>
    [...(managed.get(name)?.destinations.keys() ?? [])].filter((address) => known.has(address)),
  );
}

/** Of the cluster's nodes, and of their entries in its pools. */
function knownNodeAddresses(input: SecurityGroupInput): ReadonlySet<string> {
  const entries = input.loadBalancers.flatMap((loadBalancer) => {
    const own = ownEntries(input.nodes, membersOf(input, loadBalancer));
    return (loadBalancer.properties.backendAddressPools ?? [])
      .flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? [])
      .filter((entry) => isOwnEntry(entry, own))
      .map(({ properties }) => canonicalAddress(properties.ipAddress ?? ""));
  });
  return new Set([...nodeAddresses(input.nodes).keys(), ...entries]);
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
