/**
 * The alert rules with Prometheus' own tool. For every alert its situation is made for real, with a controller on the sandbox;
 * two scrapes of its metrics are continued for forty minutes, and promtool says which alerts fire then: that one, and no
 * others but those that belong to it. Where there is no promtool the test says so.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";

import { LEASES, NODES } from "../../src/kube/client/resources.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { DEFAULT_LEASE } from "../../src/main/controller.ts";
import { AdminStateRig } from "../suites/admin-state/admin-state-rig.ts";
import { ALERTS_FILE, readAlerts } from "../support/alerts.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { eventually } from "../support/eventually.ts";
import { findPromtool, firingAlerts, type Scrape } from "../support/promtool.ts";
import { ServiceRig, WITHIN_MS, type RigOptions } from "../support/service-rig.ts";

const UNIT_TESTS = resolve(import.meta.dirname, "../fixtures/alerts/alerts.test.yaml");
/** Names of others that their users have on dashboards: cloud-provider-azure's and LBCF's. */
const KEPT_NAMES =
  /^(cloudprovider_azure_op_failure_count|arm_request_errors_counter_total|webhook_\w+|k8s_operation_latency|key_process_latency|pending_key|working_key) /;
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const promtool = findPromtool() ?? "";

/** Makes what the alert is about; the answer is scraped twice, with a second in between or until `change` is over. */
interface Situation {
  readonly options?: RigOptions;
  readonly make: (rig: ServiceRig) => Promise<void>;
  /** Between the scrapes, where counters must rise. */
  readonly change?: (rig: ServiceRig) => Promise<void>;
  /** What fires besides, since it follows. */
  readonly also?: readonly string[];
  /** No bookmarks come from the API server any more. Otherwise they do, too seldom to be seen between two scrapes. */
  readonly isSilent?: boolean;
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  AzlbDown: { make: (rig) => rig.stop() },
  AzlbNoLeader: {
    options: { prepare: holdLease, controller: { leaderElect: true } },
    make: (rig) => counts(rig, /^azlb_leader 0$/m),
  },
  AzlbServiceWaits: {
    make: async (rig) => {
      await fault(rig, "**/loadBalancers/*", { status: 500 });
      await rig.apply({ name: "web" });
      await counts(rig, /^azlb_oldest_unserved_service_seconds (0\.[1-9]|[1-9])/m);
    },
  },
  AzlbServiceRefused: {
    make: async (rig) => {
      await rig.apply({ name: "web", annotations: { "azure-load-balancer-internal": "maybe" } });
      await counts(rig, /^azlb_services\{state="refused"\} 1$/m);
    },
  },
  AzlbWritesWithheld: {
    options: {
      azure: { topology: { nodes: 5 } },
      controller: { brakeLimits: { services: 2, members: { share: 0.5, minimum: 3 } } },
    },
    make: async (rig) => {
      for (const name of ["a", "b", "c", "d"]) await rig.apply({ name });
      for (const name of ["a", "b", "c", "d"]) await rig.served(name);
      for (const { name } of rig.azure.nodes.slice(0, 4))
        await rig.kube.patch(NODES, { name }, { merge: { metadata: { labels: { [EXCLUDE]: "true" } } } });
      await counts(rig, /^azlb_brake_withheld\{what="members"\} 4$/m);
    },
  },
  AzlbDrift: {
    options: { controller: { driftPeriodMs: 1_000 } },
    make: async (rig) => {
      await rig.apply({ name: "web" });
      await rig.served("web");
      const [loadBalancer] = await rig.list("loadBalancers");
      const edited = JSON.stringify(loadBalancer).replace('"idleTimeoutInMinutes":4', '"idleTimeoutInMinutes":30');
      await rig.put(`loadBalancers/${loadBalancer?.name}`, JSON.parse(edited));
      await counts(rig, /^azlb_drifted_services\{policy="report"\} 1$/m);
    },
  },
  AzlbCloudConfigRefused: {
    make: async (rig) => {
      const folder = mkdtempSync(join(tmpdir(), "azlb-alerts-"));
      const path = join(folder, "azure.json");
      writeFileSync(path, JSON.stringify(rig.azure.cloudConfig));
      await rig.stop();
      await rig.start(SILENT_LOG, { cloudConfig: { kind: "file", path }, configPeriodMs: 20 });
      writeFileSync(path, "{ vmType: [");
      await counts(rig, /^azlb_cloud_config_refused 1$/m);
      rmSync(folder, { recursive: true });
    },
  },
  AzlbAzureDenies: {
    make: async (rig) => {
      const notActions = ["Microsoft.Network/publicIPAddresses/write"];
      await rig.azure.control("PATCH", "/settings", { roles: { "*": { actions: ["*"], notActions } } });
      await rig.apply({ name: "first" });
      await counts(rig, /^arm_request_errors_counter_total\{.*error_code="denied"\} 1$/m);
    },
    change: async (rig) => {
      await rig.apply({ name: "second" });
      await counts(rig, /^arm_request_errors_counter_total\{.*error_code="denied"\} [2-9]$/m);
    },
    also: ["AzlbServiceWaits"],
  },
  AzlbThrottled: {
    make: async (rig) => {
      await fault(rig, "**/loadBalancers/*", { status: 429, code: "TooManyRequests", retryAfterSeconds: 1 });
      await rig.apply({ name: "web" });
      await counts(rig, /^azlb_arm_throttled_seconds_total\{.*\} 2$/m);
    },
    change: (rig) => counts(rig, /^azlb_arm_throttled_seconds_total\{.*\} [3-9]$/m),
    also: ["AzlbServiceWaits"],
  },
  AzlbQuotaNearlyUsed: {
    options: { cloudConfig: { loadBalancerLimits: "frontends=1" } },
    make: async (rig) => {
      await rig.apply({ name: "web" });
      await rig.served("web");
      await counts(rig, /^azlb_quota_used\{resource="kubernetes",quota="frontends"\} 1$/m);
    },
  },
  AzlbWatchSilent: {
    make: async (rig) => {
      await rig.apply({ name: "web" });
      await rig.served("web");
      await rig.cluster.close();
    },
    change: (rig) => counts(rig, /^azlb_watch_restarts_total\{resource="services",reason="failed"\} [3-9]/m),
    isSilent: true,
  },
};

