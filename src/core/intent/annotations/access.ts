/** Who may reach a Service. */
import { choice, exposureFlag, list } from "../annotation-values.ts";
import { annotation } from "./annotation.ts";

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
