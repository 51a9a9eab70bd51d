/**
 * Doomed nodes while things go wrong: whatever Azure, people and nodes do at that moment, the state is right in the end.
 * On the embedded server; what depends on the server runs on both, in `test/suites/admin-state`.
 */
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";

import type { RigOptions } from "../../support/service-rig.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { openDualStackCluster, openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { AdminStateRig, OUT_OF_SERVICE, poolsOf, SPOT_EVICTION } from "../../suites/admin-state/admin-state-rig.ts";

const POOLS = "**/backendAddressPools/*";
/** Often enough that a test need not wait for it. */
const OFTEN = { controller: { driftPeriodMs: 300 } };

let rig: AdminStateRig;

async function open(options: RigOptions = {}): Promise<readonly [string, string, string]> {
  rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 3 } }, ...options });
  await rig.serve();
  const [first = "", second = "", third = ""] = rig.nodes;
  return [first, second, third];
}

afterEach(() => rig.close());

async function arm(fault: Readonly<Record<string, unknown>>): Promise<() => Promise<number>> {
  const { id } = (await rig.services.azure.control("POST", "/faults", fault)) as { id: string };
  return async () => {
    const { faults } = (await rig.services.azure.control("GET", "/faults")) as {
      faults: { id: string; hits: number }[];
    };
    return faults.find((each) => each.id === id)?.hits ?? 0;
  };
}

const hit = (hits: () => Promise<number>, times = 1): Promise<void> =>
  eventually(async () => assert.ok((await hits()) >= times), WITHIN_MS);

/** An event and a figure that tell of the same may come in either order. */
async function counted(metric: string, wanted: number): Promise<void> {
  await eventually(async () => {
    const lines = (await rig.services.metrics()).split("\n").filter((line) => line.startsWith(metric));
    const sum = lines.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
    assert.equal(sum, wanted, metric);
  }, WITHIN_MS);
}

describe("a node", () => {
  for (const backendPool of ["nodeIP", "nodeIPConfiguration"] as const) {
    test(`that is made anew while Down is in flight does not inherit it (${backendPool})`, async () => {
      const [first] = await open({ azure: { topology: { nodes: 3, backendPool } } });
      const hits = await arm({
        method: "PUT",
        path: POOLS,
        count: 2,
        effect: { kind: "operation", outcome: "Succeeded", tailMs: 1_500 },
      });
      await rig.taint(first, OUT_OF_SERVICE);
      await hit(hits, 2);
      await rig.recreate(first);
      await rig.expect({});
      assert.equal(await rig.isDoomed(first), false);
    });

    test(`that is doomed before there is any load balancer is Down as soon as it joins one (${backendPool})`, async () => {
      rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 3, backendPool } } });
      const [first = ""] = rig.nodes;
      await rig.taint(first, OUT_OF_SERVICE);
      await rig.services.apply({ name: "web" });
      await rig.services.apply({ name: "inside", annotations: { "azure-load-balancer-internal": "true" } });
      await rig.expect({ [first]: "Down" });
      const writes = Object.values(await rig.writes());
      // entries of addresses are born Down; those of interfaces are set right after
      assert.ok(backendPool === "nodeIPConfiguration" || writes.every((count) => count === 1), writes.join());
    });
  }

  test("whose taint comes and goes a hundred times ends as the last change says, with few writes", async () => {
    const [first] = await open();
    const sequence = await rig.sequence();
    for (let turn = 0; turn < 50; turn++) {
      await rig.taint(first, OUT_OF_SERVICE);
      await rig.untaint(first, OUT_OF_SERVICE);
    }
    await rig.expect({});
    for (let turn = 0; turn < 50; turn++) {
      await rig.untaint(first, SPOT_EVICTION);
      await rig.taint(first, SPOT_EVICTION);
    }
    await rig.expect({ [first]: "Down" });
    for (const [pool, count] of Object.entries(await rig.writes(sequence))) assert.ok(count < 150, `${pool}: ${count}`);
  });
});

