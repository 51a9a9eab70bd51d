import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aPort, aService, CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aSubnet } from "../../../../test/support/core-world.ts";
import { aFragment, aLoadBalancer, idOf } from "../../../../test/support/fragments.ts";
import type { LoadBalancer, LoadBalancingRule } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { Service } from "../../model/kubernetes.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { absentLoadBalancer, desiredLoadBalancer, type FragmentInput } from "./desired-load-balancer.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { mergeLoadBalancer } from "./merge-load-balancer.ts";

const INTERNAL = { "azure-load-balancer-internal": "true" };
const HIGHLY_AVAILABLE = { ...INTERNAL, "azure-load-balancer-enable-high-availability-ports": "true" };
const PIP = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses/pip";

function intentOf(service: Service, config: ClusterConfig): ServiceIntent {
  const parsed = parseService(service, config);
  return "intent" in parsed ? parsed.intent : assert.fail(parsed.message);
}

function fragmentFor(service: Service, more: Partial<FragmentInput> = {}): LoadBalancerFragment {
  const config = more.config ?? CONFIG;
  const intent = intentOf(service, config);
  return desiredLoadBalancer({
    intent,
    config,
    families: intent.families,
    loadBalancer: { id: idOf("x", "y").split("/x/")[0] ?? "", name: "kubernetes" },
    seen: undefined,
    publicIPs: { IPv4: PIP, IPv6: `${PIP}-IPv6` },
    subnet: aSubnet("subnet", "10.240.0.0/16"),
    zones: ["1", "2", "3"],
    published: [],
    disposable: { pools: ["kubernetes"], entries: new Set() },
    isServedHere: () => false,
    standsOn: [],
    held: [],
    neighbours: [],
    limits: config.loadBalancerLimits,
    ...more,
  });
}

function only<Item>(list: readonly Item[]): Item {
  assert.equal(list.length, 1);
  return list[0] ?? assert.fail();
}

const propertiesOf = ({ properties }: LoadBalancingRule) => properties;

