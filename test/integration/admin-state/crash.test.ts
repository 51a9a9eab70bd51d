/**
 * The controller is killed outright at every point between an eviction notice and the confirmation that the node is Down.
 * A fault holds it at the point; after that another one starts, and finds its way by what is stored alone.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { startControllerProcess, type ControllerProcess } from "../../../bench/support/sandbox-process.ts";
import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import type { Cluster } from "../../support/cluster.ts";
import { clusterOf } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig, SPOT_EVICTION } from "../../suites/admin-state/admin-state-rig.ts";

/** Longer than any test: a controller that is held there never goes on. */
const FOR_EVER = { kind: "delay", delayMs: 600_000 };
const POOLS = "**/backendAddressPools/*";

interface Point {
  readonly what: string;
  readonly at: "azure" | "kubernetes";
  readonly fault: Readonly<Record<string, unknown>>;
}

const POINTS: readonly Point[] = [
  {
    what: "the notice is seen, the taint is not written",
    at: "kubernetes",
    fault: { method: "PATCH", path: "/api/v1/nodes/*", count: null, effect: FOR_EVER },
  },
  {
    what: "the taint is written, the answer is lost",
    at: "kubernetes",
    fault: { method: "PATCH", path: "/api/v1/nodes/*", effect: { kind: "cutAfter" } },
  },
  {
    what: "the write is sent, and Azure has not taken it",
    at: "azure",
    fault: { method: "PUT", path: POOLS, count: null, effect: FOR_EVER },
  },
  {
    what: "Azure has taken the write, the answer is lost",
    at: "azure",
    fault: { method: "PUT", path: POOLS, effect: { kind: "cutAfter" } },
  },
  {
    what: "the operation runs",
    at: "azure",
    fault: { method: "PUT", path: POOLS, effect: { kind: "operation", outcome: "Succeeded", tailMs: 2_000 } },
  },
  {
    what: "the operation is over, and nobody has heard of it",
    at: "azure",
    fault: { method: "GET", path: "**/operations/*", count: null, effect: FOR_EVER },
  },
  {
    what: "the result is not read yet",
    at: "azure",
    fault: { method: "GET", path: "**/loadBalancers/*", count: null, effect: FOR_EVER },
  },
  {
    what: "all is done, and nobody was told",
    at: "kubernetes",
    fault: { method: "POST", path: "/api/v1/namespaces/default/events", skip: 1, count: null, effect: FOR_EVER },
  },
];

/** Each has servers and controllers of its own. */
describe("a controller that is killed when", { concurrency: 3 }, () => {
  for (const { what, at, fault } of POINTS) {
    test(what, async () => {
      let kubernetes: RunningKubernetes | undefined;
      const open = async (): Promise<Cluster> => {
        kubernetes = await startKubernetes({ controllers: false, dualStack: false });
        return clusterOf(kubernetes);
      };
      const rig = await AdminStateRig.open(open, { azure: { topology: { nodes: 2 } } });
      const controllers: ControllerProcess[] = [];
      try {
        await rig.serve();
        await rig.services.stop();
        const [first = ""] = rig.nodes;
        const { azure, cluster } = rig.services;
        const start = (): void => {
          const line = { kubeconfig: cluster.kubeconfig, cloudConfig: azure.cloudConfigFile };
          controllers.push(startControllerProcess({ line }));
        };
        const faults = `${at === "azure" ? azure.controlUrl : kubernetes?.controlUrl}/faults`;
        await control("POST", faults, fault);
        start();
        await rig.announce(first);
        await eventually(async () => assert.ok((await hits(faults)) > 0, "not there yet"), WITHIN_MS);
        const [doomed] = controllers;
        process.kill(doomed?.pid ?? 0, "SIGKILL");
        await doomed?.close();
        await control("DELETE", faults);
        start();
        await rig.expect({ [first]: "Down" });
        assert.equal(await rig.timesTainted(first), 1);
        await rig.untaint(first, SPOT_EVICTION);
        await rig.expect({});
        assert.equal(await rig.timesTainted(first), 1);
      } finally {
        for (const controller of controllers) await controller.close();
        await rig.close();
      }
    });
  }
});

async function control(method: string, url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  assert.ok(response.ok, `${method} ${url}: ${response.status}`);
  return response.json();
}

async function hits(url: string): Promise<number> {
  const { faults } = (await control("GET", url)) as { faults: readonly { hits: number }[] };
  return faults.reduce((sum, fault) => sum + fault.hits, 0);
}
