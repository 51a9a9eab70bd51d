/**
 * Machines that come, and load balancers that go, after the controller has listed the machines. The drift check is off:
 * what is promised must come true without it.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { machineResources } from "../../../sandbox/azure/seed/machine.ts";
import { seedScopeOf } from "../../../sandbox/azure/seed/scope.ts";
import { NODES, SERVICES } from "../../../src/kube/client/resources.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { CLUSTERS_AT_ONCE, ServiceRig, WITHIN_MS, type RigOptions } from "../../support/service-rig.ts";

type VmType = "standard" | "vmssflex" | "vmss";

const OUT_OF_SERVICE = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

function nicPools(vmType: VmType, sku: "standard" | "basic" = "standard"): RigOptions {
  return {
    azure: { topology: { nodes: 2, vmType, backendPool: "nodeIPConfiguration", sku } },
    controller: { driftPeriodMs: 0 },
  };
}

export function lateMachinesSuite(name: string, open: ClusterOpener): void {
  describe(`machines after the first listing, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    const withRig = (options: RigOptions, use: (rig: ServiceRig) => Promise<void>): (() => Promise<void>) => {
      return async () => {
        const rig = await ServiceRig.open(open, options);
        try {
          await use(rig);
        } finally {
          await rig.close();
        }
      };
    };

    for (const vmType of ["standard", "vmssflex"] as const) {
      test(
        `${vmType}: a new node joins the pool, and a taint sets it Down`,
        withRig(nicPools(vmType), async (rig) => {
          await rig.apply({ name: "web" });
          await rig.served("web");
          await addMachine(rig, "late-0", "10.240.0.150");
          await eventually(async () => assert.equal((await membersOf(rig)).length, 3), WITHIN_MS);
          await rig.kube.patch(NODES, { name: "late-0" }, { merge: { spec: { taints: [OUT_OF_SERVICE] } } });
          await eventually(async () => assert.deepEqual(await downIn(rig), ["late-0"]), WITHIN_MS);
        }),
      );
    }

    test(
      "a machine that appears in Azure after its Node joins the pool too",
      withRig(nicPools("standard"), async (rig) => {
        await rig.apply({ name: "web" });
        await rig.served("web");
        const machine = machineOf(rig, "late-0", "10.240.0.150");
        await ensureNodes(rig.kube, [machine.node]);
        await rig.apply({ name: "other", spec: { ports: [{ port: 81 }] } });
        await rig.served("other");
        await rig.azure.control("POST", "/seed", { resources: machine.resources });
        await eventually(async () => assert.equal((await membersOf(rig)).length, 3), WITHIN_MS);
      }),
    );

    for (const [vmType, sku] of [
      ["standard", "standard"],
      ["standard", "basic"],
      ["vmssflex", "standard"],
      ["vmss", "standard"],
    ] as const) {
      test(
        `${vmType}, ${sku}: Services deleted at once take the load balancer along; the next one's pool is filled`,
        withRig(nicPools(vmType, sku), async (rig) => {
          const names = ["x1", "x2", "x3"];
          for (const [at, each] of names.entries())
            await rig.apply({ name: each, spec: { ports: [{ port: 80 + at }] } });
          for (const each of names) await rig.served(each);
          await Promise.all(names.map((each) => rig.kube.delete(SERVICES, { namespace: "default", name: each })));
          await eventually(async () => assert.deepEqual(await rig.list("loadBalancers"), []), WITHIN_MS);
          await rig.apply({ name: "next" });
          await eventually(async () => {
            const { ingress = [] } = (await rig.service("next")).status.loadBalancer;
            assert.equal(ingress.length, 1);
            assert.equal((await membersOf(rig)).length, 2, "the pool is empty");
          }, WITHIN_MS);
          const warnings = (await Promise.all(names.map((each) => rig.events(each)))).flat();
          assert.deepEqual(
            warnings.filter(({ type }) => type === "Warning"),
            [],
          );
        }),
      );
    }

    test(
      "a machine whose network interface has failed joins the pool of a Service that did not wait for it",
      withRig(nicPools("standard"), async (rig) => {
        await failInterface(rig, "agent-1-nic");
        await rig.apply({ name: "web" });
        await rig.served("web");
        await eventually(async () => assert.equal((await membersOf(rig)).length, 2), WITHIN_MS);
      }),
    );

    test(
      "Basic: __auto__ takes a set whose first machine came after the listing",
      withRig(nicPools("standard", "basic"), async (rig) => {
        await rig.apply({ name: "web" });
        await rig.served("web");
        await addMachine(rig, "late-0", "10.240.0.150", "as2");
        await rig.apply({
          name: "auto",
          annotations: { "azure-load-balancer-mode": "__auto__" },
          spec: { ports: [{ port: 81 }] },
        });
        await rig.served("auto");
        const names = (await rig.list("loadBalancers")).map((each) => each.name);
        assert.deepEqual(names.sort(), ["as2", "kubernetes"]);
      }),
    );
  });
}

/** A write of the network interface by another client fails. */
async function failInterface(rig: ServiceRig, name: string): Promise<void> {
  const { network, resourceGroup } = rig.azure;
  const effect = { kind: "operation", outcome: "Failed" };
  await rig.azure.control("POST", "/faults", { method: "PUT", path: `**/networkInterfaces/${name}`, effect });
  const body = await network.networkInterfaces.get(resourceGroup, name);
  await assert.rejects(
    network.networkInterfaces.beginCreateOrUpdateAndWait(resourceGroup, name, body),
    /An error occurred/,
  );
  const { provisioningState } = await network.networkInterfaces.get(resourceGroup, name);
  assert.equal(provisioningState, "Failed");
}

