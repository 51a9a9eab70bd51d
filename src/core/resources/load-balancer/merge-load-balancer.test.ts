import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aService } from "../../../../test/support/core-fixtures.ts";
import { byOwner } from "../../../../test/support/by-owner.ts";
import { aFragment, aFrontend, aLoadBalancer, anOwner, aRule, idOf } from "../../../../test/support/fragments.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { SHARED_PROBE_NAME } from "../../model/names.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { isSettled, mergeLoadBalancer as merge } from "./merge-load-balancer.ts";

const mergeLoadBalancer = byOwner(merge, ({ owner }) => owner.key);

const web = anOwner("web");
const shop = anOwner("shop");

function put(seen: LoadBalancer | undefined, ...fragments: LoadBalancerFragment[]): LoadBalancer {
  const { outcome, refused } = mergeLoadBalancer(seen, fragments);
  assert.deepEqual(refused, []);
  assert.equal(outcome.kind, "put");
  return outcome.kind === "put" ? outcome.body : assert.fail();
}

function names(list: readonly { readonly name: string }[] | undefined): string[] {
  return (list ?? []).map(({ name }) => name);
}

describe("a Service joins", () => {
  test("a load balancer that is not there is made of the shell", () => {
    const body = put(undefined, aFragment(web, { ports: [80] }));
    assert.equal(body.name, "kubernetes");
    assert.deepEqual(body.sku, { name: "Standard" });
    assert.deepEqual(names(body.properties.frontendIPConfigurations), [web.base]);
    assert.deepEqual(names(body.properties.loadBalancingRules), [`${web.base}-TCP-80`]);
    assert.deepEqual(names(body.properties.probes), [`${web.base}-TCP-80`]);
    assert.deepEqual(names(body.properties.backendAddressPools), ["kubernetes"]);
  });

  test("what is right already is not written again, whatever else Azure shows of it", () => {
    const fragment = aFragment(web, { ports: [80] });
    const body = put(undefined, fragment);
    const rules = body.properties.loadBalancingRules?.map((rule) => ({
      ...rule,
      id: "x",
      etag: "y",
      properties: { ...rule.properties, provisioningState: "Succeeded", allowBackendPortConflict: false },
    }));
    const seen: LoadBalancer = { ...body, properties: { ...body.properties, loadBalancingRules: rules ?? [] } };
    assert.deepEqual(mergeLoadBalancer(seen, [fragment]).outcome, { kind: "unchanged" });
    assert.ok(isSettled(seen, fragment));
  });

  test("foreign parts and unknown fields go back as they were read, in their place", () => {
    const foreign = aLoadBalancer({
      frontends: [aFrontend("office"), aFrontend("door")],
      rules: [aRule("office-rule", "office", 25)],
      pools: ["office-pool"],
      outboundFrom: "door",
      extra: { newerField: { of: "Azure" } },
    });
    const body = put(foreign, aFragment(web, { ports: [80] }));
    const { properties } = body;
    assert.equal(properties.frontendIPConfigurations?.[0], foreign.properties.frontendIPConfigurations?.[0]);
    assert.equal(properties.loadBalancingRules?.[0], foreign.properties.loadBalancingRules?.[0]);
    assert.equal(properties.outboundRules, foreign.properties.outboundRules);
    assert.deepEqual(properties["newerField"], { of: "Azure" });
    assert.deepEqual(names(properties.backendAddressPools), ["office-pool", "kubernetes"]);
  });

  test("a wrong rule is put right in its place, and a field that a person set on it stays", () => {
    const fragment = aFragment(web, { ports: [80, 443] });
    const right = put(undefined, fragment);
    const [first, second] = right.properties.loadBalancingRules ?? [];
    assert.ok(first && second);
    const edited = {
      ...first,
      properties: { ...first.properties, idleTimeoutInMinutes: 30, enableConnectionTracking: true },
    };
    const seen: LoadBalancer = { ...right, properties: { ...right.properties, loadBalancingRules: [edited, second] } };
    const body = put(seen, fragment);
    assert.equal(body.properties.loadBalancingRules?.[0]?.properties.idleTimeoutInMinutes, 4);
    assert.equal(body.properties.loadBalancingRules?.[0]?.properties["enableConnectionTracking"], true);
    assert.equal(body.properties.loadBalancingRules?.[1], second);
  });

  test("a port that is not wanted any more goes with its probe", () => {
    const seen = put(undefined, aFragment(web, { ports: [80, 443] }));
    const body = put(seen, aFragment(web, { ports: [443] }));
    assert.deepEqual(names(body.properties.loadBalancingRules), [`${web.base}-TCP-443`]);
    assert.deepEqual(names(body.properties.probes), [`${web.base}-TCP-443`]);
  });

  test("configured tags are added, others stay", () => {
    const seen = { ...aLoadBalancer({ frontends: [aFrontend("office")] }), tags: { team: "office" } };
    const body = put(seen, aFragment(web, { ports: [80], tags: { env: "prod" } }));
    assert.deepEqual(body.tags, { team: "office", env: "prod" });
    assert.ok(!isSettled({ ...body, tags: {} }, aFragment(web, { ports: [80], tags: { env: "prod" } })));
  });

  test("a load balancer of another SKU is refused, not spoilt", () => {
    const seen = { ...aLoadBalancer({ frontends: [aFrontend("office")] }), sku: { name: "Basic" } };
    const { outcome, refused } = mergeLoadBalancer(seen, [aFragment(web, { ports: [80] })]);
    assert.equal(outcome.kind, "unchanged");
    assert.equal(refused[0]?.rejection.reason, "LoadBalancerSkuMismatch");
  });
});

