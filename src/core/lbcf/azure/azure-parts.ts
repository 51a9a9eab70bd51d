/**
 * What one LoadBalancer of LBCF owns in Azure: frontend, rules, probes and pool, as the same kind of fragment that a
 * Service has, so that both can share a load balancer. `azure-public-ip.ts` has its public IP.
 */
import type { Frontend, LoadBalancingRule, Probe } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { loadBalancerPartId, subnetId } from "../../model/ids.ts";
import type { LoadBalancerFragment } from "../../resources/load-balancer/fragment.ts";
import { ruleName } from "../../model/names.ts";
import type { AzureRule } from "./azure-rules.ts";
import { azurePublicIPId } from "./azure-public-ip.ts";
import { type AzureAttributes, azureOwner, type AzureTarget, baseOfObject, type ObjectKey } from "./azure-spec.ts";

export interface AzurePartsInput {
  readonly key: ObjectKey;
  readonly config: ClusterConfig;
  readonly target: AzureTarget;
  readonly attributes: AzureAttributes;
  readonly zones: readonly string[];
}

/** The incumbent's figures for a TCP probe. */
const PROBE_PACE = { intervalInSeconds: 5, probeThreshold: 2 };
const IDLE_MINUTES = 4;

export function azureLoadBalancerId(
  { networkSubscriptionId }: ClusterConfig,
  { resourceGroup, name }: AzureTarget,
): string {
  const provider = "providers/Microsoft.Network/loadBalancers";
  return `/subscriptions/${networkSubscriptionId}/resourceGroups/${resourceGroup}/${provider}/${name}`;
}

export function azureParts(input: AzurePartsInput): LoadBalancerFragment {
  const { key, config, target, attributes } = input;
  const id = azureLoadBalancerId(config, target);
  const frontend = frontendPart(input);
  const frontendName = frontend?.name ?? (attributes.frontend?.kind === "named" ? attributes.frontend.name : "");
  const owner = azureOwner(key, config);
  const parts = attributes.rules.map((rule) => rulePart(input, id, frontendName, rule));
  return {
    owner,
    shell: {
      id,
      name: target.name,
      location: config.location,
      sku: { name: "Standard" },
      ...(config.extendedLocation && { extendedLocation: config.extendedLocation }),
      tags: {},
      systemTags: [],
    },
    frontends: frontend === undefined ? [] : [frontend],
    probes: parts.map(({ probe }) => probe),
    rules: parts.map(({ rule }) => rule),
    pools: [target.pool],
    releases: [],
    disposable: undefined,
  };
}

/** The fragment of a deleted LoadBalancer: it owns nothing. */
export function absentParts(key: ObjectKey, config: ClusterConfig): LoadBalancerFragment {
  const owner = azureOwner(key, config);
  return {
    owner,
    shell: undefined,
    frontends: [],
    probes: [],
    rules: [],
    pools: [],
    releases: [],
    disposable: undefined,
  };
}

/** Public and internal frontends have different names: Azure cannot convert one into the other. */
export function ownFrontendName(key: ObjectKey, { clusterName }: ClusterConfig, kind: "public" | "internal"): string {
  return `${baseOfObject(clusterName, key)}-${kind}`;
}

function frontendPart({ key, config, attributes, zones }: AzurePartsInput): Frontend | undefined {
  switch (attributes.frontend?.kind) {
    case "public":
      return {
        name: ownFrontendName(key, config, "public"),
        properties: { publicIPAddress: { id: azurePublicIPId(key, config) } },
      };
    case "internal": {
      const isZonal = config.extendedLocation === undefined && !config.azureStack && zones.length > 0;
      const subnet = { id: subnetId(config, config.subnetName) };
      const properties = { subnet, privateIPAllocationMethod: "Dynamic" };
      return { name: ownFrontendName(key, config, "internal"), ...(isZonal && { zones }), properties };
    }
    case "named":
    case undefined:
      return undefined;
  }
}

function rulePart(
  { key, config, target }: AzurePartsInput,
  id: string,
  frontend: string,
  { protocol, frontendPort, backendPort, probe: wanted }: AzureRule,
): { rule: LoadBalancingRule; probe: Probe } {
  const naming = { base: baseOfObject(config.clusterName, key), subnet: undefined, families: ["IPv4"] as const };
  const name = ruleName(naming, protocol, frontendPort, "IPv4");
  const { path, port, protocol: probeProtocol } = wanted;
  const probe: Probe = {
    name,
    properties: { protocol: probeProtocol, port, ...(path !== undefined && { requestPath: path }), ...PROBE_PACE },
  };
  const rule: LoadBalancingRule = {
    name,
    properties: {
      protocol: protocol === "UDP" ? "Udp" : "Tcp",
      frontendPort,
      backendPort,
      frontendIPConfiguration: { id: loadBalancerPartId(id, "frontendIPConfigurations", frontend) },
      backendAddressPool: { id: loadBalancerPartId(id, "backendAddressPools", target.pool) },
      probe: { id: loadBalancerPartId(id, "probes", name) },
      enableFloatingIP: false,
      ...(protocol === "TCP" && { enableTcpReset: true }),
      loadDistribution: "Default",
      idleTimeoutInMinutes: IDLE_MINUTES,
      disableOutboundSnat: config.disableOutboundSnat,
    },
  };
  return { rule, probe };
}
