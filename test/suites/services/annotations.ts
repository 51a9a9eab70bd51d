/**
 * Every annotation, end to end: a Service asks for something, the official SDK shows that Azure has it, the Service's
 * status says where; and when the Service goes, Azure is as it was before.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { baseName } from "../../../src/core/model/names.ts";
import { PREFIX } from "../../../src/core/intent/annotations/annotation.ts";
import { GROUPS } from "../../../src/core/intent/annotations/groups.ts";
import { OURS } from "../../../src/core/intent/annotations/ours.ts";
import { PLACEMENT } from "../../../src/core/intent/annotations/placement.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { listed } from "../../contract/azure/azure-under-test.ts";
import { ServiceRig } from "../../support/service-rig.ts";
import { CASES, securityRules, type Case, type Seen } from "./annotation-cases.ts";
import { PUBLIC_IP_CASES } from "./public-ip-cases.ts";

const ALL_CASES: readonly Case[] = [...CASES, ...PUBLIC_IP_CASES];
/** Asked for by the cases that ran. */
const asked = new Set<string>();

export function annotationsSuite(name: string, openSingle: ClusterOpener, openDual: ClusterOpener): void {
  for (const [shape, open, cases] of [
    ["what Services may ask for", openSingle, ALL_CASES.filter(({ dualStack }) => dualStack !== true)],
    ["what Services of both families may ask for", openDual, ALL_CASES.filter(({ dualStack }) => dualStack === true)],
  ] as const) {
    describe(`${shape}, on ${name}`, () => {
      let rig: ServiceRig;
      before(async () => {
        rig = await ServiceRig.open(open, { ipv6: open === openDual });
      });
      after(() => rig.close());
      for (const [at, one] of cases.entries()) test(one.asks, () => runCase(rig, `case-${at}`, one));
    });
  }

  test("no annotation that is known goes without a case", () => {
    const own = new Set(Object.values(OURS).map(({ key }) => key));
    const known = GROUPS.flatMap(({ annotations }) => annotations.map(({ key }) => key));
    // private link services, which need pools of network interfaces, have `private-links.ts`; several load balancers have
    // `long-tail.ts`
    const elsewhere = (key: string): boolean => key.includes("azure-pls-") || key === PLACEMENT.configurations.key;
    const wanted = known.filter((key) => !own.has(key) && !elsewhere(key));
    assert.deepEqual(
      wanted.filter((key) => !asked.has(key)),
      [],
    );
  });
}

async function runCase(rig: ServiceRig, name: string, one: Case): Promise<void> {
  const { annotations: given = {}, prepare, spec = {}, check } = one;
  const annotations = { ...given, ...(await prepare?.(rig)) };
  for (const key of Object.keys(annotations)) asked.add(PREFIX + key.replace(/^port_\d+_/, "port_{port}_"));
  const before = await rig.everything();
  await rig.apply({ name, annotations, spec });
  await check(await seenOf(rig, name), rig, name);
  await rig.delete(name);
  assert.deepEqual(await rig.everything(), before);
}

async function seenOf(rig: ServiceRig, name: string): Promise<Seen> {
  const ips = await rig.served(name);
  const base = baseName((await rig.service(name)).metadata.uid);
  const { network, resourceGroup } = rig.azure;
  const balancers = await listed(network.loadBalancers.list(resourceGroup));
  const balancer = balancers.find(({ frontendIPConfigurations = [] }) =>
    frontendIPConfigurations.some((frontend) => frontend.name?.startsWith(base)),
  );
  const own = <Part extends { name?: string }>(parts: readonly Part[] = []): Part[] =>
    parts.filter((part) => part.name?.startsWith(base));
  const frontends = own(balancer?.frontendIPConfigurations);
  const used = new Set(frontends.map(({ publicIPAddress }) => publicIPAddress?.id?.toLowerCase()));
  const publicIPs = await listed(network.publicIPAddresses.listAll());
  const rules = await securityRules(rig);
  return {
    ips,
    loadBalancer: balancer?.name ?? "",
    frontends,
    rules: own(balancer?.loadBalancingRules),
    probes: own(balancer?.probes),
    publicIPs: publicIPs.filter(({ id }) => used.has(id?.toLowerCase())),
    security: rules.filter(({ destinationAddressPrefix = "", destinationAddressPrefixes = [] }) =>
      [destinationAddressPrefix, ...destinationAddressPrefixes].some((address) => ips.includes(address)),
    ),
  };
}