describe("Azure", () => {
  test("fails for a while: the node hears of it, and is Down as soon as Azure is back", async () => {
    const [first] = await open();
    const hits = await arm({ method: "PUT", path: POOLS, count: 3, effect: { kind: "status", status: 500 } });
    await rig.taint(first, OUT_OF_SERVICE);
    await hit(hits);
    assert.match(
      await rig.heard(first, "LoadBalancerAdminStateFailed"),
      /^Admin state Down could not be set in load balancer \S+, pool kubernetes, so it keeps getting new connections.*will try again/,
    );
    await rig.expect({ [first]: "Down" });
    await rig.heard(first, "LoadBalancerAdminStateDown");
    await counted('loadbalancer_adminstate_errors_total{kind="transient"}', 3);
  });

  test("throttles other writes for an hour: the drain is tried all the same", async () => {
    const [first] = await open();
    const hits = await arm({
      method: "PUT",
      path: "**/publicIPAddresses/*",
      effect: { kind: "status", status: 429, code: "SubscriptionRequestsThrottled", retryAfterSeconds: 3_600 },
    });
    await rig.services.apply({ name: "throttled" });
    await hit(hits);
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" });
    assert.match(
      await rig.services.warned("throttled", "SyncLoadBalancerFailed"),
      /^public IP "[^"]+": Azure throttles this subscription for 3600 s\. Next try in 300 s\.$/,
    );
    assert.deepEqual((await rig.services.service("throttled")).status.loadBalancer.ingress ?? [], []);
  });

  test("fails one pool of a dual-stack load balancer: the other pool is drained at once", async () => {
    rig = await AdminStateRig.open(openDualStackCluster, { azure: { topology: { nodes: 3 } }, ipv6: true });
    await rig.serve({ dualStack: true });
    const [first = ""] = rig.nodes;
    const effect = { kind: "status", status: 500 };
    await arm({ method: "PUT", path: "**/backendAddressPools/kubernetes", count: null, effect });
    await rig.taint(first, OUT_OF_SERVICE);
    await eventually(async () => {
      const states = await rig.states();
      const pools = ["kubernetes/kubernetes", "kubernetes/kubernetes-IPv6"];
      assert.deepEqual(
        pools.map((pool) => states[pool]?.[first]),
        ["None", "Down"],
      );
    }, WITHIN_MS);
    await rig.services.azure.control("DELETE", "/faults");
    await rig.expect({ [first]: "Down" }, { dualStack: true });
  });

  test("throttles: that is counted, and the drain goes first when the gate opens", async () => {
    const [first] = await open();
    await arm({
      method: "PUT",
      path: POOLS,
      effect: { kind: "status", status: 429, code: "SubscriptionRequestsThrottled", retryAfterSeconds: 1 },
    });
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" });
    await counted("loadbalancer_adminstate_throttled_total", 1);
  });

  for (const [what, effect] of [
    ["loses the answer to a write that it carried out", { kind: "cutAfter" }],
    ["cuts the connection before it heard of the write", { kind: "cutBefore" }],
    ["accepts the write and lets its operation fail", { kind: "operation", outcome: "Failed" }],
    ["accepts the write and cancels its operation", { kind: "operation", outcome: "Canceled" }],
    ["shows what was before the last write", { kind: "staleRead" }],
  ] as const) {
    test(what, async () => {
      const [first] = await open();
      const method = effect.kind === "staleRead" ? "GET" : "PUT";
      await arm({ method, path: effect.kind === "staleRead" ? "**/loadBalancers/*" : POOLS, count: 2, effect });
      await rig.taint(first, OUT_OF_SERVICE);
      await rig.expect({ [first]: "Down" });
      await rig.untaint(first, OUT_OF_SERVICE);
      await rig.expect({});
    });
  }
});

describe("people", () => {
  /** Reads a pool, changes it and writes it back without any condition, as careless tools do. */
  async function edit(loadBalancer: string, change: (entries: Entries) => Entries): Promise<void> {
    const body = (await rig.services.list("loadBalancers")).find(({ name }) => name === loadBalancer);
    const pool = body && poolsOf(body)[0];
    if (pool === undefined) return;
    const entries = pool.properties.loadBalancerBackendAddresses ?? [];
    const properties = { ...pool.properties, loadBalancerBackendAddresses: change(entries) };
    await rig.services.put(`loadBalancers/${loadBalancer}/backendAddressPools/${pool.name}`, { ...pool, properties });
  }
  type Entries = NonNullable<ReturnType<typeof poolsOf>[number]["properties"]["loadBalancerBackendAddresses"]>;

  test("who edit a pool at that very moment keep what they put there, and the doomed node is Down in the end", async () => {
    const [first] = await open(OFTEN);
    const server = { name: "somebodys", properties: { ipAddress: "10.240.9.9", adminState: "Down" as const } };
    const edits = (async () => {
      for (let turn = 0; turn < 20; turn++) {
        await edit("kubernetes", (entries) => [...entries.filter(({ name }) => name !== server.name), server]);
      }
    })();
    await rig.taint(first, OUT_OF_SERVICE);
    await edits;
    await eventually(async () => {
      const { "kubernetes/kubernetes": pool } = await rig.states();
      assert.deepEqual(pool, {
        ...Object.fromEntries(rig.nodes.map((name) => [name, "None"])),
        [first]: "Down",
        somebodys: "Down",
      });
    }, WITHIN_MS);
  });

  test("who bring a doomed node back by hand are corrected at the next look; their Up on other nodes stays", async () => {
    const [first, second] = await open(OFTEN);
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" });
    await edit("kubernetes", (entries) =>
      entries.map((entry) => ({ ...entry, properties: { ...entry.properties, adminState: "Up" as const } })),
    );
    await eventually(async () => {
      const { "kubernetes/kubernetes": pool = {} } = await rig.states();
      assert.deepEqual([pool[first], pool[second]], ["Down", "Up"]);
    }, WITHIN_MS);
  });

  test("who hold a node of a pool of interfaces up by hand are corrected too", async () => {
    const [first] = await open({ azure: { topology: { nodes: 3, backendPool: "nodeIPConfiguration" } }, ...OFTEN });
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" });
    await edit("kubernetes-internal", (entries) =>
      entries.map((entry) => ({ ...entry, properties: { ...entry.properties, adminState: "None" as const } })),
    );
    await rig.expect({ [first]: "Down" });
  });
});

