/** Requests against the emulator's limit on their size, and against its own form of what they leave out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Topology } from "../../../sandbox/azure/seed/topology.ts";
import { requestBodyOf } from "../../../src/core/resources/kinds.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { addresses, MANY_WITHIN_MS, onlyLeft, startDeleting } from "../../support/many-services.ts";
import { propertiesOf, ServiceRig, type RigOptions, type WireBody } from "../../support/service-rig.ts";

const MOST_BYTES = 24_000;
const NAMES = Array.from({ length: 31 }, (_, at) => `web-${at}`);

async function withRig(options: RigOptions, work: (rig: ServiceRig) => Promise<void>): Promise<void> {
  const rig = await ServiceRig.open(openEmbeddedCluster, options);
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

test("at the limit, the Services that fit can be changed, and removed one by one or together", async () => {
  await withRig({ azure: { maxBodyBytes: MOST_BYTES } }, async (rig) => {
    await rig.apply({ name: "first" });
    await rig.served("first");
    const before = await rig.everything();
    for (const name of NAMES) await rig.apply({ name });
    await eventually(async () => assert.deepEqual(await undecided(rig), []), MANY_WITHIN_MS);
    const [changed = "", removed = "", ...rest] = await served(rig);
    assert.ok(rest.length > 0 && rest.length < NAMES.length - 2, `${rest.length + 2} Services fit`);
    await rig.patch(changed, { spec: { ports: [{ port: 81 }] } });
    await eventually(async () => assert.ok((await frontendPorts(rig)).includes(81)), MANY_WITHIN_MS);
    await rig.delete(removed);
    await startDeleting(
      rig,
      NAMES.filter((name) => name !== removed),
    );
    await onlyLeft(rig, ["first"]);
    assert.deepEqual(await rig.everything(), before);
  });
});

describe("what was read and is sent back, without what Azure alone writes, changes nothing", () => {
  const topologies: Partial<Topology>[] = [
    { nodes: 3, foreign: true },
    { nodes: 3, foreign: true, backendPool: "nodeIPConfiguration" },
    { nodes: 3, foreign: true, vmType: "standard", backendPool: "nodeIPConfiguration" },
  ];
  for (const topology of topologies) {
    test(JSON.stringify(topology), async () => {
      await withRig({ azure: { topology } }, async (rig) => {
        await rig.apply({ name: "open" });
        await rig.apply({ name: "closed", spec: { loadBalancerSourceRanges: ["10.1.0.0/16", "10.3.0.0/16"] } });
        await rig.apply({ name: "inside", annotations: { "azure-load-balancer-internal": "true" } });
        for (const name of ["open", "closed", "inside"]) await rig.served(name);
        await rig.stop();
        const before = await rig.everything();
        for (const kind of [
          "loadBalancers",
          "networkSecurityGroups",
          "publicIPAddresses",
          "networkInterfaces",
        ] as const) {
          for (const body of await rig.list(kind)) await rig.put(`${kind}/${body.name}`, requestBodyOf(body.id, body));
        }
        for (const body of await rig.list("loadBalancers")) {
          for (const pool of propertiesOf(body)["backendAddressPools"] as WireBody[])
            await rig.put(`loadBalancers/${body.name}/backendAddressPools/${pool.name}`, requestBodyOf(pool.id, pool));
        }
        assert.deepEqual(await rig.everything(), before);
      });
    });
  }
});

async function served(rig: ServiceRig): Promise<string[]> {
  const found = await addresses(rig);
  return NAMES.filter((name) => (found.get(name)?.length ?? 0) > 0);
}

/** Those that have neither an address nor a Warning that the request was too large. */
async function undecided(rig: ServiceRig): Promise<string[]> {
  const done = await served(rig);
  const open = NAMES.filter((name) => !done.includes(name));
  const events = await Promise.all(open.map((name) => rig.events(name)));
  return open.filter((_, at) => !events[at]?.some(({ message }) => message.includes("RequestContentTooLarge")));
}

async function frontendPorts(rig: ServiceRig): Promise<unknown[]> {
  const [loadBalancer] = await rig.list("loadBalancers");
  const rules = propertiesOf(loadBalancer)["loadBalancingRules"] as { properties: { frontendPort: number } }[];
  return rules.map(({ properties }) => properties.frontendPort);
}
