/**
 * What the incumbent left behind in recorded scenarios, end to end: through a Kubernetes API, the controller and the
 * emulator we come to the same Azure state at every step. The differences are defects of the incumbent, and stand in
 * docs/differences.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { baseName } from "../../../src/core/model/names.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import {
  comparable,
  differences,
  NOT_SHARED,
  readScenarios,
  type Doing,
  type KnownService,
  type RealState,
} from "../../support/incumbent-states.ts";
import { eventually } from "../../support/eventually.ts";
import { CLUSTERS_AT_ONCE, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";
import { FOREIGN_RULE } from "../../support/foreign-rule.ts";

/** `scenarios`: all, or a sample of them. */
export function incumbentStatesSuite(name: string, open: ClusterOpener, scenarios = readScenarios()): void {
  describe(`the incumbent's recorded states, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios) {
      test(`${scenario.name}: the same state at every step`, async () => {
        const rig = await ServiceRig.open(open, { ipv6: true });
        try {
          await rig.put("networkSecurityGroups/nsg/securityRules/foreign-ssh", FOREIGN_RULE);
          const known = new Map<string, KnownService>();
          for (const { do: doing, settled } of scenario.steps) {
            await perform(rig, doing, known);
            if (settled === undefined) continue;
            await eventually(async () => {
              const found = differences(settled.state, comparable(await stateOf(rig), [...known.values()]));
              const shared = NOT_SHARED[scenario.name] ?? [];
              assert.deepEqual(
                found.filter((difference) => !shared.some((one) => one.test(difference))),
                [],
              );
            }, WITHIN_MS);
          }
        } finally {
          await rig.close();
        }
      });
    }
  });
}

async function stateOf(rig: ServiceRig): Promise<RealState> {
  const lists = await Promise.all([
    rig.list("loadBalancers"),
    rig.list("publicIPAddresses"),
    rig.list("networkSecurityGroups"),
  ]);
  return lists.flat().filter(({ name }) => !name.startsWith("vmss")) as unknown as RealState;
}

async function perform(rig: ServiceRig, doing: Doing, known: Map<string, KnownService>): Promise<void> {
  if (doing.arm !== undefined) {
    const [, path, body] = doing.arm;
    await rig.put(path, body);
  }
  if (doing.apply !== undefined) await apply(rig, doing);
  if (doing.annotate !== undefined) await rig.annotate(...doing.annotate);
  if (doing.patch !== undefined) await rig.patch(...doing.patch);
  if (doing.delete !== undefined) return rig.delete(doing.delete);
  for (const name of touched(doing)) await note(rig, name, doing.fail === true, known);
}

async function apply(rig: ServiceRig, { apply: manifest }: Doing): Promise<void> {
  if (manifest === undefined) return;
  const { metadata, spec } = manifest;
  const pinned = typeof spec["loadBalancerIP"] === "string" ? spec["loadBalancerIP"] : undefined;
  const shared = pinned?.startsWith("$svcip:") === true ? await rig.served(pinned.slice("$svcip:".length)) : [];
  const loadBalancerIP = shared[0] ?? pinned;
  await rig.apply({
    name: metadata.name,
    ...(metadata.annotations !== undefined && { annotations: metadata.annotations }),
    spec: { ...spec, ...(loadBalancerIP !== undefined && { loadBalancerIP }) },
  });
}

function touched({ apply: manifest, annotate, patch }: Doing): string[] {
  return [manifest?.metadata.name, annotate?.[0], patch?.[0]].filter((name) => name !== undefined);
}

/** Remembers what must be known to recognise the Service's traces, and waits until it is served, unless it cannot be. */
async function note(rig: ServiceRig, name: string, fails: boolean, known: Map<string, KnownService>): Promise<void> {
  if (!fails) await rig.served(name);
  const { metadata, spec } = await rig.service(name);
  known.set(name, {
    name,
    base: baseName(metadata.uid),
    nodePorts: spec.ports.map(({ protocol, port, nodePort = 0 }) => ({ protocol, port, nodePort })),
    healthPort: spec.healthCheckNodePort,
  });
}