describe("what is said", () => {
  test("on the Node, why and where; on each Service of the load balancers, which node; and in metrics", async () => {
    const [first] = await open();
    await rig.taint(first, SPOT_EVICTION);
    const message = await rig.heard(first, "LoadBalancerAdminStateDown");
    assert.match(message, /spot-eviction.* in load balancer kubernetes, pool kubernetes/);
    assert.match(message, / in load balancer kubernetes-internal, pool kubernetes/);
    for (const service of ["web", "inside"]) {
      await eventually(async () => {
        const said = (await rig.services.events(service)).find(({ reason }) => reason === "BackendsDraining");
        assert.match(said?.message ?? "", new RegExp(first));
      }, WITHIN_MS);
    }
    await counted('loadbalancer_adminstate_draining_nodes{reason="spot-eviction"}', 1);
    await counted('loadbalancer_adminstate_latency_seconds_count{state="Down"}', 1);
    await rig.untaint(first, SPOT_EVICTION);
    await rig.heard(first, "LoadBalancerAdminStateNone");
    await counted('loadbalancer_adminstate_draining_nodes{reason="spot-eviction"}', 0);
  });

  test("with a warning, when no other node is left: it is done all the same", async () => {
    const nodes = await open();
    for (const node of nodes) await rig.taint(node, OUT_OF_SERVICE);
    await rig.expect(Object.fromEntries(nodes.map((name) => [name, "Down"])));
    assert.match(
      await rig.services.warned("web", "NoEligibleBackend"),
      / in load balancer kubernetes, pool kubernetes: /,
    );
    await rig.services.warned("inside", "NoEligibleBackend");
    await eventually(async () => {
      const said = (await Promise.all(nodes.map((node) => rig.said(node)))).flat();
      assert.ok(said.some(({ type, reason }) => type === "Warning" && reason === "NoEligibleBackend"));
    }, WITHIN_MS);
  });
});

test("a Service of one family is not told of the other family's pool", async () => {
  rig = await AdminStateRig.open(openDualStackCluster, { azure: { topology: { nodes: 2 } }, ipv6: true });
  await rig.serve({ dualStack: true });
  await rig.services.apply({ name: "plain", spec: { ports: [{ port: 81 }], ipFamilyPolicy: "SingleStack" } });
  await rig.services.served("plain");
  for (const node of rig.nodes) await rig.taint(node, OUT_OF_SERVICE);
  const drained = async (name: string): Promise<string[]> => {
    const events = (await rig.services.events(name)).filter(({ reason }) => reason === "NoEligibleBackend");
    return events.map(({ message }) => /load balancer \S+, pool [^:\s]+/.exec(message)?.[0] ?? "").sort();
  };
  const [IPv4, IPv6] = ["load balancer kubernetes, pool kubernetes", "load balancer kubernetes, pool kubernetes-IPv6"];
  await eventually(async () => assert.deepEqual(await drained("web"), [IPv4, IPv6]), WITHIN_MS);
  await eventually(async () => assert.deepEqual(await drained("plain"), [IPv4]), WITHIN_MS);
});

test("switched off, taints and eviction notices lead to nothing", async () => {
  const [first, second] = await open({ cloudConfig: { enableLoadBalancerAdminState: false } });
  const sequence = await rig.sequence();
  await rig.taint(first, OUT_OF_SERVICE);
  await rig.announce(second);
  // a Service after it: whatever these would have led to comes before its address
  await rig.services.apply({ name: "later" });
  await rig.services.served("later");
  await rig.expect({});
  assert.equal(await rig.isDoomed(second), false);
  assert.deepEqual(await rig.writes(sequence), {});
});

test("a restart finds everything right and writes nothing", async () => {
  const [first] = await open();
  await rig.taint(first, OUT_OF_SERVICE);
  await rig.expect({ [first]: "Down" });
  await rig.services.stop();
  const sequence = await rig.sequence();
  await rig.services.start();
  await rig.taint("vmss000001", OUT_OF_SERVICE);
  await rig.expect({ [first]: "Down", vmss000001: "Down" });
  assert.deepEqual(await rig.writes(sequence), { "kubernetes-internal/kubernetes": 1, "kubernetes/kubernetes": 1 });
});
