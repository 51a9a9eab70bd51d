/**
 * Turns an `azure.json` (already parsed from JSON or YAML) into a `ClusterConfig` and a `CredentialConfig`, or a list of
 * everything that is wrong with it. Keys and defaults are the incumbent's; keys that it ignores silently get a warning.
 */
import { closestMatch } from "../util/text.ts";
import type { ClusterConfig, LoadBalancerLimits } from "./cluster-config.ts";
import { keyUse, KNOWN_KEYS } from "./config-keys.ts";
import { ConfigReader, isRecord } from "./config-reader.ts";
import { parseFleet } from "./parse-fleet.ts";
import { parseLoadBalancers } from "./parse-load-balancers.ts";
import type { CredentialConfig } from "./credential-config.ts";
import { isAzureStack, parseCredentials } from "./parse-credentials.ts";
import { overlayTags, parseTagList } from "../model/tags.ts";

interface ConfigSurroundings {
  /** `--cluster-name`. */
  readonly clusterName: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type ParsedConfig =
  | {
      readonly kind: "config";
      readonly config: ClusterConfig;
      readonly credentials: CredentialConfig;
      readonly warnings: readonly string[];
    }
  | { readonly kind: "invalid"; readonly errors: readonly string[]; readonly warnings: readonly string[] };

const PORTS = [1, 65_535] as const;

/** The values that select the service gateway, whose load balancers send traffic to pods. */
const GATEWAY = {
  serviceGatewayEnabled: "true",
  loadBalancerSku: "service",
  loadBalancerBackendPoolConfigurationType: "podip",
} as const;
type GatewayKey = keyof typeof GATEWAY;
const GATEWAY_KEYS = Object.keys(GATEWAY) as readonly GatewayKey[];

function isForGateway(read: ConfigReader, key: GatewayKey): boolean {
  return read.text(key).toLowerCase() === GATEWAY[key];
}

export function parseConfig(raw: unknown, surroundings: ConfigSurroundings): ParsedConfig {
  if (!isRecord(raw)) {
    return { kind: "invalid", errors: ["the cloud config is not an object of keys and values"], warnings: [] };
  }
  const read = new ConfigReader(raw);
  const credentials = parseCredentials(read, surroundings.environment);
  const { config, warnings: warningsAboutLoadBalancers } = parseCluster(read, surroundings.clusterName);
  read.flag("serviceGatewayEnabled", false);
  rejectUnsupported(read);
  const warnings = [
    ...warningsAboutKeys(Object.keys(raw)),
    ...warningsAboutValues(read),
    ...warningsAboutLoadBalancers,
  ];
  if (read.errors.length > 0) return { kind: "invalid", errors: read.errors, warnings };
  return { kind: "config", config, credentials, warnings };
}

function parseCluster(
  read: ConfigReader,
  clusterName: string,
): { readonly config: ClusterConfig; readonly warnings: readonly string[] } {
  const subscriptionId = read.required("subscriptionId");
  const resourceGroup = read.required("resourceGroup").toLowerCase();
  const sku = isForGateway(read, "loadBalancerSku")
    ? "standard"
    : read.choice("loadBalancerSku", ["standard", "basic"]);
  const vmType = read.choice("vmType", ["vmss", "standard", "vmssflex"]);
  read.choice("cloudConfigType", ["merge", "file", "secret"]);
  checkTogether(read, { sku, vmType, pools: poolType(read) });
  const { loadBalancers, warnings } = parseLoadBalancers(read, { sku, poolType: poolType(read), clusterName });
  const config: ClusterConfig = {
    clusterName,
    location: read.required("location").toLowerCase().replaceAll(" ", ""),
    subscriptionId,
    networkSubscriptionId: read.text("networkResourceSubscriptionID") || subscriptionId,
    resourceGroup,
    loadBalancerResourceGroup: read.groupName("loadBalancerResourceGroup") || resourceGroup,
    privateLinkServiceResourceGroup: read.groupName("privateLinkServiceResourceGroup") || resourceGroup,
    loadBalancerName: read.resourceName("loadBalancerName") || clusterName,
    loadBalancers,
    fleetMax: parseFleet(read, { sku, poolType: poolType(read), hasSeveral: loadBalancers.length > 0 }),
    sku,
    vmType,
    poolType: poolType(read),
    migratesPools: false,
    migratesByAction: read.flag("enableMigrateToIPBasedBackendPoolAPI", false),
    vnetName: read.resourceName("vnetName"),
    vnetResourceGroup: read.groupName("vnetResourceGroup") || resourceGroup,
    subnetName: read.resourceName("subnetName"),
    securityGroupName: read.resourceName("securityGroupName"),
    securityGroupResourceGroup: read.groupName("securityGroupResourceGroup") || resourceGroup,
    primaryVmSet: read.text(vmType === "standard" ? "primaryAvailabilitySetName" : "primaryScaleSetName"),
    excludeMasterFromStandardLB: read.flag("excludeMasterFromStandardLB", true),
    disableOutboundSnat: read.flag("disableOutboundSNAT", false),
    maximumLoadBalancerRuleCount: mostRules(read),
    loadBalancerLimits: read.numbers("loadBalancerLimits", limitsOf(sku, mostRules(read))),
    preConfiguredPools: read.choice("preConfiguredBackendPoolLoadBalancerTypes", [
      "none",
      "internal",
      "external",
      "all",
    ]),
    sharedProbe: sharedProbe(read),
    enableIPTagMutation: read.flag("enableIPTagMutationForExistingPublicIP", false),
    enableAdminState: read.flag("enableLoadBalancerAdminState", true),
    adminStateTaints: adminStateTaints(read),
    tags: overlayTags(parseTagList(read.text("tags")).tags, read.textMap("tagsMap")),
    nodeEventNamespaces: read.items("nodeEventNamespaces", ["default"]),
    addressSharing: read.choice("addressSharing", ["any", "namespace", "consent"]),
    systemTags: read.items("systemTags", []),
    extendedLocation: extendedLocation(read),
    azureStack: isAzureStack(read),
  };
  return { config, warnings };
}

/** Taints that come and go by themselves, or say "no new pods", are not for this: each change is a write to Azure. */
const TEMPORARY_TAINTS = [
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/network-unavailable",
];

function adminStateTaints(read: ConfigReader): readonly string[] {
  const keys = read.items("loadBalancerAdminStateTaints", []);
  for (const key of keys) {
    if (TEMPORARY_TAINTS.includes(key))
      read.errors.push(
        `loadBalancerAdminStateTaints has "${key}", which says nothing about traffic and comes and goes: remove it, probes cover it`,
      );
    else if (!/^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/.test(key))
      read.errors.push(
        `loadBalancerAdminStateTaints has "${key}": it takes keys of taints between commas, such as node.cloudprovider.kubernetes.io/shutdown`,
      );
  }
  return keys;
}

function mostRules(read: ConfigReader): number {
  return read.integer("maximumLoadBalancerRuleCount", 250, [0, 100_000]) || 250;
}

/** Azure's own. On Basic a user may have been given more rules, which `maximumLoadBalancerRuleCount` then says. */
function limitsOf(sku: ClusterConfig["sku"], rules: number): LoadBalancerLimits {
  const both = { rulesPerInterface: 300, backends: 500_000, requestBytes: 4 * 1024 * 1024 };
  return sku === "standard"
    ? { frontends: 600, rules: 1_500, ...both }
    : { frontends: 200, rules: Math.max(250, rules), ...both };
}

function poolType(read: ConfigReader): ClusterConfig["poolType"] {
  const key = "loadBalancerBackendPoolConfigurationType";
  return isForGateway(read, key) ? "nodeIP" : read.choice(key, ["nodeIPConfiguration", "nodeIP"]);
}

function sharedProbe(read: ConfigReader): ClusterConfig["sharedProbe"] {
  const mode = read.choice("clusterServiceLoadBalancerHealthProbeMode", ["servicenodeport", "shared"]);
  const port = read.integer("clusterServiceSharedLoadBalancerHealthProbePort", 10_256, PORTS);
  const path = read.path("clusterServiceSharedLoadBalancerHealthProbePath", "/healthz");
  return mode === "shared" ? { port, path } : undefined;
}

function extendedLocation(read: ConfigReader): ClusterConfig["extendedLocation"] {
  const [name, type] = [read.text("extendedLocationName"), read.text("extendedLocationType")];
  return name === "" || type === "" ? undefined : { name, type };
}

/** Values that are valid alone and invalid together. */
function checkTogether(
  read: ConfigReader,
  { sku, vmType, pools }: { readonly sku: string; readonly vmType: string; readonly pools: string },
): void {
  if (sku === "basic" && pools === "nodeIP") {
    read.errors.push(
      "loadBalancerBackendPoolConfigurationType is nodeIP, which only loadBalancerSku standard has: use nodeIPConfiguration",
    );
  }
  if (sku === "basic" && read.flag("disableOutboundSNAT", false)) {
    read.errors.push("disableOutboundSNAT is true, but only loadBalancerSku standard has it: set it to false");
  }
  if (vmType !== "vmss" && read.flag("disableAvailabilitySetNodes", false)) {
    read.errors.push(`disableAvailabilitySetNodes is true with vmType ${vmType}: it is for vmType vmss only`);
  }
}

/** Known settings that are not supported: ignoring them would break clusters that rely on them. */
function rejectUnsupported(read: ConfigReader): void {
  const gateway = GATEWAY_KEYS.filter((key) => isForGateway(read, key)).map((key) => `${key}: ${read.text(key)}`);
  if (gateway.length > 0) {
    read.errors.push(
      `${gateway.join(", ")}: the service gateway is not supported; use loadBalancerSku standard with ` +
        "loadBalancerBackendPoolConfigurationType nodeIP, or leave this cluster to its current controller",
    );
  }
}

function warningsAboutKeys(keys: readonly string[]): string[] {
  const unknown = keys.filter((key) => keyUse(key) === "unknown");
  const idle = keys.filter((key) => keyUse(key) === "noEffect");
  const idleWarning = `these keys of the cloud config have no effect here: ${idle.join(", ")}`;
  return [
    ...unknown.map((key) => `unknown key ${key} in the cloud config: did you mean ${closestMatch(key, KNOWN_KEYS)}?`),
    ...(idle.length > 0 ? [idleWarning] : []),
  ];
}

function warningsAboutValues(read: ConfigReader): string[] {
  const { malformed } = parseTagList(read.text("tags"));
  const isHalf = (read.text("extendedLocationName") === "") !== (read.text("extendedLocationType") === "");
  return [
    ...malformed.map((pair) => `tags: ${JSON.stringify(pair)} is not one key=value and is left out`),
    ...(isHalf ? ["extendedLocationName and extendedLocationType work only together: neither is used"] : []),
  ];
}
