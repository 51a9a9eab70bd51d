/** Services on a `CoreWorld`, and the rounds that they take, in words. */
import assert from "node:assert/strict";
import { PREFIX } from "./core-fixtures.ts";
import { CoreWorld } from "./core-world.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import type { Decision, Step } from "../../src/core/steps.ts";
import type { Rejection } from "../../src/core/outcome.ts";

export const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
export const NO_LONGER_INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: null };
export const web = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };

/** Every round of one Service until it is settled, each as the steps it took. */
export function roundsOf(world: CoreWorld, name: string): string[] {
  const rounds: string[] = [];
  for (let round = 0; round < 30; round++) {
    const service = world.services.get(`default/${name}`);
    if (service === undefined) return [...rounds, "gone"];
    const decision = world.decide(service);
    if (decision.kind !== "act")
      return [...rounds, decision.kind === "reject" ? decision.rejection.reason : decision.kind];
    rounds.push(decision.steps.map(wordOf).join(" + "));
    world.write(service, decision.steps);
  }
  return assert.fail(`no end: ${rounds.join(", ")}`);
}

export function rejectionOf(world: CoreWorld, name: string): Rejection {
  const decision = world.decide(world.service(name));
  return decision.kind === "reject" ? decision.rejection : assert.fail(`${name} is not rejected`);
}

function wordOf(step: Step): string {
  if (!("id" in step)) return step.kind;
  const target = step.id.split("/").at(step.kind === "backendPool" ? -3 : -1);
  return `${step.kind} ${target}`;
}

export function lastSteps(decision: Decision): readonly Step[] {
  return decision.kind === "act" ? decision.steps : [];
}

export function worldWith(
  manifest: Parameters<CoreWorld["apply"]>[0] = web,
  config: Partial<ClusterConfig> = {},
): CoreWorld {
  const world = new CoreWorld(config);
  world.apply(manifest);
  return world;
}

export const ingressOf = (world: CoreWorld, name = "web") => world.service(name).status.loadBalancer.ingress ?? [];
export const pipOf = (world: CoreWorld, name = "web"): string =>
  `kubernetes-${[...world.known.values()].find((one) => one.name === name)?.base}`;
export const pips = (world: CoreWorld): string[] => [...world.publicIPs.values()].flat().map(({ name }) => name);
export const loadBalancers = (world: CoreWorld): string[] => world.loadBalancers.map(({ name }) => name);

export function pinned(world: CoreWorld, to: string): Record<string, string> {
  return { [`${PREFIX}azure-load-balancer-ipv4`]: ingressOf(world, to)[0]?.ip ?? "" };
}
