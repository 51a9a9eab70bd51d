/**
 * Which public IP one family of an external Service uses: one that a user made, found by name or address, or
 * one of the Service's own: under a generated name, or its former incarnation's; made if there is none.
 */
import type { Family, PublicIP } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { publicIPId } from "../../model/ids.ts";
import { namespaceOfKey } from "../../model/kubernetes.ts";
import { baseOfPublicIP, publicIPName } from "../../model/names.ts";
import { OURS } from "../../intent/annotations/ours.ts";
import { PLACEMENT } from "../../intent/annotations/placement.ts";
import type { PublicIPIntent, ServiceIntent } from "../../intent/service-intent.ts";
import type { Rejection } from "../../outcome.ts";
import { hasIPTags } from "./ip-tags.ts";
import type { PublicIPFragment } from "./fragment.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { memo } from "../../util/memo.ts";
import { CLUSTER_TAG, isOfCluster, isOtherClusters, KEPT_TAG, keptFor, sameKey, servicesOf } from "../../model/tags.ts";

/** The public IPs of one resource group by what they are looked for: one pass, remembered as long as the list lives. */
export interface PublicIPIndex {
  /** By name in lower case. */
  readonly byName: ReadonlyMap<string, PublicIP>;
  /** By address in its canonical spelling. */
  readonly byAddress: ReadonlyMap<string, PublicIP>;
  /** By the key of each Service that the tags list, in lower case. */
  readonly byService: ReadonlyMap<string, readonly PublicIP[]>;
  /** Without the tag that lists Services. */
  readonly untagged: readonly PublicIP[];
}

export const publicIPIndex: (publicIPs: readonly PublicIP[]) => PublicIPIndex = memo((publicIPs) => {
  const byService = new Map<string, PublicIP[]>();
  for (const publicIP of publicIPs) {
    for (const key of servicesOf(publicIP) ?? []) {
      const list = byService.get(key.toLowerCase()) ?? [];
      byService.set(key.toLowerCase(), [...list, publicIP]);
    }
  }
  return {
    byName: new Map(publicIPs.map((publicIP) => [publicIP.name.toLowerCase(), publicIP])),
    byAddress: new Map(publicIPs.map((publicIP) => [canonicalAddress(publicIP.properties.ipAddress ?? ""), publicIP])),
    byService,
    untagged: publicIPs.filter((publicIP) => servicesOf(publicIP) === undefined),
  };
});

export interface DesiredPublicIP {
  readonly family: Family;
  readonly id: string;
  readonly seen: PublicIP | undefined;
  readonly fragment: PublicIPFragment;
  /** It bears the right name but can never become what is asked for: it must go before another takes its name. */
  readonly mustBeReplaced: boolean;
}

export interface PublicIPInput {
  readonly intent: ServiceIntent;
  readonly config: ClusterConfig;
  readonly zones: readonly string[];
  /** All of the resource group that the Service's public IPs are in. */
  readonly publicIPs: readonly PublicIP[];
  /** What tells the public IP of the Service's former incarnation; absent: none is looked for. */
  readonly former?: FormerPublicIPs | undefined;
}

export interface FormerPublicIPs {
  /** Does a Service of the cluster have this base? */
  readonly isCurrent: (base: string) => boolean;
  /** Nothing of the Service is on any load balancer. */
  readonly isNew: boolean;
  /** Ids, in lower case, of the public IPs that the Service stands on. */
  readonly stoodOn: ReadonlySet<string>;
}

export function desiredPublicIP(input: PublicIPInput, family: Family): DesiredPublicIP | Rejection {
  const wanted = input.intent.publicIPs[family] ?? { kind: "generated" };
  const found = find(input, wanted, family);
  const seen = found?.properties.provisioningState === "Deleting" ? undefined : found; // its address goes with it
  if (wanted.kind === "generated") return decided(input, wanted, family, seen);
  return seen === undefined
    ? refuseMissing(input, wanted, family)
    : (refuse(input, wanted, seen, family) ?? decided(input, wanted, family, seen));
}

