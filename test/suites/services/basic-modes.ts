/**
 * Basic load balancers: a pair per availability set, and the mode annotation that says which set's load balancer serves
 * a Service. Two sets: `agents`, the primary one, whose load balancer is named after the cluster, and `gpu-agents`.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { machineResources } from "../../../sandbox/azure/seed/machine.ts";
import { seedScopeOf } from "../../../sandbox/azure/seed/scope.ts";
import { baseName } from "../../../src/core/model/names.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import { listed } from "../../contract/azure/azure-under-test.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

const OTHER_SET = "gpu-agents";
const PRIMARY = { loadBalancer: "kubernetes", members: ["agent-0-nic", "agent-1-nic"] };
const OTHER = { loadBalancer: OTHER_SET, members: ["gpu-0-nic", "gpu-1-nic", "gpu-2-nic"] };
const MODE = "azure-load-balancer-mode";
const INTERNAL = { "azure-load-balancer-internal": "true" };

interface Placed {
  readonly loadBalancer: string;
  /** Network interfaces in its pool. */
  readonly members: readonly string[];
}

export function basicModesSuite(name: string, open: ClusterOpener): void {
  describe(`Basic load balancers by mode, on ${name}`, () => {
    let rig: ServiceRig;
    let empty: unknown;
    before(async () => {
      rig = await ServiceRig.open(open, {
        azure: { topology: { nodes: 2, vmType: "standard", backendPool: "nodeIPConfiguration", sku: "basic" } },
        prepare: addOtherSet,
      });
      empty = await rig.everything();
    });
    after(() => rig.close());
    beforeEach(async () => assert.deepEqual(await rig.everything(), empty, "the test before left something"));

    test("none: the primary set, whose load balancer is named after the cluster", async () => {
      await rig.apply({ name: "plain" });
      await isPlaced(rig, "plain", PRIMARY);
      await rig.delete("plain");
    });

    test("a set by name, in any case, external and internal", async () => {
      await rig.apply({ name: "outer", annotations: { [MODE]: OTHER_SET.toUpperCase() } });
      await rig.apply({ name: "inner", annotations: { [MODE]: OTHER_SET, ...INTERNAL } });
      await isPlaced(rig, "outer", OTHER);
      await isPlaced(rig, "inner", { ...OTHER, loadBalancer: `${OTHER_SET}-internal` });
      await rig.delete("outer");
      await rig.delete("inner");
    });

    test("a list of sets, and __auto__: each next Service goes where there is the most room", async () => {
      const places: string[] = [];
      for (const [at, mode] of [`agents, ${OTHER_SET}`, "__auto__", "__AUTO__", "__auto__"].entries()) {
        await rig.apply({ name: `spread-${at}`, annotations: { [MODE]: mode } });
        places.push((await placed(rig, `spread-${at}`)).loadBalancer);
      }
      assert.deepEqual(places, ["kubernetes", OTHER_SET, "kubernetes", OTHER_SET]);
      for (const at of places.keys()) await rig.delete(`spread-${at}`);
    });

    test("a set that no node is in is refused by name; the Service is served once it names one that there is", async () => {
      await rig.apply({ name: "lost", annotations: { [MODE]: "nobody" } });
      assert.match(await rig.warned("lost", "UnknownVMSet"), /"nobody".*agents, gpu-agents/);
      assert.deepEqual(await rig.everything(), empty, "nothing was made for it");
      await rig.annotate("lost", { [MODE]: OTHER_SET });
      await isPlaced(rig, "lost", OTHER);
      await rig.delete("lost");
    });

    test("another set: the Service moves there and keeps its address", async () => {
      await rig.apply({ name: "mover", annotations: { [MODE]: "agents" } });
      const address = await rig.served("mover");
      await isPlaced(rig, "mover", PRIMARY);
      await rig.annotate("mover", { [MODE]: OTHER_SET });
      await isPlaced(rig, "mover", OTHER);
      assert.deepEqual(await rig.served("mover"), address);
      const balancers = await listed(rig.azure.network.loadBalancers.list(rig.azure.resourceGroup));
      assert.deepEqual(
        balancers.map((balancer) => balancer.name),
        [OTHER_SET],
      );
      await rig.delete("mover");
    });
  });
}

/** Waits until its load balancer has these members. */
function isPlaced(rig: ServiceRig, service: string, wanted: Placed): Promise<void> {
  return eventually(async () => assert.deepEqual(await placed(rig, service), wanted), WITHIN_MS);
}

async function placed(rig: ServiceRig, service: string): Promise<Placed> {
  await rig.served(service);
  const base = baseName((await rig.service(service)).metadata.uid);
  const balancers = await listed(rig.azure.network.loadBalancers.list(rig.azure.resourceGroup));
  const here = balancers.filter(({ loadBalancingRules = [] }) =>
    loadBalancingRules.some((rule) => rule.name?.startsWith(base)),
  );
  assert.equal(here.length, 1, `it is on ${here.map((one) => one.name).join(" and ") || "none"}`);
  const members = (here[0]?.backendAddressPools ?? []).flatMap(({ backendIPConfigurations = [] }) =>
    backendIPConfigurations.map(({ id = "" }) => id.split("/").at(-3) ?? ""),
  );
  return { loadBalancer: here[0]?.name ?? "", members: members.sort() };
}

/** Three machines in an availability set of their own, and their nodes. */
async function addOtherSet(rig: ServiceRig): Promise<void> {
  const places = seedScopeOf(rig.azure.account);
  const set = `${places.compute}/availabilitySets/${OTHER_SET}`;
  const properties = { platformFaultDomainCount: 2, platformUpdateDomainCount: 5 };
  const machines = [0, 1, 2].map((at) => ({
    path: `${places.compute}/virtualMachines/gpu-${at}`,
    computerName: `gpu-${at}`,
    ip: `10.240.0.${100 + at}`,
    subnet: "subnet",
    set: { availabilitySet: { id: set } },
    zones: undefined,
  }));
  const resources = [
    { path: set, body: { location: places.location, sku: { name: "Aligned" }, properties } },
    ...machines.flatMap((machine) => machineResources(places, machine)),
  ];
  await rig.azure.control("POST", "/seed", { resources });
  const nodes = machines.map(({ path, computerName, ip }) => ({
    name: computerName,
    internalIPs: [ip],
    providerID: `azure://${path}`,
  }));
  await ensureNodes(rig.kube, nodes);
}
