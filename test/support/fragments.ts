/** Load balancers and fragments for tests of merges. */
import type { Frontend, LoadBalancer, LoadBalancingRule, Probe } from "../../src/core/model/arm.ts";
import type { LoadBalancerFragment } from "../../src/core/resources/load-balancer/fragment.ts";
import { baseName, SHARED_PROBE_NAME } from "../../src/core/model/names.ts";
import type { Owner } from "../../src/core/outcome.ts";
import { aService } from "./core-fixtures.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network";
export const LOAD_BALANCER_ID = `${GROUP}/loadBalancers/kubernetes`;

export function idOf(part: string, name: string): string {
  return `${LOAD_BALANCER_ID}/${part}/${name}`;
}

export function anOwner(name: string): Owner {
  const { uid } = aService({ name }).metadata;
  return { key: `default/${name}`, uid, base: baseName(uid) };
}

export function aFrontend(name: string, publicIP = name): Frontend {
  return { name, properties: { publicIPAddress: { id: `${GROUP}/publicIPAddresses/${publicIP}` } } };
}

export function aRule(
  name: string,
  frontend: string,
  port: number,
  protocol = "Tcp",
  probe?: string,
): LoadBalancingRule {
  return {
    name,
    properties: {
      protocol,
      frontendPort: port,
      backendPort: port,
      frontendIPConfiguration: { id: idOf("frontendIPConfigurations", frontend) },
      backendAddressPool: { id: idOf("backendAddressPools", "kubernetes") },
      ...(probe !== undefined && { probe: { id: idOf("probes", probe) } }),
      enableFloatingIP: true,
      loadDistribution: "Default",
      idleTimeoutInMinutes: 4,
    },
  };
}

function aProbe(name: string): Probe {
  return { name, properties: { protocol: "Tcp", port: 30_000, intervalInSeconds: 5, probeThreshold: 2 } };
}

export interface FragmentShape {
  readonly ports?: readonly number[];
  /** Of another owner; its own otherwise. */
  readonly frontend?: string;
  readonly publicIP?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Of all rules; their own otherwise. */
  readonly probe?: string;
}

export function aFragment(owner: Owner, shape: FragmentShape): LoadBalancerFragment {
  const { ports = [], frontend = owner.base, publicIP = `kubernetes-${owner.base}`, tags = {}, probe } = shape;
  const names = ports.map((port) => `${owner.base}-TCP-${port}`);
  return {
    owner,
    shell: {
      id: LOAD_BALANCER_ID,
      name: "kubernetes",
      location: "westus2",
      sku: { name: "Standard" },
      tags,
      systemTags: [],
    },
    frontends: frontend === owner.base ? [aFrontend(frontend, publicIP)] : [],
    probes: probe === undefined ? names.map(aProbe) : [aProbe(SHARED_PROBE_NAME)],
    rules: ports.map((port, at) => aRule(names[at] ?? "", frontend, port, "Tcp", probe ?? names[at])),
    pools: ["kubernetes"],
    releases: [],
    disposable: { pools: ["kubernetes"], entries: new Set() },
  };
}

export interface LoadBalancerShape {
  readonly frontends?: readonly Frontend[];
  readonly rules?: readonly LoadBalancingRule[];
  readonly pools?: readonly string[];
  /** A frontend that an outbound rule uses. */
  readonly outboundFrom?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Another client's, until fragments are merged into it. */
export function aLoadBalancer({
  frontends = [],
  rules = [],
  pools = [],
  outboundFrom,
  extra,
}: LoadBalancerShape): LoadBalancer {
  const outbound = outboundFrom && {
    outboundRules: [
      {
        name: "out",
        properties: { frontendIPConfigurations: [{ id: idOf("frontendIPConfigurations", outboundFrom) }] },
      },
    ],
  };
  return {
    id: LOAD_BALANCER_ID,
    name: "kubernetes",
    location: "westus2",
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: frontends,
      loadBalancingRules: rules,
      backendAddressPools: pools.map((name) => ({ name, properties: {} })),
      ...outbound,
      ...extra,
    },
  };
}