describe("rules", () => {
  for (const { what, service, config, expected } of [
    {
      what: "TCP: floating IP and TCP reset",
      service: aService(),
      expected: {
        protocol: "Tcp",
        frontendPort: 80,
        backendPort: 80,
        enableFloatingIP: true,
        enableTcpReset: true,
        disableOutboundSnat: false,
        idleTimeoutInMinutes: 4,
        loadDistribution: "Default",
      },
    },
    {
      what: "UDP: no TCP reset",
      service: aService({ spec: { ports: [aPort(53, { protocol: "UDP" })] } }),
      expected: { protocol: "Udp", enableTcpReset: undefined },
    },
    {
      what: "SCTP passes as All",
      service: aService({ annotations: INTERNAL, spec: { ports: [aPort(9, { protocol: "SCTP" })] } }),
      expected: { protocol: "All", frontendPort: 9, enableTcpReset: undefined },
    },
    {
      what: "floating IP off: the node port",
      service: aService({ annotations: { "azure-disable-load-balancer-floating-ip": "true" } }),
      expected: { enableFloatingIP: false, backendPort: 30_080 },
    },
    {
      what: "internal IPv6 has no floating IP",
      service: aService({ annotations: INTERNAL, spec: { ipFamilies: ["IPv6"] } }),
      expected: { enableFloatingIP: false, backendPort: 30_080 },
    },
    {
      what: "session affinity",
      service: aService({ spec: { sessionAffinity: "ClientIP" } }),
      expected: { loadDistribution: "SourceIP" },
    },
    {
      what: "no TCP reset if so asked",
      service: aService({ annotations: { "azure-load-balancer-disable-tcp-reset": "true" } }),
      expected: { enableTcpReset: false },
    },
    {
      what: "no outbound SNAT by config",
      service: aService(),
      config: { ...CONFIG, disableOutboundSnat: true },
      expected: { disableOutboundSnat: true },
    },
    {
      what: "Basic has no TCP reset",
      service: aService(),
      config: { ...CONFIG, sku: "basic" as const, poolType: "nodeIPConfiguration" as const },
      expected: { enableTcpReset: undefined },
    },
    {
      what: "all ports in one rule",
      service: aService({ annotations: HIGHLY_AVAILABLE, spec: { ports: [aPort(80), aPort(443)] } }),
      expected: { protocol: "All", frontendPort: 0, backendPort: 0, enableFloatingIP: true, enableTcpReset: true },
    },
    {
      what: "all ports keep floating IP though it is off for others",
      service: aService({ annotations: { ...HIGHLY_AVAILABLE, "azure-disable-load-balancer-floating-ip": "true" } }),
      expected: { enableFloatingIP: true },
    },
  ]) {
    test(what, () => {
      const rule = only(fragmentFor(service, config && { config }).rules);
      const compared = Object.fromEntries(Object.keys(expected).map((key) => [key, propertiesOf(rule)[key]]));
      assert.deepEqual(compared, expected);
    });
  }

  test("a port without a rule has none, and no probe", () => {
    const { rules, probes, frontends } = fragmentFor(aService({ annotations: { port_80_no_lb_rule: "true" } }));
    assert.deepEqual([rules, probes, frontends.length], [[], [], 1]);
  });

  test("Local: one probe for all ports, named after the health check's port", () => {
    const service = aService({
      spec: { externalTrafficPolicy: "Local", healthCheckNodePort: 32_209, ports: [aPort(80), aPort(443)] },
    });
    const { rules, probes } = fragmentFor(service);
    const probe = only(probes);
    assert.match(probe.name, /-TCP-32209$/);
    assert.deepEqual(probe.properties, {
      protocol: "Http",
      port: 32_209,
      requestPath: "/healthz",
      intervalInSeconds: 5,
      probeThreshold: 2,
    });
    assert.ok(rules.every((rule) => rule.properties.probe?.id.endsWith(probe.name)));
  });

  test("the shared probe where the config asks for one", () => {
    const config = { ...CONFIG, sharedProbe: { port: 10_256, path: "/healthz" } };
    const probe = only(fragmentFor(aService({ spec: { ports: [aPort(80), aPort(443)] } }), { config }).probes);
    assert.equal(probe.name, "cluster-service-shared-health-probe");
  });

  test("dual stack: each family its own frontend, rules, probes and pool", () => {
    const { frontends, rules, probes, pools } = fragmentFor(aService({ spec: { ipFamilies: ["IPv4", "IPv6"] } }));
    const suffixes = [frontends, rules, probes].map((list) => list.map(({ name }) => name.endsWith("-IPv6")));
    assert.deepEqual(suffixes, [
      [false, true],
      [false, true],
      [false, true],
    ]);
    assert.deepEqual(pools, ["kubernetes", "kubernetes-IPv6"]);
  });
});

