/** The private link service of a Service. */
import {
  domainNames,
  integer,
  ipv4Addresses,
  resourceGroupName,
  resourceName,
  subnetName,
  subscriptionIds,
  trimmedFlag,
} from "../annotation-values.ts";
import { annotation } from "./annotation.ts";

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
