/**
 * `clusterServiceLoadBalancerHealthProbeMode` is switched on, changed and switched off under Services that are served on
 * several load balancers, Local ones among them: at no moment does a client of Azure read a rule without a probe.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";
import { whileWatching } from "../../support/while-watching.ts";

const MODE = "clusterServiceLoadBalancerHealthProbeMode";
const PORT = "clusterServiceSharedLoadBalancerHealthProbePort";
const PATH = "clusterServiceSharedLoadBalancerHealthProbePath";
const TWO = [
  { name: "kubernetes", primaryVMSet: "vmss" },
  { name: "lb2", primaryVMSet: "vmss2" },
];
const ON_SECOND = { "azure-load-balancer-configurations": "lb2" };
const INTERNAL = { "azure-load-balancer-internal": "true" };
const LOCAL = { externalTrafficPolicy: "Local" };
const SHARED_PROBE = "cluster-service-shared-health-probe";

const SERVICES = [
  { name: "web" },
  { name: "second", annotations: ON_SECOND, spec: { ports: [80, 443].map((port) => ({ name: `p${port}`, port })) } },
  { name: "inside", annotations: INTERNAL },
  { name: "local", spec: LOCAL },
  { name: "local-second", annotations: ON_SECOND, spec: LOCAL },
];

export function probeModesSuite(name: string, open: ClusterOpener): void {
  describe(`modes of probes, on ${name}`, () => {
    let rig: ServiceRig;
    let addresses: string[][];
    before(async () => {
      rig = await ServiceRig.open(open, { cloudConfig: { multipleStandardLoadBalancerConfigurations: TWO } });
      for (const service of SERVICES) await rig.apply(service);
      addresses = await served(rig);
    });
    after(() => rig.close());

    const switches: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[]])[] = [
      ["on: one probe for each load balancer, beside those of Local Services", { [MODE]: "shared" }, ["10256/healthz"]],
      ["another port and path", { [PORT]: 10_300, [PATH]: "/ready" }, ["10300/ready"]],
      ["off: each port has its own again", { [MODE]: "servicenodeport" }, []],
    ];
    for (const [what, change, shared] of switches) {
      test(`${what}; and never a rule without a probe`, async () => {
        const looks = await whileWatching(
          () => assertProbed(rig),
          async () => {
            await rig.restart(change);
            await eventually(async () => {
              const { steps, changes } = await rig.plan();
              assert.deepEqual([steps, changes], [[], []]);
            }, WITHIN_MS);
          },
        );
        assert.ok(looks > 2, `looked ${looks} times only`);
        const probes = (await rig.list("loadBalancers")).flatMap(probesOf);
        const found = probes.filter((probe) => probe.name === SHARED_PROBE).map(placeOf);
        assert.deepEqual(
          found,
          ["kubernetes", "lb2", "kubernetes-internal"].flatMap(() => shared),
        );
        const own = probes.filter((probe) => probe.name !== SHARED_PROBE);
        assert.equal(own.length, shared.length > 0 ? 2 : 6, "Local Services have their own in every mode");
        assert.deepEqual(await served(rig), addresses);
      });
    }
  });
}

async function served(rig: ServiceRig): Promise<string[][]> {
  return Promise.all(SERVICES.map(({ name }) => rig.served(name)));
}

async function assertProbed(rig: ServiceRig): Promise<void> {
  for (const body of await rig.list("loadBalancers")) {
    const probes = new Set(probesOf(body).map(({ id }) => id));
    for (const rule of (propertiesOf(body)["loadBalancingRules"] ?? []) as readonly WireBody[]) {
      const probe = propertiesOf(rule)["probe"] as { readonly id: string } | undefined;
      assert.ok(probe !== undefined && probes.has(probe.id), `${rule.name} of ${body.name} has no probe`);
    }
  }
}

function probesOf(body: WireBody): readonly WireBody[] {
  return (propertiesOf(body)["probes"] ?? []) as readonly WireBody[];
}

function placeOf(probe: WireBody): string {
  const { port, requestPath = "" } = propertiesOf(probe) as { readonly port: number; readonly requestPath?: string };
  return `${port}${requestPath}`;
}
