/** The six default rules of every security group. */
import type { Json } from "../../json.ts";

type Spec = readonly [
  name: string,
  description: string,
  from: string,
  to: string,
  access: string,
  priority: number,
  direction: string,
];

const SPECS: readonly Spec[] = [
  [
    "AllowVnetInBound",
    "Allow inbound traffic from all VMs in VNET",
    "VirtualNetwork",
    "VirtualNetwork",
    "Allow",
    65000,
    "Inbound",
  ],
  [
    "AllowAzureLoadBalancerInBound",
    "Allow inbound traffic from azure load balancer",
    "AzureLoadBalancer",
    "*",
    "Allow",
    65001,
    "Inbound",
  ],
  ["DenyAllInBound", "Deny all inbound traffic", "*", "*", "Deny", 65500, "Inbound"],
  [
    "AllowVnetOutBound",
    "Allow outbound traffic from all VMs to all VMs in VNET",
    "VirtualNetwork",
    "VirtualNetwork",
    "Allow",
    65000,
    "Outbound",
  ],
  [
    "AllowInternetOutBound",
    "Allow outbound traffic from all VMs to Internet",
    "*",
    "Internet",
    "Allow",
    65001,
    "Outbound",
  ],
  ["DenyAllOutBound", "Deny all outbound traffic", "*", "*", "Deny", 65500, "Outbound"],
];

export const DEFAULT_RULES: readonly Json[] = SPECS.map(
  ([name, description, from, to, access, priority, direction]) => ({
    name,
    properties: {
      description,
      protocol: "*",
      sourcePortRange: "*",
      destinationPortRange: "*",
      sourceAddressPrefix: from,
      destinationAddressPrefix: to,
      access,
      priority,
      direction,
      sourcePortRanges: [],
      destinationPortRanges: [],
      sourceAddressPrefixes: [],
      destinationAddressPrefixes: [],
    },
  }),
);
