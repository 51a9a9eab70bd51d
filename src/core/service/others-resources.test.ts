/** What other clients and other Services have, and what a Service makes of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import type { Decision } from "../steps.ts";
import {
  INTERNAL,
  web,
  roundsOf,
  rejectionOf,
  lastSteps,
  worldWith,
  ingressOf,
} from "../../../test/support/service-rounds.ts";

describe("what others have", () => {
  test("a public IP that a person made is used and left", () => {
    const world = new CoreWorld();
    const mine = world.putPublicIP("mine", {
      sku: { name: "Standard" },
      properties: { publicIPAddressVersion: "IPv4" },
    });
    world.apply({ ...web, metadata: { name: "web", annotations: { [`${PREFIX}azure-pip-name`]: "mine" } } });
    world.settle();
    assert.equal(ingressOf(world)[0]?.ip, mine.properties.ipAddress);
    world.delete("web");
    world.settle();
    assert.deepEqual([...world.publicIPs.values()].flat(), [mine]);
  });

  test("a public IP that something else holds outlives its Service", () => {
    const world = worldWith();
    world.settle();
    const [publicIP] = [...world.publicIPs.values()].flat();
    const nic = {
      id: "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/n/ipConfigurations/c",
    };
    world.delete("web");
    const service = world.service("web");
    for (let round = 0; round < 2; round++) world.write(service, lastSteps(world.decide(service)));
    world.publicIPs = new Map([
      ["rg", [{ ...publicIP!, properties: { ...publicIP!.properties, ipConfiguration: nic } }]],
    ]);
    assert.equal(roundsOf(world, "web").at(-1), "gone");
    assert.deepEqual([...world.publicIPs.values()].flat()[0]?.tags?.["k8s-azure-service"], "");
  });

  test("an address that Azure has not given yet is waited for", () => {
    const world = worldWith();
    world.settle();
    const [publicIP] = [...world.publicIPs.values()].flat();
    const { ipAddress: _, ...properties } = publicIP!.properties;
    world.publicIPs = new Map([["rg", [{ ...publicIP!, properties }]]]);
    assert.equal(world.decide(world.service("web")).kind, "wait");
  });

  test("a subnet that is not there is rejected by name", () => {
    const annotations = { ...INTERNAL, [`${PREFIX}azure-load-balancer-internal-subnet`]: "nowhere" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    assert.deepEqual(roundsOf(world, "web"), ["SubnetNotFound"]);
    assert.equal(
      rejectionOf(world, "web").message,
      `annotation ${PREFIX}azure-load-balancer-internal-subnet: VNet "vnet" has no subnet "nowhere": ` +
        'name one that it has ("subnet", "subnet2")',
    );
  });

  test("a DNS label that another Service has is refused by its name, until that Service lets it go", () => {
    const label = { [`${PREFIX}azure-dns-label-name`]: "shop" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations: label } });
    world.settle();
    world.apply({ ...web, metadata: { name: "late", annotations: label } });
    assert.equal(roundsOf(world, "late").at(-1), "DNSLabelConflict");
    assert.match(
      rejectionOf(world, "late").message,
      /^service\.beta\.kubernetes\.io\/azure-dns-label-name: "shop" is the label of Service default\/web already \(public IP "kubernetes-a.*"\), .*: choose another one/,
    );
    world.annotate("web", { [`${PREFIX}azure-dns-label-name`]: "other" });
    assert.equal(world.decide(world.service("late")).kind, "act", "from now on it is Azure's to say");
    world.settle();
    assert.equal(ingressOf(world, "late").length, 1);
  });

  test("an address that another Service has from Azure is not to be shown: neither public nor private", () => {
    for (const [annotations, reason, message] of [
      [{}, "AddressTaken", /is the address of Service default\/web: leave it out/],
      [{ [`${PREFIX}azure-load-balancer-internal`]: "true" }, "InvalidAnnotation", /can never be public/],
    ] as const) {
      const world = worldWith({ ...web, metadata: { name: "web", annotations } });
      world.settle();
      const [theirs] = ingressOf(world);
      const { loadBalancers: seen, securityGroup } = world;
      const claims = { [`${PREFIX}azure-additional-public-ips`]: `198.51.100.7, ${theirs?.ip}` };
      world.apply({ metadata: { name: "thief", annotations: claims }, spec: { ports: [{ port: 22 }] } });
      assert.equal(roundsOf(world, "thief").at(-1), reason);
      assert.match(rejectionOf(world, "thief").message, message);
      assert.deepEqual([world.loadBalancers, world.securityGroup], [seen, securityGroup]);
      assert.deepEqual(ingressOf(world, "thief"), []);
    }
  });

  test("another ingress in the status is put right, the incumbent's without ipMode is not", () => {
    const world = worldWith();
    world.settle();
    const service = world.service("web");
    const republish = (ingress: { ip?: string; hostname?: string }[]): Decision =>
      world.decide({ ...service, status: { loadBalancer: { ingress } } });
    const [{ ip } = {}] = ingressOf(world);
    assert.equal(republish([{ ip: ip ?? "" }]).kind, "settled");
    assert.deepEqual(
      lastSteps(republish([{ ip: "9.9.9.9" }])).map(({ kind }) => kind),
      ["updateStatus"],
    );
    assert.deepEqual(
      lastSteps(republish([])).map(({ kind }) => kind),
      ["updateStatus"],
    );
  });
});
