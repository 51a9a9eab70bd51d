/** Services of two namespaces at one address, under each value of `addressSharing`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import type { AddressSharing } from "../config/cluster-config.ts";
import type { Rejection } from "../outcome.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const CONSENT = "azlb.io/share-address-with";
const PRIVATE = "10.240.0.100";
const ELSEWHERE = "20.200.0.1";

function addressOf(world: CoreWorld, name: string): string | undefined {
  return world.service(name).status.loadBalancer.ingress?.[0]?.ip;
}

interface Shape {
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly port?: number;
  readonly spec?: object;
}

function apply(world: CoreWorld, name: string, { namespace, annotations = {}, port = 80, spec = {} }: Shape): void {
  const metadata = { name, annotations, ...(namespace !== undefined && { namespace }) };
  world.apply({ metadata, spec: { ports: [{ port }], ...spec } });
}

/** What the joiner names, and the key that a refusal of it begins with. */
type Way = (world: CoreWorld) => Shape & { readonly key: string };

const WAYS: Readonly<Record<string, Way>> = {
  "spec.loadBalancerIP": (world) => ({
    spec: { loadBalancerIP: addressOf(world, "web") },
    key: "spec.loadBalancerIP: ",
  }),
  "the annotation of an address": (world) => ({
    annotations: { [`${PREFIX}azure-load-balancer-ipv4`]: addressOf(world, "web") ?? "" },
    key: `${PREFIX}azure-load-balancer-ipv4 or`,
  }),
  "the name of its public IP": (world) => {
    const name = world.publicIPs.get("rg")?.[0]?.name ?? "";
    return { annotations: { [`${PREFIX}azure-pip-name`]: name }, key: `${PREFIX}azure-pip-name: "${name}"` };
  },
  "a private address": () => ({
    annotations: INTERNAL,
    spec: { loadBalancerIP: PRIVATE },
    key: `${PREFIX}azure-load-balancer-ipv4 or spec.loadBalancerIP: ${PRIVATE}`,
  }),
  "an additional address": () => ({
    annotations: { [`${PREFIX}azure-additional-public-ips`]: ELSEWHERE },
    key: `${PREFIX}azure-additional-public-ips: ${ELSEWHERE}`,
  }),
};

/** `default/web` is public, with an additional address, and `default/inside` private. */
function aWorld(addressSharing: AddressSharing, consent?: string): CoreWorld {
  const world = new CoreWorld({ addressSharing });
  const consents = consent === undefined ? {} : { [CONSENT]: consent };
  apply(world, "web", { annotations: { ...consents, [`${PREFIX}azure-additional-public-ips`]: ELSEWHERE } });
  apply(world, "inside", { annotations: { ...consents, ...INTERNAL }, spec: { loadBalancerIP: PRIVATE } });
  assert.deepEqual(world.settle(), new Map());
  return world;
}

function azure({ loadBalancers, publicIPs, securityGroup }: CoreWorld): unknown {
  return { loadBalancers, publicIPs, securityGroup };
}

for (const [way, shapeOf] of Object.entries(WAYS)) {
  describe(`by ${way}`, () => {
    const join = (world: CoreWorld, namespace: string): Rejection | undefined => {
      const { key: _, ...shape } = shapeOf(world);
      apply(world, "joiner", { ...shape, namespace, port: 81 });
      return world.settle().get(namespace === "default" ? "joiner" : `${namespace}/joiner`);
    };

    for (const [sharing, namespace, consent] of [
      ["any", "other", undefined],
      ["namespace", "default", undefined],
      ["consent", "default", undefined],
      ["consent", "other", "one, other"],
      ["consent", "other", "*"],
    ] as const) {
      test(`${sharing}, namespace ${namespace}, consent ${consent}: joins`, () => {
        assert.equal(join(aWorld(sharing, consent), namespace), undefined);
      });
    }

    for (const [sharing, consent] of [
      ["namespace", undefined],
      ["namespace", "other"],
      ["consent", undefined],
      ["consent", "others"],
    ] as const) {
      test(`${sharing}, another namespace, consent ${consent}: refused, and nothing is written`, () => {
        const world = aWorld(sharing, consent);
        const before = azure(world);
        const { reason, message = "" } = join(world, "other") ?? {};
        assert.equal(reason, "AddressTaken");
        const holder = way === "a private address" ? "default/inside" : "default/web";
        const start = `is held by Service ${holder}, which does not share it with namespace "other" (addressSharing: ${sharing}): use another address`;
        assert.ok(message.includes(shapeOf(world).key) && message.includes(start), message);
        assert.equal(
          message.endsWith(`or add "other" to annotation ${CONSENT} of that Service`),
          sharing === "consent",
        );
        assert.deepEqual(azure(world), before);
        assert.deepEqual(world.service("other/joiner").metadata.finalizers ?? [], []);
      });
    }
  });
}

