/**
 * Every annotation of a Service that we know: the one table that the parser reads by, that misspelt keys are compared
 * with and that `docs/annotations.md` is made of (`npm run docs`). The `parse-*.ts` files read them.
 */
import {
  address,
  addresses,
  choice,
  dnsLabel,
  domainNames,
  exposureFlag,
  flag,
  gatewayFrontendId,
  integer,
  ipv4Addresses,
  list,
  prefixId,
  resourceGroupName,
  resourceName,
  subnetName,
  subscriptionIds,
  text,
  trimmedFlag,
  type ValueKind,
} from "./annotation-values.ts";
import type { DriftPolicy } from "./service-intent.ts";

export const PREFIX = "service.beta.kubernetes.io/";

/** Where a key comes from: the designs that this project implements, the incumbent's practice, or us. */
export type Origin = "design" | "incumbent" | "azlb";

export interface Annotation<Value> {
  readonly key: string;
  readonly kind: ValueKind<Value>;
  readonly byDefault: string;
  readonly effect: string;
  readonly origin: Origin;
}

function annotation<Value>(
  name: string,
  kind: ValueKind<Value>,
  byDefault: string,
  effect: string,
  origin: Origin = "incumbent",
): Annotation<Value> {
  return { key: PREFIX + name, kind, byDefault, effect, origin };
}

const PROBE_PROTOCOL = choice(["Tcp", "Http", "Https"], "Tcp");
const NO_HEALTHY_BACKENDS = choice(["AllProbedUp", "AllProbedDown"]);
const DISTRIBUTION = choice(["Default", "SourceIP", "SourceIPProtocol"]);
const PROBE_INTERVAL = integer(5);
const PROBE_NUMBER = integer(2);

export const PLACEMENT = {
  internal: annotation(
    "azure-load-balancer-internal",
    exposureFlag,
    "false",
    "The Service gets a private address on the internal load balancer instead of a public one.",
    "design",
  ),
  internalSubnet: annotation(
    "azure-load-balancer-internal-subnet",
    subnetName,
    "`subnetName` of the config",
    "Subnet, in the configured VNet, that the private address is taken from. Internal Services only.",
    "design",
  ),
  mode: annotation(
    "azure-load-balancer-mode",
    list("`__auto__`, or names of availability sets"),
    "the primary VM set",
    "Basic only: which VM set's load balancer serves it; of several, the one with the fewest rules. " +
      "Standard has one load balancer for all, so there it has no effect and a Warning says so.",
    "design",
  ),
  configurations: annotation(
    "azure-load-balancer-configurations",
    list("names of load balancers"),
    "all of them",
    "With `multipleStandardLoadBalancerConfigurations`: on which of those load balancers it may be placed.",
  ),
  ipv4: annotation(
    "azure-load-balancer-ipv4",
    address("IPv4"),
    "`spec.loadBalancerIP`",
    "Pins the address: a private one in the subnet, or that of a public IP that exists. " +
      "Services that name the same address share it.",
  ),
  ipv6: annotation("azure-load-balancer-ipv6", address("IPv6"), "`spec.loadBalancerIP`", "The same for IPv6."),
  pipName: annotation(
    "azure-pip-name",
    text,
    "a public IP of its own",
    "Name of a public IP that exists and is to be used. External Services only.",
  ),
  pipNameIPv6: annotation(
    "azure-pip-name-ipv6",
    text,
    "`azure-pip-name` if the Service is IPv6 only",
    "The same for the IPv6 address.",
  ),
  pipPrefixId: annotation(
    "azure-pip-prefix-id",
    prefixId,
    "none",
    "The public IP is taken from this prefix. Standard, external Services only.",
  ),
  pipPrefixIdIPv6: annotation(
    "azure-pip-prefix-id-ipv6",
    prefixId,
    "`azure-pip-prefix-id` if the Service is IPv6 only",
    "The same for the IPv6 address.",
  ),
  resourceGroup: annotation(
    "azure-load-balancer-resource-group",
    resourceGroupName,
    "`resourceGroup` of the config",
    "Resource group of the public IP (not of the load balancer).",
    "design",
  ),
  dnsLabel: annotation(
    "azure-dns-label-name",
    dnsLabel,
    "left as it is",
    "DNS label of the public IP. Not for dual-stack Services: Azure gives a label to one public IP only.",
    "design",
  ),
  pipTags: annotation(
    "azure-pip-tags",
    list("`key=value`"),
    "`tags` of the config",
    "Further tags of a public IP that we made. Pairs that are none are left out, with a Warning.",
  ),
  pipIPTags: annotation(
    "azure-pip-ip-tags",
    list("`Type=Value`"),
    "none",
    "IP tags of the public IP. Changing them replaces the public IP, and so its address, unless the config has " +
      "`enableIPTagMutationForExistingPublicIP`.",
  ),
  additionalPublicIPs: annotation(
    "azure-additional-public-ips",
    addresses,
    "none",
    "Further addresses that lead here (of a global load balancer, say): shown in the status and opened in the " +
      "security group.",
  ),
} as const;

