/**
 * Whatever a Service says, as far as it can be stored at all: it is served, or refused with a reason; it harms nobody
 * else; and when it goes, everything is as it was.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { hostileService, type HostileService } from "../../../test/support/hostile-services.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Family } from "../model/arm.ts";
import type { Ingress } from "../model/kubernetes.ts";
import { isResourceGroupName, isResourceName, parseId } from "../model/ids.ts";
import type { Step } from "../steps.ts";
import { isAzureStep } from "./rounds.ts";
import { PLACEMENT } from "../intent/annotations/placement.ts";
import { parseService } from "../intent/parse-service.ts";

const RUNS = 300;
const MOST_ROUNDS = 40;

const families = fc.constantFrom<readonly Family[]>(["IPv4"], ["IPv6"], ["IPv4", "IPv6"]);
/** Of the other Service. */
const THEIRS = "$theirs";
const ingress = fc.constantFrom<readonly Ingress[]>(
  [],
  [{ ip: THEIRS }],
  [{ ip: "9.9.9.9" }],
  [{ hostname: "example.com" }],
  [{ ip: "" }],
  [{ ip: "what" }, {}],
  [{ ip: "::1" }],
);
const config = fc.constantFrom<Partial<ClusterConfig>>(
  {},
  { sku: "basic", primaryVmSet: "agents", vmType: "standard" },
  { enableIPTagMutation: true, disableOutboundSnat: true, tags: { owner: "team" } },
);

/** A cluster that serves one Service already, of both families: the pools of a load balancer stay as long as it does. */
function worldOf(settings: Partial<ClusterConfig>): CoreWorld {
  const world = new CoreWorld({ ...CONFIG, ...settings });
  const spec = { ports: [{ port: 80 }, { port: 443 }], ipFamilies: ["IPv4", "IPv6"] };
  world.apply({ metadata: { name: "victim" }, spec });
  world.settle();
  return world;
}

/** As one object, so that any change shows. */
function azureOf({ loadBalancers, publicIPs, securityGroup }: CoreWorld): unknown {
  const all = [...publicIPs.values()].flat();
  return JSON.parse(JSON.stringify({ loadBalancers, publicIPs: all, securityGroup }));
}

function add(world: CoreWorld, { annotations, finalizers, spec }: HostileService, more: object): void {
  const service = world.apply({ metadata: { name: "hostile", annotations }, spec: { ...spec, ...more } });
  world.services.set("default/hostile", { ...service, metadata: { ...service.metadata, finalizers } });
}

/** Runs it to wherever it gets; answers every step on the way. */
function run(world: CoreWorld): Step[] {
  const taken: Step[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const service = world.services.get("default/hostile");
    if (service === undefined) return taken;
    const decision = world.decide(service);
    if (decision.kind === "reject") assert.match(decision.rejection.message, /\S{3}/);
    if (decision.kind !== "act") return taken;
    taken.push(...decision.steps);
    world.write(service, decision.steps);
  }
  throw new Error("it does not settle");
}

/** Every id leads where its parts say. */
function assertProperIds(steps: readonly Step[]): void {
  for (const { id } of steps.filter(isAzureStep)) {
    const { resourceGroup = "", names = [] } = parseId(id) ?? {};
    assert.ok(isResourceGroupName(resourceGroup) && names.length > 0 && names.every(isResourceName), id);
  }
}

test("a Service is read or refused, never thrown over, and a refusal of an annotation names its key", () => {
  fc.assert(
    fc.property(hostileService, families, config, (hostile, ipFamilies, settings) => {
      const world = new CoreWorld({ ...CONFIG, ...settings });
      add(world, hostile, { ipFamilies });
      const parsed = parseService(world.service("hostile"), world.config);
      if ("intent" in parsed) return;
      if (parsed.reason !== "InvalidAnnotation") return;
      assert.ok(
        Object.keys(hostile.annotations).some((key) => parsed.message.includes(key)),
        parsed.message,
      );
    }),
    { numRuns: RUNS * 3 },
  );
});

test("it harms no other Service, and leaves nothing behind", () => {
  fc.assert(
    fc.property(
      hostileService,
      families,
      ingress,
      config,
      fc.boolean(),
      (hostile, ipFamilies, shown, settings, claim) => {
        const world = worldOf(settings);
        const before = azureOf(world);
        const victim = world.service("victim");
        const theirs = victim.status.loadBalancer.ingress?.[0]?.ip ?? "";
        const claims = claim ? { [PLACEMENT.additionalPublicIPs.key]: theirs } : {};
        add(world, { ...hostile, annotations: { ...hostile.annotations, ...claims } }, { ipFamilies });
        const added = world.service("hostile");
        const status = {
          loadBalancer: { ingress: shown.map((one) => ("ip" in one && one.ip === THEIRS ? { ip: theirs } : one)) },
        };
        world.services.set("default/hostile", { ...added, status });
        assertProperIds(run(world));
        assert.equal(world.decide(victim).kind, "settled", "the other is as it was");
        world.delete("hostile");
        assertProperIds(run(world));
        assert.deepEqual(azureOf(world), before);
      },
    ),
    { numRuns: RUNS },
  );
});
