/** Where a Service is published, and at which addresses. */
import {
  address,
  addresses,
  dnsLabel,
  exposureFlag,
  list,
  prefixId,
  resourceGroupName,
  subnetName,
  text,
} from "../annotation-values.ts";
import { annotation } from "./annotation.ts";

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
