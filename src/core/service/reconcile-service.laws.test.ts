/**
 * What holds of any history: Services of every shape come, change and go in any order, decisions of different Services
 * interleave, and the controller may stop after any single step.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import type { LoadBalancer } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import { baseOf } from "../model/names.ts";
import { listsService } from "../model/tags.ts";
import { FINALIZER } from "../intent/ownership.ts";

const NAMES = ["a", "b", "c"];
const RUNS = 150;

/** Laid over the plain Service. `$ip:` is the address that another Service has at that moment. */
const shape = fc.record({
  internal: fc.constantFrom(undefined, "true"),
  subnet: fc.constantFrom(undefined, undefined, "subnet2"),
  families: fc.constantFrom(["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]),
  ports: fc.uniqueArray(fc.constantFrom(80, 81, 443), { minLength: 1, maxLength: 2 }),
  protocol: fc.constantFrom("TCP", "UDP"),
  local: fc.boolean(),
  pin: fc.constantFrom(undefined, undefined, "mine", ...NAMES.map((name) => `$ip:${name}`)),
  floating: fc.boolean(),
  ranges: fc.constantFrom(undefined, ["10.0.0.0/8"]),
  group: fc.constantFrom(undefined, undefined, "other"),
  ipTags: fc.constantFrom(undefined, undefined, "RoutingPreference=Internet"),
  additional: fc.constantFrom(undefined, "7.7.7.7"),
});
type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never;

/** What people do to a load balancer of ours. */
const EDITS = ["delete it", "drop rules", "add parts", "add outbound", "add entry", "retime rules"] as const;

type Action =
  | { readonly do: "apply"; readonly name: string; readonly shape: Shape }
  | { readonly do: "delete"; readonly name: string }
  | { readonly do: "retype"; readonly name: string }
  /** One step of one Service's decision, and then the controller stops. */
  | { readonly do: "step"; readonly name: string }
  | { readonly do: "settle" }
  | { readonly do: "edit"; readonly with: (typeof EDITS)[number] };

const name = fc.constantFrom(...NAMES);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("apply" as const), name, shape }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("retype" as const), name }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("step" as const), name }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("settle" as const) }) },
);
const history = fc.array(action, { minLength: 5, maxLength: 40 });
const edit = fc.record({ do: fc.constant("edit" as const), with: fc.constantFrom(...EDITS) });
const editedHistory = fc.array(fc.oneof({ weight: 10, arbitrary: action }, { weight: 1, arbitrary: edit }), {
  minLength: 5,
  maxLength: 40,
});

function annotationsOf(world: CoreWorld, { internal, subnet, pin, floating, group, ipTags, additional }: Shape) {
  const address = pin?.startsWith("$ip:") ? ingressOf(world, pin.slice(4)) : undefined;
  const all: Record<string, string | undefined> = {
    "azure-load-balancer-internal": internal,
    "azure-load-balancer-internal-subnet": subnet,
    "azure-pip-name": pin === "mine" ? "mine" : undefined,
    "azure-load-balancer-ipv4": address?.includes(":") ? undefined : address,
    "azure-disable-load-balancer-floating-ip": floating ? undefined : "true",
    "azure-load-balancer-resource-group": pin === "mine" ? undefined : group,
    "azure-pip-ip-tags": ipTags,
    "azure-additional-public-ips": additional,
  };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [PREFIX + key, value ?? null]));
}

function ingressOf(world: CoreWorld, name: string): string | undefined {
  return world.services.get(`default/${name}`)?.status.loadBalancer.ingress?.[0]?.ip;
}

function edited({ properties, ...body }: LoadBalancer, how: (typeof EDITS)[number]): LoadBalancer[] {
  const { frontendIPConfigurations = [], loadBalancingRules = [], backendAddressPools = [] } = properties;
  const change = (more: Partial<LoadBalancer["properties"]>): LoadBalancer[] => [
    { ...body, properties: { ...properties, ...more } },
  ];
  switch (how) {
    case "delete it":
      return [];
    case "drop rules":
      return change({ loadBalancingRules: [] });
    case "retime rules":
      return change({
        loadBalancingRules: loadBalancingRules.map((rule) => ({
          ...rule,
          properties: { ...rule.properties, idleTimeoutInMinutes: 9 },
        })),
      });
    case "add parts":
      return change({
        frontendIPConfigurations: [
          ...frontendIPConfigurations.filter((frontend) => frontend.name !== "office"),
          { name: "office", properties: { privateIPAddress: "10.9.9.9" } },
        ],
        backendAddressPools: [
          ...backendAddressPools.filter((pool) => pool.name !== "office"),
          { name: "office", properties: {} },
        ],
      });
    case "add outbound": {
      const [first] = frontendIPConfigurations;
      const properties = { frontendIPConfigurations: [{ id: `${body.id}/frontendIPConfigurations/${first?.name}` }] };
      return first === undefined ? change({}) : change({ outboundRules: [{ name: "out", properties }] });
    }
    case "add entry": {
      const server = { name: "server", properties: { ipAddress: "10.9.9.9" } };
      return change({
        backendAddressPools: backendAddressPools.map((pool) => {
          const entries = (pool.properties.loadBalancerBackendAddresses ?? []).filter(({ name }) => name !== "server");
          return { ...pool, properties: { ...pool.properties, loadBalancerBackendAddresses: [...entries, server] } };
        }),
      });
    }
  }
}