describe("ports of one frontend", () => {
  const onOffice = (owner: typeof web, port: number): LoadBalancerFragment =>
    aFragment(owner, { ports: [port], frontend: "office" });

  test("one that a foreign rule has is refused with a reason, and the others of the batch succeed", () => {
    const seen = aLoadBalancer({ frontends: [aFrontend("office")], rules: [aRule("office-rule", "office", 80)] });
    const { outcome, refused } = mergeLoadBalancer(seen, [onOffice(web, 80), aFragment(shop, { ports: [80] })]);
    assert.equal(outcome.kind, "put");
    assert.deepEqual(
      refused.map(({ owner }) => owner),
      ["default/web"],
    );
    assert.equal(
      refused[0]?.rejection.message,
      'TCP port 80 is taken on frontend "office" of load balancer "kubernetes" by load balancing rule "office-rule": ' +
        "use another port in spec.ports, or another address",
    );
    const rules = outcome.kind === "put" ? outcome.body.properties.loadBalancingRules : [];
    assert.deepEqual(names(rules), ["office-rule", `${shop.base}-TCP-80`]);
  });

  for (const { kind, nat } of [
    { kind: "an inbound NAT rule", nat: { inboundNatRules: [{ frontendPort: 80 }] } },
    {
      kind: "a range of an inbound NAT rule",
      nat: { inboundNatRules: [{ frontendPortRangeStart: 70, frontendPortRangeEnd: 90 }] },
    },
    {
      kind: "a range of an inbound NAT pool",
      nat: { inboundNatPools: [{ frontendPortRangeStart: 70, frontendPortRangeEnd: 90 }] },
    },
  ]) {
    test(`one that ${kind} has is refused`, () => {
      const body = aLoadBalancer({ frontends: [aFrontend("office")] });
      const [list, [ports]] = Object.entries(nat)[0] as [string, [object]];
      const properties = {
        protocol: "Tcp",
        frontendIPConfiguration: { id: idOf("frontendIPConfigurations", "office") },
        ...ports,
      };
      const seen = { ...body, properties: { ...body.properties, [list]: [{ name: "nat", properties }] } };
      const { refused } = mergeLoadBalancer(seen, [onOffice(web, 80)]);
      assert.equal(refused[0]?.rejection.reason, "PortConflict");
    });
  }

  test("an all-ports rule takes every port", () => {
    const all = {
      ...aRule("office-rule", "office", 0),
      properties: { ...aRule("r", "office", 0).properties, protocol: "All" },
    };
    const seen = aLoadBalancer({ frontends: [aFrontend("office")], rules: [all] });
    assert.equal(mergeLoadBalancer(seen, [onOffice(web, 80)]).refused.length, 1);
  });

  test("another protocol is another port", () => {
    const seen = aLoadBalancer({
      frontends: [aFrontend("office")],
      rules: [aRule("office-rule", "office", 80, "Udp")],
    });
    assert.equal(mergeLoadBalancer(seen, [onOffice(web, 80)]).refused.length, 0);
  });

  test("the Service that has it keeps it, though the other comes first by name", () => {
    const seen = put(aLoadBalancer({ frontends: [aFrontend("office")] }), onOffice(web, 80));
    const { refused } = mergeLoadBalancer(seen, [onOffice(shop, 80), onOffice(web, 80)]);
    assert.deepEqual(
      refused.map(({ owner }) => owner),
      ["default/shop"],
    );
  });

  test("of two that come together the first by name wins", () => {
    const seen = aLoadBalancer({ frontends: [aFrontend("office")] });
    const { refused } = mergeLoadBalancer(seen, [onOffice(web, 80), onOffice(shop, 80)]);
    assert.deepEqual(
      refused.map(({ owner }) => owner),
      ["default/web"],
    );
  });

  test("a refused Service keeps what it has, and that counts against the others", () => {
    const office = aLoadBalancer({ frontends: [aFrontend("office")], rules: [aRule("office-rule", "office", 81)] });
    const seen = put(office, onOffice(shop, 80));
    const { outcome, refused } = mergeLoadBalancer(seen, [onOffice(shop, 81), onOffice(web, 80)]);
    assert.deepEqual(
      refused.map(({ owner }) => owner),
      ["default/shop", "default/web"],
    );
    assert.equal(outcome.kind, "unchanged");
  });

  test("ports change hands within one batch", () => {
    const seen = put(aLoadBalancer({ frontends: [aFrontend("office")] }), onOffice(shop, 80), onOffice(web, 81));
    const { outcome, refused } = mergeLoadBalancer(seen, [onOffice(shop, 81), onOffice(web, 80)]);
    assert.deepEqual(refused, []);
    assert.equal(outcome.kind, "put");
  });
});

