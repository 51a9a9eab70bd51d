/** Where a Service wants to be reached: its families, pinned addresses, public IPs and what these look like. */
import type { Family } from "../model/arm.ts";
import { formatAddress, mayBePublic, parseAddress } from "../util/cidr.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { isReservedTag, overlayTags, parseTagList } from "../model/tags.ts";
import type { Service } from "../model/kubernetes.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { Annotation } from "./annotations/annotation.ts";
import { PLACEMENT } from "./annotations/placement.ts";
import type { PublicIPIntent, ServiceIntent } from "./service-intent.ts";

type AddressIntent = Pick<
  ServiceIntent,
  | "families"
  | "subnet"
  | "pinned"
  | "publicIPs"
  | "publicIPResourceGroup"
  | "dnsLabel"
  | "publicIPTags"
  | "ipTags"
  | "additionalPublicIPs"
>;

/** What the addresses of one family are read by. */
const KEYS = {
  IPv4: { pinned: PLACEMENT.ipv4, pipName: PLACEMENT.pipName, prefixId: PLACEMENT.pipPrefixId },
  IPv6: { pinned: PLACEMENT.ipv6, pipName: PLACEMENT.pipNameIPv6, prefixId: PLACEMENT.pipPrefixIdIPv6 },
} as const;
const EXTERNAL_ONLY: readonly Annotation<unknown>[] = [
  PLACEMENT.pipName,
  PLACEMENT.pipNameIPv6,
  PLACEMENT.pipPrefixId,
  PLACEMENT.pipPrefixIdIPv6,
  PLACEMENT.dnsLabel,
];

export function parseAddresses(
  service: Service,
  config: ClusterConfig,
  scope: ServiceIntent["scope"],
  read: AnnotationReader,
): AddressIntent {
  const families = familiesOf(service);
  const pinned = parsePinned(service, families, read);
  const publicIPs = scope === "external" ? parsePublicIPs(families, pinned, read) : {};
  warnOfIdleKeys(scope, config, read);
  read.get(PLACEMENT.resourceGroup); // says what is wrong with it
  return {
    families,
    subnet: scope === "internal" ? read.get(PLACEMENT.internalSubnet) : undefined,
    pinned: scope === "internal" ? pinned : onlyUsed(pinned, publicIPs),
    publicIPs,
    publicIPResourceGroup: publicIPResourceGroup(service, config),
    dnsLabel: scope === "external" ? parseLabel(families, read) : undefined,
    publicIPTags: overlayTags(config.tags, parsePublicIPTags(read)),
    ipTags: parseIPTags(read),
    additionalPublicIPs: parseAdditional(read),
  };
}

export function familiesOf(service: Service): readonly Family[] {
  const families = service.spec.ipFamilies ?? [];
  return families.length > 0 ? families : ["IPv4"];
}

/** Readable also where the rest of the Service is not, so that a Service can always be cleaned up. */
export function publicIPResourceGroup(service: Service, config: ClusterConfig): string {
  const { value } = PLACEMENT.resourceGroup.kind.read(
    service.metadata.annotations?.[PLACEMENT.resourceGroup.key] ?? "",
  );
  return value ?? config.resourceGroup;
}

/** The annotation of the family, else `spec.loadBalancerIP` if it is of the family. */
function parsePinned(service: Service, families: readonly Family[], read: AnnotationReader): ServiceIntent["pinned"] {
  const written = service.spec.loadBalancerIP?.trim() ?? "";
  const fromSpec = parseAddress(written);
  if (written !== "" && fromSpec === undefined) {
    read.reject("InvalidLoadBalancerIP", `spec.loadBalancerIP: "${written}" is no address`);
  }
  const pinned: Partial<Record<Family, string>> = {};
  for (const family of ["IPv4", "IPv6"] as const) {
    const spec = fromSpec?.family === family ? formatAddress(fromSpec) : undefined;
    const address = read.get(KEYS[family].pinned) ?? spec;
    if (address === undefined) continue;
    if (families.includes(family)) pinned[family] = address;
    else
      read.warn("AnnotationHasNoEffect", `${address} has no effect: the Service has no ${family} in spec.ipFamilies`);
  }
  return pinned;
}

/** By name, from a prefix, by address, or one of its own: the first that is asked for. */
function parsePublicIPs(
  families: readonly Family[],
  pinned: ServiceIntent["pinned"],
  read: AnnotationReader,
): ServiceIntent["publicIPs"] {
  const isAlone = families.length === 1;
  return Object.fromEntries(
    families.map((family): [Family, PublicIPIntent] => {
      const name = read.get(KEYS[family].pipName) ?? (isAlone ? read.get(KEYS.IPv4.pipName) : undefined);
      const prefixId = read.get(KEYS[family].prefixId) ?? (isAlone ? read.get(KEYS.IPv4.prefixId) : undefined);
      const address = pinned[family];
      if (address !== undefined && (name !== undefined || prefixId !== undefined)) {
        const winner = name === undefined ? KEYS[family].prefixId : KEYS[family].pipName;
        read.warn("ConflictConfiguration", `the pinned address ${address} has no effect beside ${winner.key}`);
      }
      if (name !== undefined) return [family, { kind: "named", name }];
      if (prefixId !== undefined) return [family, { kind: "generated", prefixId }];
      if (address === undefined) return [family, { kind: "generated" }];
      checkPublic(address, read);
      return [family, { kind: "pinned", address }];
    }),
  );
}