export const RULES = {
  idleTimeout: annotation(
    "azure-load-balancer-tcp-idle-timeout",
    integer(4, 100),
    "4",
    "Minutes until an idle flow is dropped; at most 30 on Basic.",
    "design",
  ),
  disableTcpReset: annotation(
    "azure-load-balancer-disable-tcp-reset",
    flag,
    "false",
    "No TCP reset when an idle flow is dropped.",
  ),
  highAvailabilityPorts: annotation(
    "azure-load-balancer-enable-high-availability-ports",
    flag,
    "false",
    "One rule for all ports and protocols. Internal Services on Standard only, elsewhere a Warning says so.",
  ),
  disableFloatingIP: annotation(
    "azure-disable-load-balancer-floating-ip",
    flag,
    "false",
    "Traffic reaches the nodes at their own addresses and node ports.",
  ),
  distribution: annotation(
    "azure-load-balancer-distribution",
    DISTRIBUTION,
    "`SourceIP` with `sessionAffinity: ClientIP`, else `Default`",
    "How flows are given to nodes: by the five-tuple, by the client's address, or by that and the protocol.",
    "azlb",
  ),
  connectionTracking: annotation(
    "azure-load-balancer-connection-tracking",
    choice(["true", "false"]),
    "left as it is",
    "Azure tracks the connections of its frontends, so that UDP and QUIC flows stay with their node. Standard only; the owner of a " +
      "shared address decides.",
    "azlb",
  ),
  gateway: annotation(
    "azure-load-balancer-gateway",
    gatewayFrontendId,
    "left as it is",
    "Traffic passes through the appliances of this gateway load balancer first. External Services on Standard only; the " +
      "owner of a shared address decides. The controller's identity needs the right to join that frontend.",
    "azlb",
  ),
} as const;

export const ACCESS = {
  disableNsgRule: annotation(
    "azure-disable-load-balancer-nsg-rule",
    exposureFlag,
    "false",
    "The security group is left to you: no rule is added, those for this Service's addresses are removed.",
  ),
  sharedSecurityRule: annotation(
    "azure-shared-securityrule",
    choice(["true", "false"], "true"),
    "true",
    "`false`: security rules of its own, instead of rules that all Services with the same ports and sources share. " +
      "Takes effect with the Service's next change.",
    "design",
  ),
  serviceTags: annotation(
    "azure-allowed-service-tags",
    list("service tags"),
    "none",
    "Who may reach the Service, instead of the Internet.",
    "design",
  ),
  ipRanges: annotation(
    "azure-allowed-ip-ranges",
    list("CIDRs"),
    "none",
    "Who may reach the Service, instead of the Internet. What is no CIDR opens nothing and closes the rest. " +
      "Not together with `spec.loadBalancerSourceRanges`.",
  ),
  sourceRanges: annotation("load-balancer-source-ranges", list("CIDRs"), "none", "Added to `azure-allowed-ip-ranges`."),
  destinationRanges: annotation(
    "azure-allowed-destination-ip-ranges",
    list("CIDRs"),
    "the nodes' addresses",
    "Where packets arrive at the nodes themselves (without a floating IP, or over internal IPv6): what security rules open " +
      "instead of every node's address, so that they do not grow with the cluster. Name the nodes' subnets; a family without a " +
      "range has the nodes' addresses. What is no CIDR, and `/0`, is refused.",
    "azlb",
  ),
  denyAllExcept: annotation(
    "azure-deny-all-except-load-balancer-source-ranges",
    exposureFlag,
    "false",
    "With source ranges: everybody else is denied, the VNet too.",
  ),
} as const;

