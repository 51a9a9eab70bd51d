/** The private link service that a Service asks for, refused where Azure has none. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { PLACEMENT } from "./annotations/placement.ts";
import { PRIVATE_LINK } from "./annotations/private-link.ts";
import { RULES } from "./annotations/rules.ts";
import type { PrivateLinkIntent, ServiceIntent } from "./service-intent.ts";

/** What two Services that share one may both say about it. */
const SHARED_KEYS: readonly string[] = [PRIVATE_LINK.create.key, PRIVATE_LINK.resourceGroup.key];

type Frontend = Pick<ServiceIntent, "scope" | "families" | "subnet" | "floatingIP">;

export function parsePrivateLink(
  config: ClusterConfig,
  frontend: Frontend,
  read: AnnotationReader,
): PrivateLinkIntent | undefined {
  if (!read.isOn(PRIVATE_LINK.create)) return undefined;
  refuseWhereImpossible(config, frontend, read);
  const addresses = read.get(PRIVATE_LINK.addresses) ?? [];
  return {
    name: read.get(PRIVATE_LINK.name),
    resourceGroup: read.get(PRIVATE_LINK.resourceGroup) ?? config.privateLinkServiceResourceGroup,
    subnet: read.get(PRIVATE_LINK.subnet) ?? frontend.subnet ?? config.subnetName,
    addressCount: parseCount(addresses, read),
    addresses,
    fqdns: read.get(PRIVATE_LINK.fqdns) ?? [],
    proxyProtocol: read.isOn(PRIVATE_LINK.proxyProtocol),
    visibility: read.get(PRIVATE_LINK.visibility) ?? [],
    autoApproval: read.get(PRIVATE_LINK.autoApproval) ?? [],
    details: Object.values(PRIVATE_LINK)
      .filter((annotation) => !SHARED_KEYS.includes(annotation.key) && read.raw(annotation) !== undefined)
      .map(({ key }) => key),
  };
}

/**
 * The resource group of the private link service that a Service asks for, `undefined` where it asks for none. Readable
 * also where the rest of the Service is not, so that a Service can always be cleaned up.
 */
export function privateLinkGroup(
  { metadata: { annotations = {} } }: Service,
  config: ClusterConfig,
): string | undefined {
  const { create, resourceGroup } = PRIVATE_LINK;
  if (create.kind.read(annotations[create.key] ?? "").value !== true) return undefined;
  return resourceGroup.kind.read(annotations[resourceGroup.key] ?? "").value ?? config.privateLinkServiceResourceGroup;
}

/** Blank counts as absent. */
function parseCount(addresses: readonly string[], read: AnnotationReader): number {
  const { addressCount } = PRIVATE_LINK;
  const written = read.raw(addressCount)?.trim() ?? "";
  const count = written === "" ? 1 : (read.get(addressCount) ?? addresses.length);
  if (count >= addresses.length) return count;
  read.reject(
    "InvalidAnnotation",
    `${PRIVATE_LINK.addresses.key}: ${addresses.join(", ")} are ${addresses.length} addresses, more than ` +
      `${addressCount.key} (${count}) allows: set that to "${addresses.length}", or name fewer`,
  );
  return addresses.length;
}

function refuseWhereImpossible(config: ClusterConfig, frontend: Frontend, read: AnnotationReader): void {
  const { key } = PRIVATE_LINK.create;
  const refuse = (why: string, fix: string): void =>
    read.reject("PrivateLinkServiceNotPossible", `${key}: "true" cannot be served: ${why}: ${fix}, or remove ${key}`);
  if (config.sku === "basic") refuse("Azure has no private link service on Basic load balancers", "use Standard");
  if (config.poolType === "nodeIP") {
    refuse(
      "Azure has no private link service on a load balancer with pools of IP addresses",
      'set loadBalancerBackendPoolConfigurationType of the cloud config to "nodeIPConfiguration"',
    );
  }
  if (frontend.scope === "external" && frontend.floatingIP) {
    refuse(
      "Azure has none on a public frontend with floating IP",
      `set ${PLACEMENT.internal.key}: "true" or ${RULES.disableFloatingIP.key}: "true"`,
    );
  }
  if (!frontend.families.includes("IPv4")) {
    refuse("a private link service needs an IPv4 frontend", "add IPv4 to spec.ipFamilies");
  }
}

/** With it, every connection through the private link service begins with a header, which a health check port refuses. */
export function speaksProxyProtocol(read: AnnotationReader): boolean {
  return read.isOn(PRIVATE_LINK.create) && read.isOn(PRIVATE_LINK.proxyProtocol);
}