describe("a Service leaves", () => {
  const gone = (owner: typeof web, more: Partial<LoadBalancerFragment> = {}): LoadBalancerFragment => ({
    ...aFragment(owner, {}),
    shell: undefined,
    frontends: [],
    pools: [],
    ...more,
  });

  test("only its own parts go", () => {
    const both = put(undefined, aFragment(web, { ports: [80] }), aFragment(shop, { ports: [80] }));
    const body = put(both, gone(web));
    assert.deepEqual(names(body.properties.frontendIPConfigurations), [shop.base]);
    assert.deepEqual(names(body.properties.loadBalancingRules), [`${shop.base}-TCP-80`]);
  });

  test("with the last one the load balancer goes, our pool and its nodes included", () => {
    const seen = put(undefined, aFragment(web, { ports: [80] }));
    const pool = {
      name: "kubernetes",
      properties: { loadBalancerBackendAddresses: [{ name: "node-1", properties: {} }] },
    };
    const filled = { ...seen, properties: { ...seen.properties, backendAddressPools: [pool] } };
    const { outcome } = mergeLoadBalancer(filled, [
      gone(web, { disposable: { pools: ["kubernetes"], entries: new Set(["node-1"]) } }),
    ]);
    assert.deepEqual(outcome, { kind: "delete" });
  });

  test("those that did not know to be the last leave one behind while machines are in the pool", () => {
    const seen = put(undefined, aFragment(web, { ports: [80] }), aFragment(shop, { ports: [80] }));
    const held = { pools: ["kubernetes"], entries: new Set<string>(), hasMachines: true };
    const leaving = [gone(web, { disposable: held }), gone(shop, { disposable: held })];
    const { outcome, answers } = merge(seen, leaving);
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ["stale", "accepted"],
    );
    const left = outcome.kind === "put" ? outcome.body : assert.fail(outcome.kind);
    assert.deepEqual(names(left.properties.loadBalancingRules), [`${web.base}-TCP-80`]);
    const free = { ...held, hasMachines: false };
    assert.deepEqual(merge(left, [gone(web, { disposable: free })]).outcome, { kind: "delete" });
  });

  for (const [what, add] of [
    [
      "a foreign pool",
      (seen: LoadBalancer) => ({
        backendAddressPools: [...(seen.properties.backendAddressPools ?? []), { name: "office", properties: {} }],
      }),
    ],
    ["a foreign probe", () => ({ probes: [{ name: "office", properties: { protocol: "Tcp", port: 1 } }] })],
    [
      "a person's server in our pool",
      () => ({
        backendAddressPools: [
          {
            name: "kubernetes",
            properties: { loadBalancerBackendAddresses: [{ name: "server", properties: { ipAddress: "10.9.9.9" } }] },
          },
        ],
      }),
    ],
  ] as const) {
    test(`${what} keeps the last frontend alive, with a warning, and for good`, () => {
      const seen = put(undefined, aFragment(web, { ports: [80] }));
      const held: LoadBalancer = { ...seen, properties: { ...seen.properties, ...add(seen) } };
      const { outcome, warnings } = mergeLoadBalancer(held, [gone(web)]);
      assert.ok(outcome.kind === "put");
      assert.deepEqual(names(outcome.body.properties.frontendIPConfigurations), [web.base]);
      assert.deepEqual(names(outcome.body.properties.loadBalancingRules), []);
      assert.equal(warnings[0]?.owner, "default/web");
      assert.ok(isSettled(outcome.body, gone(web)));
    });
  }

  test("a load balancer whose pools another client fills stays", () => {
    const seen = put(undefined, aFragment(web, { ports: [80] }));
    const { outcome } = mergeLoadBalancer(seen, [gone(web, { disposable: undefined })]);
    assert.equal(outcome.kind, "put");
  });

  test("a frontend that an outbound rule uses stays, with a warning", () => {
    const joined = put(aLoadBalancer({ frontends: [aFrontend("office")] }), aFragment(web, { ports: [80] }));
    const outboundRules = [
      { name: "out", properties: { frontendIPConfigurations: [{ id: idOf("frontendIPConfigurations", web.base) }] } },
    ];
    const seen = { ...joined, properties: { ...joined.properties, outboundRules } };
    const { outcome, warnings } = mergeLoadBalancer(seen, [gone(web)]);
    assert.ok(outcome.kind === "put");
    assert.deepEqual(names(outcome.body.properties.frontendIPConfigurations), ["office", web.base]);
    assert.match(warnings[0]?.warning.message ?? "", /outbound rule "out" uses it/);
    assert.ok(isSettled(outcome.body, gone(web)));
  });

  test("a frontend that another Service uses outlives its own, and goes with the other's last rule", () => {
    const shared = put(
      undefined,
      aFragment(web, { ports: [80] }),
      aFragment(shop, { ports: [81], frontend: web.base }),
    );
    const left = put(shared, gone(web));
    assert.deepEqual(names(left.properties.frontendIPConfigurations), [web.base]);
    assert.ok(isSettled(left, gone(web)));
    assert.deepEqual(mergeLoadBalancer(left, [gone(shop, { releases: [web.base] })]).outcome, { kind: "delete" });
  });

  test("both leave in one batch and nothing stays, without a warning", () => {
    const shared = put(
      undefined,
      aFragment(web, { ports: [80] }),
      aFragment(shop, { ports: [81], frontend: web.base }),
    );
    const { outcome, warnings } = mergeLoadBalancer(shared, [gone(web), gone(shop, { releases: [web.base] })]);
    assert.deepEqual(outcome, { kind: "delete" });
    assert.deepEqual(warnings, []);
  });

  test("one comes onto the frontend that another leaves in the same batch", () => {
    const seen = put(undefined, aFragment(web, { ports: [80] }));
    const body = put(seen, gone(web), aFragment(shop, { ports: [81], frontend: web.base }));
    assert.deepEqual(names(body.properties.frontendIPConfigurations), [web.base]);
  });

  test("one that comes onto a frontend that has gone must decide anew", () => {
    const seen = put(undefined, aFragment(web, { ports: [80] }));
    const { outcome, stale, refused } = mergeLoadBalancer(seen, [aFragment(shop, { ports: [81], frontend: "gone" })]);
    assert.deepEqual(
      { outcome, stale, refused },
      { outcome: { kind: "unchanged" }, stale: ["default/shop"], refused: [] },
    );
  });

  test("of two that make a frontend for the same address, one is written and the other decides anew", () => {
    const batch = [aFragment(web, { ports: [80], publicIP: "one" }), aFragment(shop, { ports: [81], publicIP: "one" })];
    for (const order of [batch, batch.toReversed()]) {
      const { outcome, stale } = mergeLoadBalancer(undefined, order);
      assert.deepEqual(stale, ["default/web"]);
      assert.equal(outcome.kind, "put");
      const { properties } = outcome.kind === "put" ? outcome.body : assert.fail();
      assert.deepEqual(names(properties.frontendIPConfigurations), [shop.base]);
    }
  });

  test("who has the address already keeps it, and the newcomer decides anew", () => {
    const seen = put(undefined, aFragment(web, { ports: [80], publicIP: "one" }));
    const newcomer = aFragment(shop, { ports: [81], publicIP: "one" });
    const alone = mergeLoadBalancer(seen, [newcomer]);
    assert.deepEqual([alone.stale, alone.outcome.kind], [["default/shop"], "unchanged"]);
    const both = mergeLoadBalancer(seen, [newcomer, aFragment(web, { ports: [82], publicIP: "one" })]);
    assert.deepEqual([both.stale, both.outcome.kind], [["default/shop"], "put"]);
  });

  test("a load balancer that is not there needs nothing", () => {
    assert.deepEqual(mergeLoadBalancer(undefined, [gone(web)]).outcome, { kind: "unchanged" });
    assert.ok(isSettled(undefined, gone(web)));
  });
});