/** Keys that decide who can reach a Service: what is not understood about them refuses it. */
export const EXPOSURE: readonly Annotation<unknown>[] = [
  PLACEMENT.internal,
  RULES.gateway,
  ACCESS.disableNsgRule,
  ACCESS.serviceTags,
  ACCESS.ipRanges,
  ACCESS.sourceRanges,
  ACCESS.destinationRanges,
  ACCESS.denyAllExcept,
];

export const PROBES = {
  protocol: annotation("azure-load-balancer-health-probe-protocol", PROBE_PROTOCOL, "`Tcp`", "How ports are probed."),
  requestPath: annotation(
    "azure-load-balancer-health-probe-request-path",
    text,
    "`/`",
    "Path of HTTP and HTTPS probes.",
  ),
  interval: annotation("azure-load-balancer-health-probe-interval", PROBE_INTERVAL, "5", "Seconds between two probes."),
  number: annotation(
    "azure-load-balancer-health-probe-num-of-probe",
    PROBE_NUMBER,
    "2",
    "Failed probes until a node is down; times the interval it must stay below 120 seconds.",
  ),
  noHealthyBackends: annotation(
    "azure-load-balancer-health-probe-no-healthy-backends",
    NO_HEALTHY_BACKENDS,
    "left as it is; Azure's own is `AllProbedDown`",
    "`AllProbedUp`: where no node passes its probe, all get new connections instead of none. Standard only; not for the " +
      "cluster's shared probe.",
    "azlb",
  ),
} as const;

/** `{port}` is the number of a port of the Service, or of its `healthCheckNodePort`. */
export const PORT_KEYS = {
  noRule: annotation(
    "port_{port}_no_lb_rule",
    flag,
    "false",
    "No rule and no probe for this port; the security group opens it all the same.",
  ),
  noProbe: annotation("port_{port}_no_probe_rule", flag, "false", "A rule without a probe."),
  protocol: annotation("port_{port}_health-probe_protocol", PROBE_PROTOCOL, "as for all", "How this port is probed."),
  requestPath: annotation("port_{port}_health-probe_request-path", text, "as for all", "Path of this port's probe."),
  interval: annotation(
    "port_{port}_health-probe_interval",
    PROBE_INTERVAL,
    "as for all",
    "Seconds between two probes.",
  ),
  number: annotation("port_{port}_health-probe_num-of-probe", PROBE_NUMBER, "as for all", "Failed probes until down."),
  probePort: annotation(
    "port_{port}_health-probe_port",
    text,
    "its node port",
    "Which port is probed: the name or number of a port of the Service, or any number from 1 to 65535.",
  ),
} as const;