function decided(
  input: PublicIPInput,
  wanted: PublicIPIntent,
  family: Family,
  seen: PublicIP | undefined,
): DesiredPublicIP {
  const { intent, config } = input;
  const name = seen?.name ?? generatedName(input, wanted, family);
  const id = seen?.id ?? publicIPId(config, intent.publicIPResourceGroup, name);
  const isOurs = seen === undefined || servicesOf(seen) !== undefined;
  const fragment: PublicIPFragment = {
    kind: "present",
    owner: intent.owner,
    family,
    create: wanted.kind === "generated" ? newBody(input, family, { id, name, prefixId: wanted.prefixId }) : undefined,
    sku: config.sku === "standard" ? "Standard" : undefined,
    dnsLabel: intent.dnsLabel,
    tags: intent.publicIPTags,
    systemTags: config.systemTags,
    ipTags: config.enableIPTagMutation && isOurs ? intent.ipTags : undefined,
  };
  return { family, id, seen, fragment, mustBeReplaced: mustBeReplaced(input, wanted, family, seen) };
}

function find({ publicIPs, ...input }: PublicIPInput, wanted: PublicIPIntent, family: Family): PublicIP | undefined {
  const index = publicIPIndex(publicIPs);
  switch (wanted.kind) {
    case "pinned":
      return index.byAddress.get(wanted.address);
    case "named":
      return index.byName.get(wanted.name.toLowerCase());
    case "generated": {
      const own = index.byName.get(generatedName(input, wanted, family).toLowerCase());
      return own ?? findFormer({ publicIPs, ...input }, wanted, family);
    }
  }
}

/**
 * Names are made of the UID, so a Service that is created anew, from a backup or after its deletion, does not find its
 * public IP by name. It is the Service's if its tags say so: of this cluster, listed first, and made for a Service that is
 * not there any more. It stays the Service's for as long as that stands on it.
 */
function findFormer(
  { publicIPs, intent, config, former }: PublicIPInput,
  wanted: Extract<PublicIPIntent, { kind: "generated" }>,
  family: Family,
): PublicIP | undefined {
  if (former === undefined) return undefined;
  const { key, base } = intent.owner;
  const isFormer = (publicIP: PublicIP): boolean => {
    const madeFor = baseOfPublicIP(config.clusterName, publicIP.name);
    return (
      madeFor !== undefined &&
      madeFor !== base.toLowerCase() &&
      !former.isCurrent(madeFor) &&
      isOfCluster(publicIP, config.clusterName) &&
      sameKey(servicesOf(publicIP)?.[0] ?? "", key) &&
      (publicIP.properties.publicIPAddressVersion ?? "IPv4") === family &&
      (publicIP.sku?.name ?? "Basic").toLowerCase().startsWith(config.sku) &&
      (publicIP.properties.publicIPPrefix?.id ?? "").toLowerCase() === (wanted.prefixId ?? "").toLowerCase() &&
      (former.isNew || former.stoodOn.has(publicIP.id.toLowerCase()))
    );
  };
  const found = (publicIPIndex(publicIPs).byService.get(key.toLowerCase()) ?? []).filter(isFormer);
  const standing = found.filter(({ id }) => former.stoodOn.has(id.toLowerCase()));
  return (standing.length > 0 ? standing : found).toSorted((one, other) => (one.name < other.name ? -1 : 1))[0];
}

function generatedName(
  { intent, config }: Pick<PublicIPInput, "intent" | "config">,
  wanted: PublicIPIntent,
  family: Family,
): string {
  const prefixId = wanted.kind === "generated" ? wanted.prefixId : undefined;
  return publicIPName(config.clusterName, { base: intent.owner.base, families: intent.families }, family, prefixId);
}

/**
 * Neither the family nor, unless the config says otherwise, the IP tags of a public IP can be changed. Of others'
 * and shared ones, IP tags stay as they are: no address is taken away.
 */
function mustBeReplaced(
  { intent, config }: PublicIPInput,
  wanted: PublicIPIntent,
  family: Family,
  seen: PublicIP | undefined,
): boolean {
  const services = seen && servicesOf(seen);
  if (seen === undefined || services === undefined || wanted.kind !== "generated" || services.length > 1) return false;
  const hasOtherTags = !config.enableIPTagMutation && intent.ipTags !== undefined && !hasIPTags(seen, intent.ipTags);
  return hasOtherTags || (seen.properties.publicIPAddressVersion ?? "IPv4") !== family;
}

