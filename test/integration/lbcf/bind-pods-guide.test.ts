/** `docs/guides/bind-pods-to-a-pool.md`: its manifests, applied as they are, do what it says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { parse, parseAllDocuments } from "yaml";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import type { KubeObject } from "../../support/kube-connection.ts";
import { condition, type ConditionOf, type LbcfObject, LbcfWorld } from "./world.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../../docs/guides/bind-pods-to-a-pool.md"), "utf8");
const [BINDING = "", TEMPLATE = ""] = [...GUIDE.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? "");
const THEIRS = { name: "by-terraform", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } };

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

describe("the guide to bind pods to a pool", { concurrency: false }, () => {
  let world: LbcfWorld;
  const manifests = parseAllDocuments(BINDING).map((document) => document.toJS() as Manifest);
  const entries = async (): Promise<readonly string[]> =>
    (await world.entries("shop")).map(({ name, properties }) =>
      name === THEIRS.name ? name : (properties.ipAddress ?? ""),
    );
  const isIn = (...expected: readonly string[]): Promise<void> =>
    world.eventually(async () => assert.deepEqual((await entries()).toSorted(), [...expected].toSorted()));

  before(async () => {
    world = await LbcfWorld.open(openEmbeddedCluster, { azure: { plainHttp: true } });
    const path = world.loadBalancerPath("shop");
    const subnet = path.replace("loadBalancers/shop", "virtualNetworks/vnet/subnets/subnet");
    const virtualNetwork = { id: subnet.slice(0, subnet.indexOf("/subnets/")) };
    const pool = { virtualNetwork, loadBalancerBackendAddresses: [THEIRS] };
    await world.putArm(path, {
      location: "westus2",
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [{ name: "theirs", properties: { subnet: { id: subnet } } }],
        backendAddressPools: [{ name: "web", properties: pool }],
      },
    });
  });
  after(() => world.close());

  test("its manifests put pods into the pool, beside what is there", async () => {
    for (const { kind, metadata, spec } of manifests) await world.create(kind, metadata.name, spec);
    await world.addPod("web-0", { ip: "10.244.0.10" });
    await isIn(THEIRS.name, "10.244.0.10");
    const body = await world.arm(world.loadBalancerPath("shop"));
    for (const list of ["loadBalancingRules", "probes"]) assert.deepEqual(body?.properties[list] ?? [], []);
  });

  test("its readiness gate opens once the pod is in the pool", async () => {
    const { spec } = parse(TEMPLATE) as {
      spec: { template: { spec: { readinessGates: readonly { conditionType: string }[] } } };
    };
    const [gate] = spec.template.spec.readinessGates;
    await world.addPod("web-1", { ip: "10.244.0.11", gated: true });
    await world.eventually(async () => {
      const pod = (await world.read("/api/v1/namespaces/default/pods/web-1")) as KubeObject & {
        status: { conditions: ConditionOf[] };
      };
      assert.equal(pod.status.conditions.find(({ type }) => type === gate?.conditionType)?.status, "True");
    });
    await isIn(THEIRS.name, "10.244.0.10", "10.244.0.11");
  });

  test("another namespace's binding to the pool is refused, and says whose it is", async () => {
    await world.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
    for (const { kind, metadata, spec } of manifests) await world.createIn("other", kind, metadata.name, spec);
    await world.eventually(async () => {
      const path = "/apis/lbcf.tkestack.io/v1beta1/namespaces/other/loadbalancers/shop";
      const accepted = condition((await world.read(path)) as LbcfObject, "Accepted");
      assert.deepEqual([accepted?.status, accepted?.reason], ["False", "Refused"]);
      assert.match(
        accepted?.message ?? "",
        /lbSpec\.pool "web" of load balancer "shop" is used by namespace "default"/,
      );
    });
  });

  test("leaving takes the pods out, and nothing else", async () => {
    await world.remove("/apis/lbcf.tkestack.io/v1beta1/namespaces/other/loadbalancers/shop", {});
    for (const { kind, metadata } of manifests.toReversed()) await world.delete(kind, metadata.name);
    await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "shop"), false));
    const [left, ...others] = await world.entries("shop", "web");
    assert.deepEqual([left?.name, left?.properties.ipAddress, others], [THEIRS.name, "10.240.9.1", []]);
    assert.equal(left?.properties["shoeSize"], 44);
  });
});