function perform(world: CoreWorld, action: Action): void {
  if (action.do === "settle") return void world.settle();
  if (action.do === "edit") {
    const [first, ...rest] = world.loadBalancers;
    if (first !== undefined) world.loadBalancers = [...edited(first, action.with), ...rest];
    return undefined;
  }
  const service = world.services.get(`default/${action.name}`);
  const isLive = service !== undefined && service.metadata.deletionTimestamp === undefined;
  if (action.do === "apply") {
    const { families, ports, protocol, local, ranges } = action.shape;
    const spec = {
      type: "LoadBalancer",
      ports: ports.map((port) => ({ port, protocol, name: `p${port}` })),
      ipFamilies: families,
      externalTrafficPolicy: local ? "Local" : "Cluster",
      loadBalancerSourceRanges: ranges ?? [],
    } as Parameters<CoreWorld["respec"]>[1];
    if (service === undefined) world.apply({ metadata: { name: action.name }, spec });
    else if (isLive) world.respec(action.name, { ...spec, ...(local && { healthCheckNodePort: 32_000 }) });
    if (service === undefined || isLive) world.annotate(action.name, annotationsOf(world, action.shape));
  } else if (action.do === "delete") {
    if (isLive) world.delete(action.name);
  } else if (action.do === "retype") {
    if (isLive) world.respec(action.name, { type: "ClusterIP" });
  } else if (service !== undefined) {
    const decision = world.decide(service);
    if (decision.kind === "act") world.write(service, decision.steps.slice(0, 1));
  }
}

/** Nothing that holds at any moment may depend on what comes next. */
function violations(world: CoreWorld): string[] {
  const addresses = new Set([...world.publicIPs.values()].flat().map(({ id }) => id.toLowerCase()));
  const held = new Set(
    [...world.services.values()]
      .filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER))
      .map(({ metadata }) => metadata.name),
  );
  return [
    ...world.loadBalancers.flatMap((loadBalancer) => [
      ...danglingRules(loadBalancer),
      ...(loadBalancer.properties.frontendIPConfigurations ?? [])
        .filter(
          ({ properties }) => properties.publicIPAddress && !addresses.has(properties.publicIPAddress.id.toLowerCase()),
        )
        .map((frontend) => `the public IP of frontend ${frontend.name} went before it`),
      ...[...world.known.values()]
        .filter((known) => !held.has(known.name) && ownParts(loadBalancer, known.base))
        .map((known) => `${known.name} has parts on ${loadBalancer.name} and no finalizer`),
    ]),
    ...[...world.publicIPs.values()]
      .flat()
      .flatMap((publicIP) =>
        NAMES.filter((one) => !held.has(one) && listsService(publicIP, `default/${one}`)).map(
          (one) => `${one} has public IP ${publicIP.name} and no finalizer`,
        ),
      ),
    ...(world.securityGroup?.properties.securityRules?.[0]?.name === "foreign-ssh" ? [] : ["a foreign rule went"]),
  ];
}

function danglingRules({ properties, name }: LoadBalancer): string[] {
  const frontends = new Set((properties.frontendIPConfigurations ?? []).map((frontend) => frontend.name));
  const dangling = (properties.loadBalancingRules ?? []).filter(
    (rule) => !frontends.has(nameOfId(rule.properties.frontendIPConfiguration?.id ?? "")),
  );
  return dangling.map((rule) => `rule ${rule.name} of ${name} has no frontend`);
}

/**
 * A frontend may outlive its Service: while others use it, or because it was the last one when the Service went and
 * something foreign needed any. Where no other client writes, none does: that is a law of its own below.
 */
function ownParts({ properties }: LoadBalancer, base: string): boolean {
  return [...(properties.loadBalancingRules ?? []), ...(properties.probes ?? [])].some(
    (part) => baseOf(part.name) === base,
  );
}

function play(actions: readonly Action[]): CoreWorld {
  const world = new CoreWorld();
  world.putPublicIP("mine", {
    location: "westus2",
    sku: { name: "Standard" },
    properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: "IPv4" },
  });
  for (const one of actions) {
    perform(world, one);
    assert.deepEqual(violations(world), []);
  }
  return world;
}

test("any crash point is safe, and what was begun is finished", () => {
  fc.assert(
    fc.property(editedHistory, (actions) => {
      const world = play(actions);
      world.settle();
      assert.deepEqual(violations(world), []);
    }),
    { numRuns: RUNS },
  );
});

test("settled means that there is nothing to do, for any of them", () => {
  fc.assert(
    fc.property(editedHistory, (actions) => {
      const world = play(actions);
      world.settle();
      world.settle();
      for (const service of world.services.values()) {
        const decision = world.decide(service);
        assert.ok(decision.kind === "settled" || decision.kind === "reject", JSON.stringify(decision));
      }
      assert.deepEqual(world.poolSteps(), []);
    }),
    { numRuns: RUNS },
  );
});

test("when all are gone, Azure is as it was before", () => {
  fc.assert(
    fc.property(history, (actions) => {
      const before = play([]);
      const world = play(actions);
      for (const { metadata } of world.services.values()) {
        if (metadata.deletionTimestamp === undefined) world.delete(metadata.name);
      }
      world.settle();
      assert.deepEqual([...world.services.keys()], []);
      assert.deepEqual(world.loadBalancers, []);
      assert.deepEqual([...world.publicIPs.values()].flat(), [...before.publicIPs.values()].flat());
      assert.deepEqual(world.securityGroup, before.securityGroup);
    }),
    { numRuns: RUNS },
  );
});
