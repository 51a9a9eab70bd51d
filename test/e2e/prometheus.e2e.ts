/**
 * The controller scraped by a real Prometheus with the rules that are shipped, their minutes shortened to seconds: the target is up,
 * every rule can be evaluated, and alerts fire when their situation is made and resolve when it is mended. Where there is no
 * Prometheus the test says so.
 */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";

import { AdminStateRig } from "../suites/admin-state/admin-state-rig.ts";
import { readAlerts } from "../support/alerts.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Prometheus } from "../support/prometheus.ts";
import { findProgram } from "../support/find-program.ts";
import { WITHIN_MS } from "../support/service-rig.ts";

const binary = findProgram("prometheus") ?? "";

suite("Prometheus", { skip: binary === "" ? "no Prometheus here: nothing was tested" : false }, () => {
  let rig: AdminStateRig;
  let prometheus: Prometheus;
  before(async () => {
    rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 2 } } });
    await rig.serve();
    prometheus = await Prometheus.start(binary, rig.services.metricsUrl);
  });
  after(async () => {
    await prometheus.close();
    await rig.close();
  });

  /** The alert's state, `undefined` where Prometheus has none. */
  async function stateOf(alert: string): Promise<string | undefined> {
    return (await prometheus.alerts()).find(({ labels }) => labels["alertname"] === alert)?.state;
  }

  function becomes(alert: string, state: string | undefined): Promise<void> {
    return eventually(async () => assert.equal(await stateOf(alert), state), WITHIN_MS);
  }

  test("the target is up, and every rule that is shipped is evaluated without an error", async () => {
    await eventually(async () => assert.deepEqual(await prometheus.health(), ["up"]), WITHIN_MS);
    const sound = Object.fromEntries(readAlerts().map(({ alert }) => [alert, "ok"]));
    await eventually(async () => assert.deepEqual(await prometheus.rules(), sound), WITHIN_MS);
  });

  test("AzlbServiceRefused waits, fires, and resolves once the Service is put right", async () => {
    await rig.services.apply({ name: "odd", annotations: { "azure-load-balancer-internal": "maybe" } });
    await becomes("AzlbServiceRefused", "pending");
    await becomes("AzlbServiceRefused", "firing");
    const [fired] = (await prometheus.alerts()).filter(({ state }) => state === "firing");
    assert.equal(
      fired?.annotations["summary"],
      "Services that cannot be served as they ask, until somebody changes them: 1.",
    );
    await rig.services.apply({ name: "odd", annotations: { "azure-load-balancer-internal": "true" } });
    await becomes("AzlbServiceRefused", undefined);
  });

  test("AzlbDrainFails fires while Azure refuses to set a draining node Down, and resolves when it no longer does", async () => {
    const [node = ""] = rig.nodes;
    const rule = {
      method: "PUT",
      path: "**/backendAddressPools/*",
      count: null,
      effect: { kind: "status", status: 500 },
    };
    await rig.services.azure.control("POST", "/faults", rule);
    const due = new Date(Date.now() + 600_000).toUTCString();
    await rig.announce(node, { message: `Preempt Scheduled: ${due}. DurationInSeconds: -1. EventId: 8` });
    await becomes("AzlbDrainFails", "firing");
    await rig.services.azure.control("DELETE", "/faults");
    await becomes("AzlbDrainFails", undefined);
  });
});
