/** One Service from its creation to its end, round by round. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aService, CONFIG, PREFIX } from "../../../test/support/core-fixtures.ts";
import { aFragment } from "../../../test/support/fragments.ts";
import type { LoadBalancer } from "../model/arm.ts";
import { mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import { withListed } from "../resources/observed-azure.ts";
import { APPLIED_ANNOTATION, isApplied } from "./applied-state.ts";
import { FINALIZER, ownerOf } from "../intent/ownership.ts";
import type { Observed } from "../observed.ts";
import { publicIPGroups, publishedIngress, reconcileService } from "./reconcile-service.ts";
import {
  INTERNAL,
  web,
  roundsOf,
  lastSteps,
  worldWith,
  ingressOf,
  pipOf,
  pips,
  loadBalancers,
} from "../../../test/support/service-rounds.ts";

describe("a Service comes and goes", () => {
  test("external: finalizer, public IP, load balancer, pool and access, status with the mark", () => {
    const world = worldWith();
    assert.deepEqual(roundsOf(world, "web"), [
      "addFinalizer",
      `publicIP ${pipOf(world)}`,
      "loadBalancer kubernetes + securityGroup nsg",
      "backendPool kubernetes",
      "updateStatus",
      "settled",
    ]);
    assert.equal(ingressOf(world)[0]?.ipMode, "VIP");
    assert.ok(isApplied(world.service("web"), world.config));
  });

  test("internal: no public IP, and the address that Azure gave", () => {
    const world = worldWith({ ...web, metadata: { name: "web", annotations: INTERNAL } });
    assert.deepEqual(roundsOf(world, "web"), [
      "addFinalizer",
      "loadBalancer kubernetes-internal",
      "backendPool kubernetes-internal",
      "updateStatus",
      "settled",
    ]);
    assert.match(ingressOf(world)[0]?.ip ?? "", /^10\.240\./);
  });

  test("deleted: access, load balancer, public IP, finalizer", () => {
    const world = worldWith();
    world.settle();
    world.delete("web");
    const pip = pipOf(world);
    assert.deepEqual(roundsOf(world, "web"), [
      "securityGroup nsg",
      "loadBalancer kubernetes",
      `publicIP ${pip}`,
      "removeFinalizer",
      "gone",
    ]);
    assert.deepEqual([loadBalancers(world), pips(world)], [[], []]);
  });

  test("no LoadBalancer any more: the same, and its status is cleared", () => {
    const world = worldWith();
    world.settle();
    world.respec("web", { type: "ClusterIP" });
    assert.deepEqual(roundsOf(world, "web").slice(-3), ["updateStatus", "removeFinalizer", "settled"]);
    assert.deepEqual(ingressOf(world), []);
    assert.equal(world.service("web").metadata.annotations?.[APPLIED_ANNOTATION], undefined);
  });

  test("a security group or load balancer that another client has removed stops no deletion", () => {
    const world = worldWith();
    world.settle();
    world.securityGroup = undefined;
    world.loadBalancers = [];
    world.delete("web");
    assert.deepEqual(roundsOf(world, "web").at(-1), "gone");
    assert.deepEqual(pips(world), []);
  });

  test("a Service that cannot be read has nothing made, and can be deleted all the same", () => {
    const bad = { [`${PREFIX}azure-load-balancer-tcp-idle-timeout`]: "3" };
    const world = worldWith({ ...web, metadata: { name: "web", annotations: bad } });
    assert.deepEqual(roundsOf(world, "web").length, 1);
    assert.deepEqual(pips(world), []);
    const later = worldWith();
    later.settle();
    later.annotate("web", bad);
    later.delete("web");
    assert.equal(roundsOf(later, "web").at(-1), "gone");
  });

  test("a resource group that does not exist: refused by name and key; what it has is found where it is, and deleted", () => {
    const key = `${PREFIX}azure-load-balancer-resource-group`;
    const world = worldWith();
    world.settle();
    world.annotate("web", { [key]: "Other-RG" });
    const unseen = (): Observed => {
      const observed = world.observe(world.service("web"));
      return {
        ...observed,
        listed: withListed(observed.listed, "publicIP", "other-rg", []),
        missingGroups: new Set(["other-rg"]),
      };
    };
    const refused = reconcileService(unseen());
    assert.ok(refused.kind === "reject", refused.kind);
    assert.equal(refused.rejection.reason, "ResourceGroupNotFound");
    assert.match(refused.rejection.message, new RegExp(`${key}: resource group "Other-RG" does not exist`));
    world.delete("web");
    for (let round = 0; round < 9 && world.services.size > 0; round++) {
      world.write(world.service("web"), lastSteps(reconcileService(unseen())));
    }
    assert.deepEqual([world.services.size, loadBalancers(world), pips(world)], [0, [], []]);
  });

  test("an internal Service needs no resource group for public IPs", () => {
    const annotations = {
      [`${PREFIX}azure-load-balancer-internal`]: "true",
      [`${PREFIX}azure-load-balancer-resource-group`]: "nowhere",
    };
    const world = worldWith({ ...web, metadata: { name: "web", annotations } });
    world.settle();
    const missingGroups = new Set(["nowhere"]);
    assert.equal(reconcileService({ ...world.observe(world.service("web")), missingGroups }).kind, "settled");
  });

  test("of another class: not ours, and left alone", () => {
    const world = worldWith({ ...web, spec: { ...web.spec, loadBalancerClass: "other" } });
    assert.deepEqual(roundsOf(world, "web"), ["settled"]);
  });
});

test("where Azure serves a Service is read without asking what it wants", () => {
  const world = worldWith();
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), { kind: "absent" });
  world.settle();
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), {
    kind: "present",
    ingress: ingressOf(world),
  });
  world.loadBalancers = [];
  assert.deepEqual(publishedIngress(world.observe(world.service("web"))), { kind: "present", ingress: [] });
  const unseen = { ...world.observe(world.service("web")), listed: {} };
  assert.deepEqual(publishedIngress(unseen), {
    kind: "read",
    needs: [{ kind: "list", of: "publicIP", resourceGroup: "rg" }],
  });
  assert.ok(world.service("web").metadata.finalizers?.includes(FINALIZER));
});

test("public IPs are looked for where the Service's frontends point, besides its own group and the cluster's", () => {
  const owner = ownerOf(aService({}));
  const { outcome } = mergeLoadBalancer(undefined, [aFragment(owner, { ports: [80] })]);
  const body = outcome.kind === "put" ? outcome.body : assert.fail();
  const text = JSON.stringify(body).replaceAll(
    "resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses",
    "resourceGroups/Old/providers/Microsoft.Network/publicIPAddresses",
  );
  const groups = publicIPGroups({ config: CONFIG, loadBalancers: [JSON.parse(text) as LoadBalancer] }, owner, ["Mine"]);
  assert.deepEqual(groups, ["rg", "mine", "old"]);
});
