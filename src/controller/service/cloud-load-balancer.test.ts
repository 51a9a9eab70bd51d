/** The four verbs of the designs, on a cluster and an Azure in memory. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { pinned } from "../../../test/support/service-rounds.ts";
import { ArmError, type ArmFailure, plainFailure } from "../../azure/arm/failures.ts";
import { serviceKey } from "../../core/model/kubernetes.ts";
import type { Listed } from "../../core/resources/observed-azure.ts";
import type { Step } from "../../core/steps.ts";
import { CloudLoadBalancer, type ServiceObserver, type StepExecutor } from "./cloud-load-balancer.ts";

const { signal } = new AbortController();
const OPTIONS = { signal, mayRepair: true };
const INTERNAL = `${PREFIX}azure-load-balancer-internal`;

/** The cluster behind an executor that writes down what goes through it. */
function rig() {
  const world = new CoreWorld();
  const steps: Step[] = [];
  const failures: Error[] = [];
  let refreshes = 0;
  const observer: ServiceObserver = {
    observe: async (service, needs) => {
      if (needs.length > 0) world.decide(service); // shows what is asked for
      return world.observe(service);
    },
    refresh: () => void refreshes++,
  };
  const executor: StepExecutor = {
    expect: () => {},
    apply: async (service, step) => {
      const failure = step.kind === "loadBalancer" ? failures.shift() : undefined;
      if (failure !== undefined) throw failure;
      steps.push(step);
      world.write(service, [step]);
      const gone = { ...service, metadata: { ...service.metadata, finalizers: [] } };
      return world.services.get(serviceKey(service)) ?? gone;
    },
  };
  const kinds = (): string[] => steps.splice(0).map(({ kind }) => kind);
  return {
    world,
    kinds,
    failures,
    refreshes: () => refreshes,
    observer,
    cloud: new CloudLoadBalancer({ observer, executor, turns: { next: async () => {} } }),
  };
}

function refused(code: string): ArmError {
  const failure = { ...plainFailure("busy", "refused"), kind: "invalid", code, target: undefined } as ArmFailure;
  return new ArmError(failure, "writing the load balancer");
}

/** Public IPs as Azure shows them before it has assigned an address. */
function withoutAddresses(listed: Listed): Listed {
  const publicIP = new Map(
    [...(listed.publicIP ?? [])].map(([group, bodies]) => [
      group,
      bodies.map((body) => {
        const { ipAddress: _, ...properties } = body.properties;
        return { ...body, properties };
      }),
    ]),
  );
  return { ...listed, publicIP };
}

