/**
 * The core against what the incumbent left behind in recorded scenarios: it comes to the same state at every step, and
 * finds nothing to do where the incumbent has been. What it does differently is listed here and in docs/differences.md.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreWorld } from "../../test/support/core-world.ts";
import {
  comparable,
  differences,
  NOT_SHARED,
  type Doing,
  readScenarios,
  realised,
  type RealState,
  type RecordedState,
} from "../../test/support/incumbent-states.ts";
import { PREFIX } from "../../test/support/core-fixtures.ts";
import type { LoadBalancer, PublicIP, SecurityGroup } from "./model/arm.ts";
import { serviceKey } from "./model/kubernetes.ts";
import { FINALIZER } from "./intent/ownership.ts";

function perform(world: CoreWorld, doing: Doing): void {
  if (doing.arm !== undefined) {
    const [, path, body] = doing.arm;
    world.putPublicIP(path.split("/")[1] ?? "", body);
  }
  if (doing.apply !== undefined) {
    const { metadata, spec } = doing.apply;
    const { loadBalancerIP: pinned } = spec;
    const loadBalancerIP = typeof pinned === "string" && ingressOf(world, pinned.replace("$svcip:", ""));
    world.apply({ metadata, spec: { ...spec, ...(loadBalancerIP && { loadBalancerIP }) } });
  }
  if (doing.annotate !== undefined) {
    const [name, annotations] = doing.annotate;
    world.annotate(name, Object.fromEntries(Object.entries(annotations).map(([key, value]) => [PREFIX + key, value])));
  }
  if (doing.patch !== undefined) {
    const [name, patch] = doing.patch;
    world.respec(name, patch["spec"] as object);
  }
  if (doing.delete !== undefined) world.delete(doing.delete);
}

function ingressOf(world: CoreWorld, name: string): string | undefined {
  return world.service(name).status.loadBalancer.ingress?.[0]?.ip;
}

function stateOf(world: CoreWorld): RealState {
  const publicIPs = [...world.publicIPs.values()].flat();
  return [...world.loadBalancers, ...publicIPs, world.securityGroup] as unknown as RealState;
}

function unexpected(name: string, found: readonly string[]): string[] {
  return found.filter((difference) => !(NOT_SHARED[name] ?? []).some((known) => known.test(difference)));
}

for (const { name, steps } of readScenarios()) {
  test(`${name}: the same Azure state as the incumbent's at every step`, () => {
    const world = new CoreWorld();
    for (const { do: doing, settled } of steps) {
      perform(world, doing);
      const rejected = world.settle();
      assert.equal(rejected.size > 0, doing.fail ?? false, `rejected: ${JSON.stringify([...rejected])}`);
      if (settled === undefined) continue;
      const actual = comparable(stateOf(world), [...world.known.values()]);
      assert.deepEqual(unexpected(name, differences(settled.state, actual)), []);
    }
  });
}

/** Lays a recorded state under the Services, as the incumbent has published it. */
function takeOver(world: CoreWorld, state: RecordedState): void {
  const known = [...world.known.values()];
  const idOf = (kind: string, name: string): string =>
    `/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/${kind}/${name}`;
  const bodies = realised(state, known, idOf);
  const of = <Body>(kind: string): Body[] => bodies.filter(({ id }) => id.includes(`/${kind}/`)) as unknown as Body[];
  world.loadBalancers = of<LoadBalancer>("loadBalancers");
  world.publicIPs = new Map([["rg", of<PublicIP>("publicIPAddresses")]]);
  world.securityGroup = of<SecurityGroup>("networkSecurityGroups")[0];
  for (const service of world.services.values()) {
    const metadata = { ...service.metadata, finalizers: [FINALIZER] };
    const ingress = publishedBy(world, service.metadata.uid);
    world.services.set(serviceKey(service), { ...service, metadata, status: { loadBalancer: { ingress } } });
  }
}

/** The incumbent publishes the address of each frontend that a Service's rules stand on, and nothing else. */
function publishedBy(world: CoreWorld, uid: string): { ip: string }[] {
  const base = world.known.get(uid)?.base ?? "";
  const addresses = world.loadBalancers.flatMap(({ properties }) => {
    const rules = (properties.loadBalancingRules ?? []).filter((rule) => rule.name.startsWith(base));
    const used = new Set(rules.map((rule) => rule.properties.frontendIPConfiguration?.id.split("/").at(-1)));
    const frontends = (properties.frontendIPConfigurations ?? []).filter((frontend) => used.has(frontend.name));
    return frontends.map(({ properties: { publicIPAddress, privateIPAddress } }) => {
      const publicIP = [...world.publicIPs.values()].flat().find(({ id }) => id === publicIPAddress?.id);
      return publicIP?.properties.ipAddress ?? privateIPAddress ?? "";
    });
  });
  return addresses.map((ip) => ({ ip }));
}

/** By scenario: what a take-over puts right at once. */
const PUT_RIGHT: Readonly<Record<string, readonly string[]>> = {};

for (const { name, steps } of readScenarios()) {
  test(`${name}: nothing to do where the incumbent has been`, () => {
    const world = new CoreWorld();
    for (const { do: doing, settled } of steps) {
      perform(world, doing);
      if (settled === undefined) continue;
      takeOver(world, settled.state);
      const decisions = [...world.services.values()]
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map((service) => world.decide(service));
      const found = decisions.flatMap((decision) =>
        decision.kind === "act" ? decision.steps.map(({ kind }) => kind) : [],
      );
      assert.deepEqual(found, PUT_RIGHT[name] ?? []);
      assert.deepEqual(world.poolSteps(), []);
      for (const { metadata } of world.services.values()) {
        if (metadata.deletionTimestamp !== undefined) world.services.delete(`default/${metadata.name}`);
      }
    }
  });
}