function checkPublic(address: string, read: AnnotationReader): void {
  const parsed = parseAddress(address);
  if (parsed !== undefined && mayBePublic(parsed)) return;
  read.reject(
    "InvalidLoadBalancerIP",
    `the pinned address ${address} cannot be a public one: name the address of a public IP that exists, ` +
      `or make the Service internal with ${PLACEMENT.internal.key}: "true"`,
  );
}

/** They go into the status and are opened: an address that is a node's, a Service's or Azure's own must not be. */
function parseAdditional(read: AnnotationReader): readonly string[] {
  const addresses = [...new Set(read.get(PLACEMENT.additionalPublicIPs) ?? [])];
  const wrong = addresses.filter((address) => {
    const parsed = parseAddress(address);
    return parsed === undefined || !mayBePublic(parsed);
  });
  if (wrong.length === 0) return addresses;
  const { key } = PLACEMENT.additionalPublicIPs;
  read.reject(
    "InvalidAnnotation",
    `${key}: ${wrong.join(", ")} can never be public: remove what is not a public address`,
  );
  return [];
}

/** Azure gives a label to one public IP of a region, whatever its family. */
function parseLabel(families: readonly Family[], read: AnnotationReader): string | undefined {
  const label = read.get(PLACEMENT.dnsLabel);
  if (!label || families.length === 1) return label;
  read.reject(
    "InvalidAnnotation",
    `${PLACEMENT.dnsLabel.key}: "${label}" cannot be the label of a dual-stack Service, which has a public IP for IPv4 and ` +
      "another for IPv6, since Azure gives a label to one public IP only: remove the annotation, or make a Service of each " +
      "family (spec.ipFamilyPolicy: SingleStack) with a label of its own",
  );
  return undefined;
}

/** A pinned address that a name or a prefix outdoes pins nothing. */
function onlyUsed(pinned: ServiceIntent["pinned"], publicIPs: ServiceIntent["publicIPs"]): ServiceIntent["pinned"] {
  const entries = Object.entries(pinned) as [Family, string][];
  return Object.fromEntries(entries.filter(([family]) => publicIPs[family]?.kind === "pinned"));
}

/** More than that are no tags of a resource, however many of them are malformed. */
const MOST_PAIRS = 200;

function parsePairs(annotation: Annotation<unknown>, read: AnnotationReader): Readonly<Record<string, string>> {
  if (read.get(annotation) === undefined) return {};
  const written = (read.raw(annotation) ?? "").split(",", MOST_PAIRS + 1);
  if (written.length > MOST_PAIRS) {
    read.reject("InvalidAnnotation", `${annotation.key} has more than ${MOST_PAIRS} items: a public IP takes 50 tags`);
    return {};
  }
  const { tags, malformed } = parseTagList(written.join(","));
  for (const pair of malformed) {
    read.warn("InvalidAnnotation", `${annotation.key}: "${pair}" is not one key=value and is left out`);
  }
  return tags;
}

function parsePublicIPTags(read: AnnotationReader): Readonly<Record<string, string>> {
  const entries = Object.entries(parsePairs(PLACEMENT.pipTags, read));
  for (const [key] of entries.filter(([one]) => isReservedTag(one))) {
    const why = "is a tag by which the controller tells whose a public IP is, and is left out";
    read.warn("InvalidAnnotation", `${PLACEMENT.pipTags.key}: "${key}" ${why}`);
  }
  return Object.fromEntries(entries.filter(([key]) => !isReservedTag(key)));
}

function parseIPTags(read: AnnotationReader): ServiceIntent["ipTags"] {
  if (read.raw(PLACEMENT.pipIPTags) === undefined) return undefined;
  return Object.entries(parsePairs(PLACEMENT.pipIPTags, read)).map(([type, value]) => ({ type, value }));
}

function warnOfIdleKeys(scope: ServiceIntent["scope"], config: ClusterConfig, read: AnnotationReader): void {
  const isThere = (annotation: Annotation<unknown>): boolean => (read.raw(annotation) ?? "").trim() !== "";
  if (scope === "external" && isThere(PLACEMENT.internalSubnet)) {
    read.warnOfNoEffect(PLACEMENT.internalSubnet, `the Service is not internal (${PLACEMENT.internal.key})`);
  }
  if (scope === "internal") {
    for (const annotation of EXTERNAL_ONLY.filter(isThere)) {
      read.warnOfNoEffect(annotation, "an internal Service has no public IP");
    }
  }
  for (const annotation of [PLACEMENT.pipPrefixId, PLACEMENT.pipPrefixIdIPv6]) {
    if (scope === "external" && config.sku === "basic" && isThere(annotation)) {
      read.warnOfNoEffect(annotation, "Basic public IPs come from no prefix");
    }
  }
}
