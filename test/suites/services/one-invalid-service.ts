/** One Service among a hundred that cannot be served: the others are, in the same writes, and it alone says why. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { EVENTS, type KubeObject } from "../../../src/kube/client/resources.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { MANY_WITHIN_MS, addresses, onlyLeft, startDeleting } from "../../support/many-services.ts";
import { ServiceRig, type Manifest } from "../../support/service-rig.ts";

const HEALTHY = 99;
/** What they may cost: far below one write per Service, with room for bisecting. */
const MOST_WRITES = 30;

interface Event extends KubeObject {
  readonly type: string;
  readonly involvedObject: { readonly name: string };
}

export function oneInvalidServiceSuite(name: string, open: ClusterOpener): void {
  describe(`one poisoned Service among ${HEALTHY + 1}, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3, foreign: true, vmType: "standard" } } });
      await rig.leavePool();
    });
    after(() => rig.close());

    test("its port is taken by another client's rule on the address that it shares", async () => {
      const address = await foreignAddress(rig);
      const poisoned = {
        name: "poisoned",
        annotations: { "azure-load-balancer-ipv4": address },
        spec: { ports: [{ port: 8443 }] },
      };
      const said = await amongHealthy(rig, poisoned, "PortConflict");
      assert.match(
        said,
        /^TCP port 8443 is taken on frontend "foreign-frontend" of load balancer "[^"]+" by load balancing rule "foreign-rule": use/,
      );
    });

    test("Azure refuses it for what no merge can see: the public IP that it names is a network interface's", async () => {
      await rig.put("publicIPAddresses/of-a-machine", {
        location: "westus2",
        sku: { name: "Standard" },
        properties: { publicIPAllocationMethod: "Static" },
      });
      await giveToInterface(rig, "of-a-machine");
      const poisoned = { name: "poisoned", annotations: { "azure-pip-name": "of-a-machine" } };
      const said = await amongHealthy(rig, poisoned, "SyncLoadBalancerFailed");
      assert.match(said, /^load balancer "kubernetes": Azure refused it: .*of-a-machine/);
    });
  });
}

/** Creates all of them at once; answers what the poisoned one says, after all went again. */
async function amongHealthy(rig: ServiceRig, poisoned: Manifest, reason: string): Promise<string> {
  const before = await rig.everything();
  const healthy = Array.from({ length: HEALTHY }, (_, at) => `healthy-${at}`);
  const writesBefore = await writes(rig);
  const manifests = [...healthy.map((name) => ({ name })), poisoned];
  // the controller finds them all at once: how many share a write does not depend on how fast they are created
  await rig.stop();
  await Promise.all(manifests.map((manifest) => rig.apply(manifest)));
  await rig.start();
  await eventually(async () => {
    const served = [...(await addresses(rig))].filter(([, ips]) => ips.length > 0).map(([name]) => name);
    assert.deepEqual(served.toSorted(), healthy.toSorted());
  }, MANY_WITHIN_MS);
  const said = await rig.warned(poisoned.name, reason);
  const cost = (await writes(rig)) - writesBefore;
  assert.ok(cost <= MOST_WRITES, `${cost} writes of the load balancer`);
  assert.deepEqual(await warnedServices(rig), [poisoned.name]);
  await startDeleting(rig, [poisoned.name, ...healthy]);
  await onlyLeft(rig, []);
  assert.deepEqual(await rig.everything(), before);
  return said;
}

/** Names of those about which there is a Warning. */
async function warnedServices({ kube }: ServiceRig): Promise<string[]> {
  const { items } = await kube.list<Event>(EVENTS, { namespace: "default" });
  return [...new Set(items.filter(({ type }) => type === "Warning").map(({ involvedObject }) => involvedObject.name))];
}

async function writes(rig: ServiceRig): Promise<number> {
  const { requests } = (await rig.azure.control("GET", "/counters")) as {
    requests: Record<string, Record<string, number>>;
  };
  return requests["Microsoft.Network/loadBalancers"]?.["PUT"] ?? 0;
}

async function foreignAddress({ azure }: ServiceRig): Promise<string> {
  const { ipAddress } = await azure.network.publicIPAddresses.get(azure.resourceGroup, "foreign-ip");
  return ipAddress ?? "";
}

/** The first machine's network interface gets that public IP. */
async function giveToInterface(rig: ServiceRig, publicIP: string): Promise<void> {
  const { network, resourceGroup } = rig.azure;
  const name = `${rig.azure.nodes[0]?.name ?? ""}-nic`;
  const nic = await network.networkInterfaces.get(resourceGroup, name);
  const { ipConfigurations: [first, ...others] = [] } = nic;
  await network.networkInterfaces.beginCreateOrUpdateAndWait(resourceGroup, name, {
    ...nic,
    ipConfigurations: [
      { ...first, publicIPAddress: { id: rig.networkPath(`publicIPAddresses/${publicIP}`) } },
      ...others,
    ],
  });
}