describe("a Service that had joined before sharing was limited", () => {
  function limited(): CoreWorld {
    const before = aWorld("any");
    const { key: _, ...shape } = WAYS["spec.loadBalancerIP"]!(before);
    apply(before, "joiner", { ...shape, namespace: "other", port: 81 });
    assert.deepEqual(before.settle(), new Map());
    const world = new CoreWorld({ addressSharing: "namespace" });
    return Object.assign(world, {
      services: before.services,
      loadBalancers: before.loadBalancers,
      publicIPs: before.publicIPs,
      securityGroup: before.securityGroup,
      members: before.members,
    });
  }

  test("stays as it is, with a warning", () => {
    const world = limited();
    const decision = world.decide(world.service("other/joiner"));
    assert.ok(decision.kind === "settled");
    const [warning] = decision.warnings.filter(({ reason }) => reason === "AddressShared");
    assert.match(warning?.message ?? "", /is held by Service default\/web, which does not share it .*: it stays/);
  });

  test("does not concern the holder", () => {
    const world = limited();
    const decision = world.decide(world.service("web"));
    assert.deepEqual(decision.kind === "settled" && decision.warnings, []);
  });

  test("comes back after the load balancer was lost, and so does the holder", () => {
    const world = limited();
    world.loadBalancers = [];
    assert.deepEqual(world.settle(), new Map());
    assert.equal(world.loadBalancers[0]?.properties.loadBalancingRules?.length, 2);
  });

  test("is the holder once it is alone", () => {
    const world = limited();
    world.delete("web");
    world.settle();
    const decision = world.decide(world.service("other/joiner"));
    assert.deepEqual(decision.kind === "settled" && decision.warnings, []);
  });
});

test("of two Services that name a user's public IP at once, the first on the load balancer has it", () => {
  for (const order of [
    ["default/one", "other/two"],
    ["other/two", "default/one"],
  ] as const) {
    const world = new CoreWorld({ addressSharing: "namespace" });
    world.putPublicIP("shared", { sku: { name: "Standard" } });
    for (const [at, key] of ["default/one", "other/two"].entries()) {
      const [namespace = "", name = ""] = key.split("/");
      const annotations = { [`${PREFIX}azure-pip-name`]: "shared" };
      apply(world, name, { namespace, annotations, port: 80 + at });
    }
    // both have decided before either has written
    const finalizers = order.map((key) => world.decide(world.service(key)));
    order.forEach((key, at) => world.write(world.service(key), stepsOf(finalizers[at])));
    const joins = order.map((key) => world.decide(world.service(key)));
    order.forEach((key, at) => world.write(world.service(key), stepsOf(joins[at])));
    const rejected = world.settle();
    assert.deepEqual([...rejected.keys()], [order[1].replace("default/", "")]);
    assert.equal(rejected.get(order[1].replace("default/", ""))?.reason, "AddressTaken");
  }
});

test("of two Services that ask for an additional address at once, the older has it, whichever is looked at first", () => {
  for (const first of ["default/one", "other/two"]) {
    const world = new CoreWorld({ addressSharing: "namespace" });
    const annotations = { [`${PREFIX}azure-additional-public-ips`]: ELSEWHERE };
    apply(world, "one", { annotations });
    apply(world, "two", { namespace: "other", annotations });
    world.services = new Map([...world.services].sort(([key]) => (key === first ? -1 : 1)));
    assert.deepEqual([...world.settle().keys()], ["other/two"]);
  }
});

function stepsOf(decision: ReturnType<CoreWorld["decide"]> | undefined) {
  return decision?.kind === "act" ? decision.steps : assert.fail(decision?.kind);
}
