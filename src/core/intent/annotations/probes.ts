/** How the nodes of a Service are probed, for all of its ports and for each. */
import { choice, flag, integer, text } from "../annotation-values.ts";
import { annotation } from "./annotation.ts";

const PROBE_PROTOCOL = choice(["Tcp", "Http", "Https"], "Tcp");
const NO_HEALTHY_BACKENDS = choice(["AllProbedUp", "AllProbedDown"]);
const PROBE_INTERVAL = integer(5);
const PROBE_NUMBER = integer(2);

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
