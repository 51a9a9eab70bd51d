import assert from "node:assert/strict";
import { test } from "node:test";
import { aPort, type ServiceShape } from "../../../test/support/core-fixtures.ts";
import { accepted } from "../../../test/support/parsed-service.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import type { PortIntent } from "./service-intent.ts";

function probesOf(shape: ServiceShape, config: Partial<ClusterConfig> = {}): PortIntent["probe"][] {
  return accepted(shape, config).intent.ports.map((port) => port.probe);
}

const TIMING = { intervalSeconds: 5, threshold: 2 } as const;
const own = (probe: object): object => ({ kind: "own", probe: { ...TIMING, ...probe } });
const HTTP_80 = { protocol: "Http", port: 30_080, path: "/" } as const;
const WEB: Service["spec"]["ports"] = [aPort(80, { name: "http" }), aPort(443, { name: "https" })];
const LOCAL: Partial<Service["spec"]> = { externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 };
const LOCAL_PROBE = { kind: "local", probe: { protocol: "Http", port: 31_000, path: "/healthz", ...TIMING } };
const INTERNAL_HA = {
  "azure-load-balancer-internal": "true",
  "azure-load-balancer-enable-high-availability-ports": "true",
};
const SHARED = { sharedProbe: { port: 10_256, path: "/healthz" } } as const;

const cases: readonly (readonly [string, ServiceShape, Partial<ClusterConfig>, readonly object[]])[] = [
  ["a TCP port is probed on its node port", {}, {}, [own({ protocol: "Tcp", port: 30_080 })]],
  [
    "the annotation for all chooses protocol and path",
    {
      annotations: {
        "azure-load-balancer-health-probe-protocol": " http ",
        "azure-load-balancer-health-probe-request-path": "/live",
      },
    },
    {},
    [own({ ...HTTP_80, path: "/live" })],
  ],
  [
    "without a path it is the root",
    { annotations: { "azure-load-balancer-health-probe-protocol": "HTTP" } },
    {},
    [own(HTTP_80)],
  ],
  [
    "appProtocol goes before the annotation for all",
    {
      annotations: { "azure-load-balancer-health-probe-protocol": "tcp" },
      spec: { ports: [aPort(80, { appProtocol: "Http" })] },
    },
    {},
    [own(HTTP_80)],
  ],
  [
    "the port's annotation goes before appProtocol",
    { annotations: { "port_80_health-probe_protocol": "tcp" }, spec: { ports: [aPort(80, { appProtocol: "http" })] } },
    {},
    [own({ protocol: "Tcp", port: 30_080 })],
  ],
  [
    "an appProtocol that cannot be probed is probed by TCP",
    { spec: { ports: [aPort(80, { appProtocol: "grpc" })] } },
    {},
    [own({ protocol: "Tcp", port: 30_080 })],
  ],
  [
    "each port may have its own",
    {
      annotations: {
        "port_443_health-probe_protocol": "https",
        "port_443_health-probe_request-path": "/live",
        "port_443_health-probe_interval": "10",
        "port_80_health-probe_port": "HTTPS",
        "port_80_health-probe_num-of-probe": "3",
      },
      spec: { ports: WEB },
    },
    {},
    [
      own({ protocol: "Tcp", port: 30_443, threshold: 3 }),
      own({ protocol: "Https", port: 30_443, path: "/live", intervalSeconds: 10 }),
    ],
  ],
  [
    "a probe port may be a number of the Service",
    { annotations: { "port_80_health-probe_port": "443" }, spec: { ports: WEB } },
    {},
    [own({ protocol: "Tcp", port: 30_443 }), own({ protocol: "Tcp", port: 30_443 })],
  ],
  [
    "or any other number",
    { annotations: { "port_80_health-probe_port": "10256" } },
    {},
    [own({ protocol: "Tcp", port: 10_256 })],
  ],
  [
    "Https on Basic is Tcp",
    { annotations: { "azure-load-balancer-health-probe-protocol": "https" } },
    { sku: "basic" },
    [own({ protocol: "Tcp", port: 30_080 })],
  ],
  ["a UDP port has none", { spec: { ports: [aPort(53, { protocol: "UDP" })] } }, {}, [{ kind: "none" }]],
  ["a port may do without", { annotations: { port_80_no_probe_rule: "true" } }, {}, [{ kind: "none" }]],
  ["a port without a rule has none", { annotations: { port_80_no_lb_rule: "true" } }, {}, [{ kind: "none" }]],
  [
    "a Local Service has one for all its ports",
    { spec: { ...LOCAL, ports: [aPort(80), aPort(53, { protocol: "UDP" })] } },
    {},
    [LOCAL_PROBE, LOCAL_PROBE],
  ],
  [
    "its timing goes by the health check's port",
    { annotations: { "port_31000_health-probe_interval": "7" }, spec: LOCAL },
    {},
    [{ kind: "local", probe: { ...LOCAL_PROBE.probe, intervalSeconds: 7 } }],
  ],
  [
    "a port of a Local Service may name another probe port",
    { annotations: { "port_80_health-probe_port": "80" }, spec: LOCAL },
    {},
    [own({ protocol: "Tcp", port: 30_080 })],
  ],
  [
    "the cluster's shared probe serves every port",
    { spec: { ports: [aPort(80), aPort(53, { protocol: "UDP" })] } },
    SHARED,
    [{ kind: "shared" }, { kind: "shared" }],
  ],
  ["but no Local Service", { spec: LOCAL }, SHARED, [LOCAL_PROBE]],
  [
    "a shared probe needs no node port",
    { spec: { ports: [{ protocol: "TCP", port: 80 }] } },
    SHARED,
    [{ kind: "shared" }],
  ],
  [
    "all ports in one rule ignore switches of ports",
    { annotations: { ...INTERNAL_HA, port_80_no_probe_rule: "true", port_80_no_lb_rule: "true" } },
    {},
    [own({ protocol: "Tcp", port: 30_080 })],
  ],
  [
    "and take the Local probe even where a port names another",
    { annotations: { ...INTERNAL_HA, "port_80_health-probe_port": "80" }, spec: LOCAL },
    {},
    [LOCAL_PROBE],
  ],
];
for (const [sentence, shape, config, expected] of cases) {
  test(sentence, () => assert.deepEqual(probesOf(shape, config), expected));
}
