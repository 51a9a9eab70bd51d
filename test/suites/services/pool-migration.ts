/**
 * Pools that change their type, network interfaces or addresses, while Services are served: there and back, with every
 * state that a client reads in between; and what is refused before anything is written.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Change } from "../../../src/core/guard/configuration-changes.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import type { RunningController } from "../../../src/main/controller.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";
import { whileWatching } from "../../support/while-watching.ts";

const INTERNAL = { "azure-load-balancer-internal": "true" };
const LINKED = { ...INTERNAL, "azure-pls-create": "true" };
const KEY = "loadBalancerBackendPoolConfigurationType";
const NODES = ["vmss000000", "vmss000001", "vmss000002"];
const ACCEPTED: { readonly acceptedChange: Change } = { acceptedChange: "pool-type" };

export function poolMigrationSuite(name: string, open: ClusterOpener): void {
  describe(`the migration of pools, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { cloudConfig: { [KEY]: "nodeIPConfiguration" } });
      await rig.apply({ name: "web" });
      await rig.apply({ name: "inside", annotations: LINKED });
      await Promise.all(["web", "inside"].map((each) => rig.served(each)));
      await linked(rig, true);
    });
    after(() => rig.close());

    test("under a private link service: refused before anything is written, accepted or not", async () => {
      await rig.stop();
      rig.reconfigure({ [KEY]: "nodeIP" });
      const before = await rig.everything();
      const running = await rig.start(SILENT_LOG, ACCEPTED);
      await eventually(async () => {
        const { status, text } = await readiness(running);
        assert.equal(status, 503);
        assert.match(text, /private link service "pls-\w+" stands on .* Delete it first.*nodeIPConfiguration/);
      }, WITHIN_MS);
      await rig.stop();
      assert.deepEqual(await rig.everything(), before);
      await rig.restart({ [KEY]: "nodeIPConfiguration" });
      await rig.delete("inside");
      await rig.apply({ name: "inside", annotations: INTERNAL });
      await rig.served("inside");
      await linked(rig, false);
    });

    test("to addresses: every rule has members at every moment, and the entries bear the nodes' names", async () => {
      await migrated(rig, { [KEY]: "nodeIP" });
      for (const pool of await clusterPools(rig)) {
        assert.deepEqual(
          entriesOf(pool)
            .map((entry) => entry.name)
            .sort(),
          NODES,
        );
      }
      assert.deepEqual(await rig.plan().then(({ steps }) => steps), []);
    });

    test("a Service that comes afterwards, without the flag, is served", async () => {
      await rig.restart({});
      await rig.apply({ name: "late" });
      await rig.served("late");
    });

    test("back to network interfaces", async () => {
      await migrated(rig, { [KEY]: "nodeIPConfiguration" });
      for (const pool of await clusterPools(rig)) {
        assert.equal((propertiesOf(pool)["backendIPConfigurations"] as unknown[]).length, NODES.length);
      }
    });

    test("to addresses by Azure's action: one call for each load balancer", async () => {
      await rig.azure.control("DELETE", "/audit");
      await migrated(rig, { [KEY]: "nodeIP", enableMigrateToIPBasedBackendPoolAPI: true });
      const { entries } = (await rig.azure.control("GET", "/audit")) as {
        entries: readonly { readonly method: string; readonly path: string; readonly status: number }[];
      };
      const posts = entries.filter(({ method, path }) => method === "POST" && /migrateToIpBased/i.test(path));
      assert.deepEqual(
        posts.map(({ status }) => status),
        [200, 200],
      );
      for (const pool of await clusterPools(rig)) assert.ok(propertiesOf(pool)["virtualNetwork"]);
    });
  });
}

/** Restarts with the change accepted, and looks at every state until nothing is left to do. */
async function migrated(rig: ServiceRig, change: Readonly<Record<string, unknown>>): Promise<void> {
  const addresses = await served(rig);
  await whileWatching(
    () => assertServing(rig),
    async () => {
      await rig.restart(change, ACCEPTED);
      await eventually(async () => {
        const { changes, steps } = await rig.plan();
        assert.deepEqual([changes, steps], [[], []]);
        assert.equal((await clusterPools(rig)).length, 2);
      }, WITHIN_MS);
    },
  );
  assert.deepEqual(await served(rig), addresses);
}

async function served(rig: ServiceRig): Promise<string[][]> {
  return Promise.all(["web", "inside"].map((name) => rig.served(name)));
}

async function assertServing(rig: ServiceRig): Promise<void> {
  for (const body of await rig.list("loadBalancers")) {
    const { backendAddressPools = [], loadBalancingRules = [] } = propertiesOf(body) as {
      readonly backendAddressPools?: readonly WireBody[];
      readonly loadBalancingRules?: readonly WireBody[];
    };
    const pools = new Map(backendAddressPools.map((pool) => [pool.id, pool]));
    for (const rule of loadBalancingRules) {
      const { id } = propertiesOf(rule)["backendAddressPool"] as { readonly id: string };
      const pool = pools.get(id);
      assert.ok(pool !== undefined && entriesOf(pool).length > 0, `${rule.name} sends to an empty pool`);
    }
  }
}

/** Each load balancer has the cluster's pool alone. */
async function clusterPools(rig: ServiceRig): Promise<readonly WireBody[]> {
  const bodies = await rig.list("loadBalancers");
  const pools = bodies.flatMap((body) => propertiesOf(body)["backendAddressPools"] as readonly WireBody[]);
  assert.deepEqual([...new Set(pools.map((pool) => pool.name))], ["kubernetes"]);
  return pools;
}

function entriesOf(pool: WireBody): readonly WireBody[] {
  return (propertiesOf(pool)["loadBalancerBackendAddresses"] ?? []) as readonly WireBody[];
}

async function linked(rig: ServiceRig, isThere: boolean): Promise<void> {
  await eventually(async () => {
    assert.equal((await rig.list("privateLinkServices")).length, isThere ? 1 : 0);
  }, WITHIN_MS);
}

async function readiness({ metricsUrl }: RunningController): Promise<{ status: number; text: string }> {
  const answer = await fetch(metricsUrl.replace("/metrics", "/readyz"));
  return { status: answer.status, text: await answer.text() };
}