suite("alerts", { skip: promtool === "" ? "no promtool here: nothing was tested" : false }, () => {
  test("promtool finds the rules valid, and their unit tests hold", async () => {
    await promisify(execFile)(promtool, ["check", "rules", ALERTS_FILE]);
    await promisify(execFile)(promtool, ["test", "rules", UNIT_TESTS]);
  });

  test("names of metrics are as Prometheus wants them, but for those that others have given", async () => {
    await withRig({}, async (rig) => {
      await rig.apply({ name: "web" });
      await rig.served("web");
      const linted = promisify(execFile)(promtool, ["check", "metrics"]);
      linted.child.stdin?.end(await rig.metrics());
      const { stderr = "" } = await linted.catch((error: unknown) => error as { stderr?: string });
      const complaints = stderr.split("\n").filter((line) => line !== "" && !KEPT_NAMES.test(line));
      assert.deepEqual(complaints, []);
    });
  });

  test("none fires while a Service is served and nothing happens", async () => {
    await withRig({}, async (rig) => {
      await rig.apply({ name: "web" });
      await rig.served("web");
      assert.deepEqual(await firing(rig), []);
    });
  });

  for (const [alert, { options = {}, make, change, also = [], isSilent }] of Object.entries(SITUATIONS)) {
    test(`${alert} fires when its situation lasts`, async () => {
      await withRig(options, async (rig) => {
        await make(rig);
        assert.deepEqual(await firing(rig, change, isSilent), [alert, ...also].toSorted());
      });
    });
  }

  test("AzlbDrainFails and AzlbEvictedTooLate fire for a node that goes while Azure refuses to set it Down", async () => {
    const nodes = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 2 } } });
    try {
      const [node = ""] = nodes.nodes;
      await nodes.serve();
      await fault(nodes.services, "**/backendAddressPools/*", { status: 500 });
      const due = new Date(Date.now() + 30_000).toUTCString();
      await nodes.announce(node, { message: `Preempt Scheduled: ${due}. DurationInSeconds: -1. EventId: 8` });
      await counts(nodes.services, /^loadbalancer_adminstate_errors_total\{kind="transient"\} [1-9]/m);
      const fired = await firing(nodes.services, async (rig) => {
        const failed = /^loadbalancer_adminstate_errors_total\{kind="transient"\} (\d+)$/m;
        const before = Number(failed.exec(await rig.metrics())?.[1]);
        await eventually(async () => assert.ok(Number(failed.exec(await rig.metrics())?.[1]) > before), WITHIN_MS);
        await rig.kube.delete(NODES, { name: node });
        await counts(rig, /^loadbalancer_adminstate_evictions_total\{outcome="too_late"\} 1$/m);
      });
      assert.deepEqual(fired, ["AzlbDrainFails", "AzlbEvictedTooLate"]);
    } finally {
      await nodes.close();
    }
  });

  test("every alert has its situation here", () => {
    const made = [...Object.keys(SITUATIONS), "AzlbDrainFails", "AzlbEvictedTooLate"];
    assert.deepEqual(
      readAlerts()
        .map(({ alert }) => alert)
        .toSorted(),
      made.toSorted(),
    );
  });
});

async function withRig(options: RigOptions, use: (rig: ServiceRig) => Promise<void>): Promise<void> {
  const rig = await ServiceRig.open(openEmbeddedCluster, options);
  try {
    await use(rig);
  } finally {
    await rig.close();
  }
}

/** Which alerts fire when what the metrics show now, and after `change`, goes on. */
async function firing(
  rig: ServiceRig,
  change: (rig: ServiceRig) => Promise<void> = passing,
  isSilent = false,
): Promise<string[]> {
  const first = await scrape(rig, isSilent);
  await change(rig);
  return firingAlerts(promtool, ALERTS_FILE, [first, await scrape(rig, isSilent)]);
}

/** A controller that is gone has no metrics. */
async function scrape(rig: ServiceRig, isSilent: boolean): Promise<Scrape> {
  const text = await rig.metrics().catch(() => "");
  const atMs = performance.now();
  return { atMs, text: isSilent ? text : text.replaceAll(/^azlb_watch_silence_seconds\{.*$/gm, "") };
}

/** So much time that a figure which grows with it has grown. */
async function passing(): Promise<void> {
  const fromMs = performance.now();
  await eventually(() => assert.ok(performance.now() - fromMs > 200), WITHIN_MS);
}

async function counts(rig: ServiceRig, line: RegExp): Promise<void> {
  await eventually(async () => assert.match(await rig.metrics(), line), WITHIN_MS);
}

async function fault(rig: ServiceRig, path: string, effect: object): Promise<void> {
  const rule = { method: "PUT", path, count: null, effect: { kind: "status", ...effect } };
  await rig.azure.control("POST", "/faults", rule);
}

/** As if another process led, for an hour. */
async function holdLease({ kube }: ServiceRig): Promise<void> {
  const { namespace, name } = DEFAULT_LEASE;
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "another", leaseDurationSeconds: 3_600, renewTime, acquireTime: renewTime };
  await kube.create(LEASES, { metadata: { namespace, name }, spec });
}