test("a frontend that others use too keeps its address", () => {
  const shared = put(undefined, aFragment(web, { ports: [80] }), aFragment(shop, { ports: [81], frontend: web.base }));
  const moved = aFragment(web, { ports: [80], publicIP: "another" });
  const { outcome, refused } = mergeLoadBalancer(shared, [moved]);
  assert.equal(outcome.kind, "unchanged");
  assert.equal(refused[0]?.rejection.reason, "FrontendShared");
  assert.match(
    refused[0]?.rejection.message ?? "",
    /load balancing rule ".*" of a Service that is not in this cluster/,
  );
  const withNeighbours = { ...moved, neighbours: [aService({ name: "shop" })] };
  const named = mergeLoadBalancer(shared, [withNeighbours]).refused[0]?.rejection.message ?? "";
  assert.match(named, /^the Service cannot get another address, because Service default\/shop uses frontend/);
});

test("the shared probe goes with the last rule that names it", () => {
  const probed = (owner: typeof web): LoadBalancerFragment =>
    aFragment(owner, { ports: [80], probe: SHARED_PROBE_NAME });
  const both = put(undefined, probed(web), probed(shop));
  assert.deepEqual(names(both.properties.probes), [SHARED_PROBE_NAME]);
  const one = put(both, aFragment(web, { ports: [80] }));
  assert.deepEqual(names(one.properties.probes), [SHARED_PROBE_NAME, `${web.base}-TCP-80`]);
  const none = put(one, aFragment(shop, { ports: [80] }));
  assert.deepEqual(names(none.properties.probes), [`${web.base}-TCP-80`, `${shop.base}-TCP-80`]);
});

test("asking about one Service of a large load balancer costs no pass over it", () => {
  const owners = Array.from({ length: 300 }, (_, at) => anOwner(`service-${at}`));
  const body = put(undefined, ...owners.map((owner) => aFragment(owner, { ports: [80, 443] })));
  let reads = 0;
  const counted = new Proxy(body, {
    get: (target, key) => (key === "properties" ? (reads++, target.properties) : Reflect.get(target, key)),
  });
  for (const owner of owners) assert.ok(isSettled(counted, aFragment(owner, { ports: [80, 443] })));
  assert.ok(reads <= 5, `${reads} reads of the body for ${owners.length} Services`);
});