interface NewPublicIP {
  readonly id: string;
  readonly name: string;
  readonly prefixId: string | undefined;
}

function newBody(input: PublicIPInput, family: Family, { id, name, prefixId }: NewPublicIP): PublicIP {
  const { intent, config, zones } = input;
  const isStandard = config.sku === "standard";
  const isZonal = isStandard && config.extendedLocation === undefined && !config.azureStack && zones.length > 0;
  return {
    id,
    name,
    location: config.location,
    ...(config.extendedLocation && { extendedLocation: config.extendedLocation }),
    ...(isStandard && { sku: { name: "Standard" } }),
    ...(isZonal && { zones }),
    tags: { [CLUSTER_TAG]: config.clusterName },
    properties: {
      publicIPAddressVersion: family,
      publicIPAllocationMethod: isStandard || family === "IPv4" ? "Static" : "Dynamic",
      ...(intent.ipTags && { ipTags: intent.ipTags.map(({ type, value }) => ({ ipTagType: type, tag: value })) }),
      ...(isStandard && prefixId !== undefined && { publicIPPrefix: { id: prefixId } }),
    },
  };
}

type Chosen = Exclude<PublicIPIntent, { kind: "generated" }>;

/** The annotation or field that names a public IP of the user. */
export function keyOfPublicIP({ families }: ServiceIntent, { kind }: Chosen, family: Family): string {
  if (kind === "pinned") {
    const { key } = family === "IPv4" ? PLACEMENT.ipv4 : PLACEMENT.ipv6;
    return `${key} or spec.loadBalancerIP`;
  }
  return family === "IPv6" && families.length > 1 ? PLACEMENT.pipNameIPv6.key : PLACEMENT.pipName.key;
}

function refuseMissing({ intent }: PublicIPInput, wanted: Chosen, family: Family): Rejection {
  const group = intent.publicIPResourceGroup;
  const what = wanted.kind === "pinned" ? `with address ${wanted.address}` : `"${wanted.name}"`;
  const message =
    `${keyOfPublicIP(intent, wanted, family)}: there is no public IP ${what} in resource group "${group}": create it, or name its ` +
    `group in annotation ${PLACEMENT.resourceGroup.key}`;
  return { kind: "rejection", reason: "PublicIPNotFound", message };
}

/** Azure would refuse all of these too, but later, and for every Service of the load balancer. */
function refuse(
  { intent, config }: PublicIPInput,
  wanted: Chosen,
  seen: PublicIP,
  family: Family,
): Rejection | undefined {
  const subject = `${keyOfPublicIP(intent, wanted, family)}: public IP "${seen.name}"`;
  const version = seen.properties.publicIPAddressVersion ?? "IPv4";
  if (version !== family) {
    const message = `${subject} is ${version}, but the Service needs ${family}: name one of that family`;
    return { kind: "rejection", reason: "PublicIPFamily", message };
  }
  const sku = (seen.sku?.name ?? "Basic").toLowerCase();
  if (!sku.startsWith(config.sku)) {
    const message = `${subject} has SKU ${sku}, but loadBalancerSku is ${config.sku}: name one of that SKU`;
    return { kind: "rejection", reason: "PublicIPSku", message };
  }
  if (servicesOf(seen) !== undefined && isOtherClusters(seen, config.clusterName)) {
    const message = `${subject} belongs to another cluster (tag ${CLUSTER_TAG}): name one that does not`;
    return { kind: "rejection", reason: "PublicIPOfOtherCluster", message };
  }
  const former = keptFromNamespace(seen, intent.owner.key);
  if (former === undefined) return undefined;
  const message =
    `${subject} is kept for Service ${former} (annotation ${OURS.deletionProtection.key}), so only Services of its ` +
    `namespace may name it: use another address, or remove the tag ${KEPT_TAG} in Azure`;
  return { kind: "rejection", reason: "AddressTaken", message };
}

/** The Service of another namespace that a public IP is kept for. One that was there before may stay. */
export function keptFromNamespace(publicIP: PublicIP, key: string): string | undefined {
  const former = keptFor(publicIP);
  if (former === undefined || namespaceOfKey(former) === namespaceOfKey(key)) return undefined;
  return (servicesOf(publicIP) ?? []).some((one) => sameKey(one, key)) ? undefined : former;
}
