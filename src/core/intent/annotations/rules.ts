/** How the rules and frontends of a Service pass traffic on. */
import { choice, flag, gatewayFrontendId, integer } from "../annotation-values.ts";
import { annotation } from "./annotation.ts";

const DISTRIBUTION = choice(["Default", "SourceIP", "SourceIPProtocol"]);

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