describe("the four verbs", () => {
  test("getLoadBalancer reads only, and says at which addresses Azure serves the Service", async () => {
    const { world, kinds, cloud } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    assert.equal(await cloud.getLoadBalancer(world.service("web"), signal), undefined);
    assert.deepEqual(kinds(), []);
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    kinds();
    const { status } = world.service("web");
    assert.deepEqual(await cloud.getLoadBalancer(world.service("web"), signal), status.loadBalancer);
    assert.deepEqual(kinds(), []);
  });

  test("ensureLoadBalancer makes everything that is asked for, the finalizer first and the status last", async () => {
    const { world, kinds, cloud } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    const outcome = await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    assert.equal(outcome.kind, "settled");
    const done = kinds();
    assert.deepEqual([done[0], done.at(-1)], ["addFinalizer", "updateStatus"]);
    assert.deepEqual(new Set(done.slice(1, -1)), new Set(["publicIP", "loadBalancer", "backendPool", "securityGroup"]));
    assert.equal((await cloud.ensureLoadBalancer(world.service("web"), OPTIONS)).kind, "settled");
    assert.deepEqual(kinds(), [], "once is enough");
  });

  test("what waits for an address of a public IP reads it again, also where another process wrote it", async () => {
    const { world, kinds, observer, cloud } = rig();
    let isRead = false;
    const observe = observer.observe.bind(observer);
    observer.observe = async (...about) => {
      const observed = await observe(...about);
      return isRead ? observed : { ...observed, listed: withoutAddresses(observed.listed) };
    };
    observer.refresh = (kind) => void (isRead ||= kind === "publicIP");
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    assert.equal((await cloud.ensureLoadBalancer(world.service("web"), OPTIONS)).kind, "waiting");
    assert.ok(!kinds().includes("updateStatus"));
    assert.equal((await cloud.ensureLoadBalancer(world.service("web"), OPTIONS)).kind, "settled");
    assert.equal(world.service("web").status.loadBalancer.ingress?.length, 1);
  });

  test("a difference counts once it was seen twice: Azure may have been read before another Service went, and the cluster after", async () => {
    const { world, observer, cloud } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    world.apply({ metadata: { name: "shop", annotations: pinned(world, "web") }, spec: { ports: [{ port: 81 }] } });
    world.settle();
    const { securityGroup } = world;
    world.delete("shop");
    world.settle();
    let looks = 0;
    let isStale = (): boolean => looks++ === 0;
    const observe = observer.observe.bind(observer);
    observer.observe = async (...about) => ({ ...(await observe(...about)), ...(isStale() && { securityGroup }) });
    const look = () => cloud.ensureLoadBalancer(world.service("web"), { signal, mayRepair: false, mayRestore: true });
    assert.equal((await look()).kind, "settled");
    isStale = () => true;
    assert.equal((await look()).kind, "drifted", "what stays so is told");
  });

  test("a write that names what is gone is decided anew on a fresh look, once", async () => {
    const { world, cloud, failures, refreshes } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    failures.push(refused("InvalidResourceReference"));
    assert.equal((await cloud.ensureLoadBalancer(world.service("web"), OPTIONS)).kind, "settled");
    assert.equal(refreshes(), 1);
    world.apply({ metadata: { name: "more" }, spec: { ports: [{ port: 80 }] } });
    failures.push(refused("InvalidResourceReference"), refused("InvalidResourceReference"));
    await assert.rejects(cloud.ensureLoadBalancer(world.service("more"), OPTIONS), ArmError);
    failures.push(refused("InvalidRequestFormat"));
    await assert.rejects(cloud.ensureLoadBalancer(world.service("more"), OPTIONS), ArmError);
    assert.equal(refreshes(), 2, "nothing is read anew for another refusal");
  });

  test("a warning that every round has is one warning", async () => {
    const { world, cloud } = rig();
    world.apply({
      metadata: { name: "web", annotations: { [`${PREFIX}azure-load-balancer-tcp-idle-timout`]: "5" } },
      spec: { ports: [{ port: 80 }] },
    });
    const outcome = await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    assert.deepEqual(outcome.kind === "settled" && outcome.warnings.map(({ reason }) => reason), ["UnknownAnnotation"]);
  });

  test("updateLoadBalancer does the same", async () => {
    const { world, kinds, cloud } = rig();
    world.apply({ metadata: { name: "web", annotations: { [INTERNAL]: "true" } }, spec: { ports: [{ port: 80 }] } });
    assert.equal((await cloud.updateLoadBalancer(world.service("web"), OPTIONS)).kind, "settled");
    assert.ok(kinds().includes("loadBalancer"));
    assert.equal(world.service("web").status.loadBalancer.ingress?.length, 1);
  });

  test("ensureLoadBalancerDeleted: security rules, load balancer, public IP, and the finalizer last", async () => {
    const { world, kinds, cloud } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    kinds();
    world.delete("web");
    assert.equal((await cloud.ensureLoadBalancerDeleted(world.service("web"), { signal })).kind, "settled");
    assert.deepEqual(kinds(), ["securityGroup", "loadBalancer", "publicIP", "removeFinalizer"]);
    assert.deepEqual([world.loadBalancers, [...world.publicIPs.values()].flat(), world.services.size], [[], [], 0]);
  });

  test("what may not be repaired is told with what differs, and no more of it than an event can hold", async () => {
    const { world, cloud } = rig();
    const ports = [80, 81, 82, 83, 84, 85, 86].map((port) => ({ name: `p${port}`, port }));
    world.apply({ metadata: { name: "web" }, spec: { ports } });
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    world.loadBalancers = world.loadBalancers.map((body) => {
      const rules = body.properties.loadBalancingRules ?? [];
      const edited = rules.map((rule) => ({ ...rule, properties: { ...rule.properties, idleTimeoutInMinutes: 15 } }));
      return { ...body, properties: { ...body.properties, loadBalancingRules: edited } };
    });
    const left = await cloud.ensureLoadBalancer(world.service("web"), { signal, mayRepair: false });
    assert.ok(left.kind === "drifted");
    const all = left.differences.split(", ");
    assert.match(all[0] ?? "", /^loadBalancingRules\[[^\]]+-TCP-80\]\.idleTimeoutInMinutes: 15 -> 4$/);
    assert.deepEqual([all.length, all.at(-1)], [6, "and 2 more"]);
  });

  test("what is gone entirely is made again once three looks agree, and left where one of them shows it", async () => {
    const { world, kinds, observer, cloud, refreshes } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    kinds();
    const before = world.service("web").status;
    const observe = observer.observe.bind(observer);
    let looks = 0;
    observer.observe = async (...about) => ({
      ...(await observe(...about)),
      ...(looks++ < 2 && { loadBalancers: [] }),
    });
    const look = () => cloud.ensureLoadBalancer(world.service("web"), { signal, mayRepair: false, mayRestore: true });
    assert.deepEqual([(await look()).kind, kinds(), refreshes()], ["settled", [], 2]);
    world.loadBalancers = [];
    const restored = await look();
    assert.ok(restored.kind === "settled");
    assert.deepEqual(
      restored.warnings.map(({ reason }) => reason),
      ["LoadBalancerRestored"],
    );
    assert.ok(kinds().includes("loadBalancer"));
    assert.equal(refreshes(), 4, "each look is a new one");
    assert.deepEqual(world.service("web").status, before);
  });

  test("what may not be repaired is told and left; what cannot be served is told after a fresh look", async () => {
    const { world, kinds, cloud } = rig();
    world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    kinds();
    world.loadBalancers = [];
    const left = await cloud.ensureLoadBalancer(world.service("web"), { signal, mayRepair: false });
    assert.equal(left.kind, "drifted");
    assert.deepEqual(kinds(), []);
    assert.equal(left.differences, "", "what is missing as a whole is in the steps");
    world.annotate("web", { [`${PREFIX}azure-pip-name`]: "none-such" });
    const refused = await cloud.ensureLoadBalancer(world.service("web"), OPTIONS);
    assert.ok(refused.kind === "rejected" && refused.rejection.reason === "PublicIPNotFound");
  });
});