interface LateMachine {
  readonly resources: readonly unknown[];
  readonly node: { readonly name: string; readonly internalIPs: string[]; readonly providerID: string };
}

function machineOf(rig: ServiceRig, name: string, ip: string, set?: string): LateMachine {
  const scope = seedScopeOf(rig.azure.account);
  const path = `${scope.compute}/virtualMachines/${name}`;
  const setId = `${scope.compute}/availabilitySets/${set}`;
  const properties = { platformFaultDomainCount: 2, platformUpdateDomainCount: 5 };
  const wanted = { path, computerName: name, ip, subnet: "subnet", zones: undefined };
  const sets =
    set === undefined
      ? []
      : [{ path: setId, body: { location: scope.location, sku: { name: "Aligned" }, properties } }];
  return {
    resources: [
      ...sets,
      ...machineResources(scope, { ...wanted, set: set === undefined ? {} : { availabilitySet: { id: setId } } }),
    ],
    node: { name, internalIPs: [ip], providerID: `azure://${path}` },
  };
}

async function addMachine(rig: ServiceRig, name: string, ip: string, set?: string): Promise<void> {
  const { resources, node } = machineOf(rig, name, ip, set);
  await rig.azure.control("POST", "/seed", { resources });
  await ensureNodes(rig.kube, [node]);
}

/** Ids of the ipConfigurations in the pool of the load balancer `kubernetes`, as the official SDK shows them. */
async function membersOf(rig: ServiceRig): Promise<string[]> {
  const { backendAddressPools = [] } = await rig.azure.network.loadBalancers.get(rig.azure.resourceGroup, "kubernetes");
  return backendAddressPools.flatMap(({ backendIPConfigurations = [] }) =>
    backendIPConfigurations.map(({ id = "" }) => id),
  );
}

/** Names of the machines that are `Down` in that pool. */
async function downIn(rig: ServiceRig): Promise<string[]> {
  const { backendAddressPools = [] } = await rig.azure.network.loadBalancers.get(rig.azure.resourceGroup, "kubernetes");
  const entries = backendAddressPools.flatMap(({ loadBalancerBackendAddresses = [] }) => loadBalancerBackendAddresses);
  return entries
    .filter(({ adminState }) => adminState === "Down")
    .map(
      ({ networkInterfaceIPConfiguration }) =>
        /([^/]+)-nic\//.exec(networkInterfaceIPConfiguration?.id ?? "")?.[1] ?? "",
    );
}
