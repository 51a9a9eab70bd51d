/** What tests of drivers do and see over and over, in a world that is opened later. */
import assert from "node:assert/strict";

import { condition, type LbcfWorld } from "./world.ts";

export interface DriverSteps {
  readonly addDriver: (driver: string, url: string, more?: object) => Promise<unknown>;
  readonly addLoadBalancer: (lb: string, lbDriver: string, lbSpec: object, more?: object) => Promise<unknown>;
  /** Waits until a condition of the object has that status, and that reason. */
  readonly says: (kind: string, object: string, type: string, status: string, reason?: string) => Promise<void>;
  /** Makes driver, load balancer and group `wire`, with one backend; `ensureBackend` must be answered in a second. */
  readonly addWire: (url: string) => Promise<void>;
}

/** The spec of a group: pods of an app in one load balancer. */
export function groupOf(lb: string, app: string, more: object = {}): object {
  return { loadBalancers: [lb], pods: { ports: [{ port: 80 }], byLabel: { selector: { app } } }, ...more };
}

export function driverSteps(world: () => LbcfWorld): DriverSteps {
  const steps: DriverSteps = {
    addDriver: (driver, url, more = {}) =>
      world().create("LoadBalancerDriver", driver, { driverType: "Webhook", url, ...more }),
    addLoadBalancer: (lb, lbDriver, lbSpec, more = {}) =>
      world().create("LoadBalancer", lb, { lbDriver, lbSpec, ...more }),
    says: (kind, object, type, status, reason) =>
      world().eventually(async () => {
        const found = condition(await world().get(kind, object), type);
        assert.equal(found?.status, status, JSON.stringify(found));
        if (reason !== undefined) assert.equal(found?.reason, reason, JSON.stringify(found));
      }),
    addWire: async (url) => {
      await steps.addDriver("wire", url, { webhooks: [{ name: "ensureBackend", timeout: "1s" }] });
      await steps.addLoadBalancer("wire", "wire", { id: "1" });
      await steps.says("LoadBalancer", "wire", "Created", "True");
      await world().addPod("wire-0", { ip: "10.244.2.10", labels: { app: "wire" } });
      await world().create("BackendGroup", "wire", groupOf("wire", "wire", { parameters: { weight: "5" } }));
      await world().eventually(async () => {
        assert.equal((await world().get("BackendGroup", "wire")).status?.registeredBackends, 1);
      });
    },
  };
  return steps;
}