export const PRIVATE_LINK = {
  create: annotation(
    "azure-pls-create",
    trimmedFlag,
    "false",
    "A private link service stands on the IPv4 frontend. For internal Services, and external ones with " +
      "`azure-disable-load-balancer-floating-ip`, on Standard with pools of network interfaces. When it is taken off, the " +
      "private link service stays until its frontend goes.",
  ),
  name: annotation(
    "azure-pls-name",
    resourceName,
    "`pls-` and the name of the frontend",
    "Name of the private link service. It cannot be changed, and not be one that another owner has.",
  ),
  resourceGroup: annotation(
    "azure-pls-resource-group",
    resourceGroupName,
    "`privateLinkServiceResourceGroup` of the config",
    "Resource group of the private link service. It cannot be changed.",
  ),
  subnet: annotation(
    "azure-pls-ip-configuration-subnet",
    subnetName,
    "`azure-load-balancer-internal-subnet`, else `subnetName` of the config",
    "Subnet, in the configured VNet, of the addresses that its traffic comes from. Its private link service network " +
      "policies are turned off.",
  ),
  addressCount: annotation(
    "azure-pls-ip-configuration-ip-address-count",
    integer(1, 8),
    "1",
    "How many addresses its traffic comes from.",
  ),
  addresses: annotation(
    "azure-pls-ip-configuration-ip-address",
    ipv4Addresses,
    "Azure chooses",
    "These addresses of the subnet; the first is the primary one. No more than the count.",
  ),
  fqdns: annotation("azure-pls-fqdns", domainNames, "none", "Domain names that it is known by."),
  proxyProtocol: annotation(
    "azure-pls-proxy-protocol",
    trimmedFlag,
    "false",
    "Connections begin with a header of the proxy protocol. A `Local` Service is then probed at its ports, by TCP.",
  ),
  visibility: annotation(
    "azure-pls-visibility",
    subscriptionIds,
    "none: only users with a right on it see it",
    "Subscriptions that can see it.",
  ),
  autoApproval: annotation(
    "azure-pls-auto-approval",
    subscriptionIds,
    "none: a person approves each connection",
    "Subscriptions whose private endpoints are connected without approval.",
  ),
} as const;

export const OURS: {
  readonly driftPolicy: Annotation<DriftPolicy>;
  readonly shareAddressWith: Annotation<readonly string[]>;
  readonly deletionProtection: Annotation<boolean>;
} = {
  driftPolicy: {
    key: "azlb.io/drift-policy",
    kind: choice(["report", "enforce", "ignore"], "report"),
    byDefault: "`--drift-policy`, `report`",
    effect:
      "What happens when somebody changes in Azure what this Service owns: `report` says so and writes nothing until " +
      "the Service changes, `enforce` puts it right, `ignore` does neither.",
    origin: "azlb",
  },
  shareAddressWith: {
    key: "azlb.io/share-address-with",
    kind: list("namespaces, or `*` for all"),
    byDefault: "none",
    effect:
      "With `addressSharing: consent` in the config: Services of these namespaces may join the addresses of this " +
      "Service, on ports that are free. Those of its own namespace always may. Whatever the config says: LBCF's LoadBalancers of " +
      "these namespaces may have rules on its frontend.",
    origin: "azlb",
  },
  deletionProtection: {
    key: "azlb.io/deletion-protection",
    kind: trimmedFlag,
    byDefault: "false",
    effect:
      "The public IP that was made for this Service stays when the Service goes, and the next Service of the same " +
      "namespace and name gets it back. Internal Services: no effect, since nothing holds a private address.",
    origin: "azlb",
  },
};

export interface Group {
  readonly title: string;
  readonly annotations: readonly Annotation<unknown>[];
}

export const GROUPS: readonly Group[] = [
  { title: "Placement and address", annotations: Object.values(PLACEMENT) },
  { title: "Rules", annotations: Object.values(RULES) },
  { title: "Who may reach it", annotations: Object.values(ACCESS) },
  { title: "Health probes", annotations: Object.values(PROBES) },
  { title: "Per port", annotations: Object.values(PORT_KEYS) },
  { title: "Private link service", annotations: Object.values(PRIVATE_LINK) },
  { title: "Of this controller", annotations: Object.values(OURS) },
];