describe("an internal frontend", () => {
  const service = aService({ annotations: INTERNAL });

  function after(seen: LoadBalancer | undefined, fragment: LoadBalancerFragment): LoadBalancer {
    const { outcome } = mergeLoadBalancer(seen, [fragment]);
    return outcome.kind === "put" ? outcome.body : assert.fail();
  }

  /** As Azure answers: it has given an address. */
  function addressed(body: LoadBalancer, privateIPAddress: string, zones: readonly string[]): LoadBalancer {
    const frontends = (body.properties.frontendIPConfigurations ?? []).map((frontend) => ({
      ...frontend,
      zones,
      properties: { ...frontend.properties, privateIPAddress },
    }));
    return { ...body, properties: { ...body.properties, frontendIPConfigurations: frontends } };
  }

  test("a new one gets all zones of the region, and an address from Azure", () => {
    const frontend = only(fragmentFor(service).frontends);
    assert.deepEqual(frontend.zones, ["1", "2", "3"]);
    assert.equal(frontend.properties.privateIPAllocationMethod, "Dynamic");
  });

  test("no zones in an edge zone, on Basic, on Azure Stack, or in a region that has none", () => {
    const edge = { ...CONFIG, extendedLocation: { name: "here", type: "EdgeZone" } };
    assert.equal(only(fragmentFor(service, { config: edge }).frontends).zones, undefined);
    assert.equal(only(fragmentFor(service, { config: { ...CONFIG, azureStack: true } }).frontends).zones, undefined);
    assert.equal(only(fragmentFor(service, { zones: [] }).frontends).zones, undefined);
  });

  test("one that stands is right as it is, also after the default subnet changed", () => {
    const seen = addressed(after(undefined, fragmentFor(service)), "10.240.0.9", ["1"]);
    const config = { ...CONFIG, subnetName: "another" };
    const fragment = fragmentFor(service, { seen, config });
    assert.deepEqual(mergeLoadBalancer(seen, [fragment]).outcome, { kind: "unchanged" });
  });

  test("its address is kept when it gets another name in the same subnet, and its zones too", () => {
    const seen = addressed(after(undefined, fragmentFor(service)), "10.240.0.9", ["1"]);
    const named = aService({ annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": "subnet" } });
    const frontend = only(fragmentFor(named, { seen }).frontends);
    assert.match(frontend.name, /-subnet$/);
    assert.deepEqual([frontend.properties.privateIPAddress, frontend.zones], ["10.240.0.9", ["1"]]);
  });

  test("another subnet is another address", () => {
    const seen = addressed(after(undefined, fragmentFor(service)), "10.240.0.9", ["1"]);
    const moved = aService({ annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": "subnet2" } });
    const frontend = only(
      fragmentFor(moved, { seen, subnet: aSubnet("subnet2", "10.241.0.0/16"), published: ["10.240.0.9"] }).frontends,
    );
    assert.equal(frontend.properties.privateIPAllocationMethod, "Dynamic");
  });

  test("a lost one comes back at the address that the status names, if that is in the subnet and free", () => {
    const kept = only(fragmentFor(service, { published: ["20.1.1.1", "10.240.0.9"] }).frontends);
    assert.deepEqual(
      [kept.properties.privateIPAllocationMethod, kept.properties.privateIPAddress],
      ["Static", "10.240.0.9"],
    );
    const other = addressed(
      after(undefined, fragmentFor(aService({ name: "other", annotations: INTERNAL }))),
      "10.240.0.9",
      [],
    );
    for (const seen of [{ seen: other }, { others: [other] }]) {
      const lost = only(fragmentFor(service, { ...seen, published: ["10.240.0.9"] }).frontends);
      assert.equal(lost.properties.privateIPAddress, undefined);
    }
  });

  test("a pinned address is static; one that another's frontend has is shared", () => {
    const pinned = aService({ annotations: { ...INTERNAL, "azure-load-balancer-ipv4": "10.240.0.9" } });
    assert.equal(only(fragmentFor(pinned).frontends).properties.privateIPAddress, "10.240.0.9");
    const other = addressed(
      after(undefined, fragmentFor(aService({ name: "other", annotations: INTERNAL }))),
      "10.240.0.9",
      [],
    );
    const shared = fragmentFor(pinned, { seen: other });
    assert.deepEqual(shared.frontends, []);
    const holder = other.properties.frontendIPConfigurations?.[0]?.name ?? "";
    assert.match(only(shared.rules).properties.frontendIPConfiguration?.id ?? "", new RegExp(`/${holder}$`));
  });
});

describe("a frontend of a Service that has left", () => {
  const [gone, user] = [aService({ name: "gone" }), aService({ name: "user" })];
  const shared = (): LoadBalancer => {
    const owner = intentOf(gone, CONFIG).owner;
    const { outcome } = mergeLoadBalancer(undefined, [
      aFragment(owner, { ports: [80], publicIP: "pip" }),
      aFragment(intentOf(user, CONFIG).owner, { ports: [81], frontend: owner.base }),
    ]);
    return outcome.kind === "put" ? outcome.body : assert.fail();
  };
  const absent = (seen: LoadBalancer, isServedHere: boolean): LoadBalancerFragment =>
    absentLoadBalancer({
      owner: intentOf(user, CONFIG).owner,
      seen,
      disposable: undefined,
      isServedHere: () => isServedHere,
      standsOn: [],
      held: [],
      neighbours: [],
    });

  test("goes with its last user", () => {
    assert.deepEqual(absent(shared(), false).releases, [intentOf(gone, CONFIG).owner.base]);
  });

  test("stays while its own Service is served there", () => {
    assert.deepEqual(absent(shared(), true).releases, []);
  });

  test("is not released by a Service that goes on using it", () => {
    const fragment = fragmentFor(user, { seen: shared() });
    assert.deepEqual([fragment.releases, fragment.frontends], [[], []]);
  });

  test("a person's frontend is never released", () => {
    const seen = aLoadBalancer({});
    const owner = intentOf(user, CONFIG).owner;
    const rule = aFragment(owner, { ports: [80], frontend: "office" }).rules;
    const held = { ...seen, properties: { ...seen.properties, loadBalancingRules: rule } };
    assert.deepEqual(absent(held, false).releases, []);
  });
});
