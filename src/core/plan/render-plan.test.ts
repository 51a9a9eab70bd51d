/** Golden plans: `UPDATE_GOLDEN=1` writes them anew. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import { planService, type ServicePlan } from "./plan-cluster.ts";
import { describeSteps, renderPlan } from "./render-plan.ts";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "test", "fixtures", "plans");
const HOME = "rg";
const web = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };

function planOf(world: CoreWorld, name = "web"): ServicePlan {
  return planService(world.observe(world.service(name)));
}

/** Marks are hashes of all the config: a new key of it is no new plan. */
function isGolden(name: string, plan: string): void {
  const text = plan.replaceAll(/ uids=[0-9a-f-]{36}/g, "").replaceAll(/\b[0-9a-f]{32} spec=[0-9a-f]{32}/g, "<mark>");
  const file = join(FOLDER, `${name}.txt`);
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, text);
  assert.equal(text, readFileSync(file, "utf8"));
}

function served(): CoreWorld {
  const world = new CoreWorld();
  world.apply(web);
  world.settle();
  return world;
}

test("a new Service", () => {
  const world = new CoreWorld();
  world.apply(web);
  const { steps, end } = planOf(world);
  isGolden("new-service", renderPlan(steps, HOME));
  assert.equal(end.kind, "settled");
  assert.deepEqual(steps.map(({ predicted }) => predicted).slice(0, 2), [false, true]);
});

test("a Service that becomes internal", () => {
  const world = served();
  world.annotate("web", { [`${PREFIX}azure-load-balancer-internal`]: "true" });
  isGolden("becomes-internal", renderPlan(planOf(world).steps, HOME));
});

test("a deleted Service: what is lost is marked", () => {
  const world = served();
  world.delete("web");
  const { steps } = planOf(world);
  isGolden("deleted-service", renderPlan(steps, HOME));
  assert.deepEqual(
    steps.filter(({ destructive }) => destructive).map(({ verb, id }) => `${verb} ${id.split("/").at(-2)}`),
    ["update networkSecurityGroups", "delete loadBalancers", "delete publicIPAddresses"],
  );
});

test("a changed port", () => {
  const world = served();
  world.respec("web", { ports: [{ port: 443, protocol: "TCP", nodePort: 30_000 }] });
  isGolden("changed-port", renderPlan(planOf(world).steps, HOME));
});

test("a new node", () => {
  const world = served();
  world.nodes = [...world.nodes, aNode("vmss000003", ["10.240.0.7"])];
  const steps = describeSteps(world.observe(world.service("web")), world.poolSteps(), false);
  isGolden("new-node", renderPlan(steps, HOME));
});

test("nothing to do", () => {
  const { steps, end } = planOf(served());
  assert.deepEqual([renderPlan(steps, HOME), end.kind], ["Nothing to do.\n", "settled"]);
});

test("a rejection ends the plan", () => {
  const world = new CoreWorld();
  world.apply({ ...web, metadata: { name: "web", annotations: { [`${PREFIX}azure-pip-name`]: "none" } } });
  const { end } = planOf(world);
  assert.ok(end.kind === "reject" && end.rejection.reason === "PublicIPNotFound");
});

test("as JSON: verb, id, owners, destructive, why and the whole difference", () => {
  const world = served();
  world.respec("web", { sessionAffinity: "ClientIP" });
  const step = planOf(world).steps.find(({ id }) => id.endsWith("loadBalancers/kubernetes"));
  const base = [...world.known.values()][0]?.base;
  assert.deepEqual(JSON.parse(JSON.stringify(step)), {
    verb: "update",
    id: "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes",
    owners: ["default/web"],
    destructive: false,
    why: "1 frontend and 1 rule of default/web",
    diff: [
      {
        path: `properties.loadBalancingRules[${base}-TCP-80].properties.loadDistribution`,
        before: "Default",
        after: "SourceIP",
      },
    ],
    predicted: true,
  });
});

test("two Services' steps on one resource are one write", () => {
  const world = new CoreWorld();
  world.apply(web);
  world.apply({ ...web, metadata: { name: "shop" } });
  for (const name of ["web", "shop"]) {
    for (let round = 0; round < 2; round++) {
      const decision = world.decide(world.service(name));
      if (decision.kind === "act") world.write(world.service(name), decision.steps);
    }
  }
  const steps = ["web", "shop"].flatMap((name) => {
    const decision = world.decide(world.service(name));
    return decision.kind === "act" ? decision.steps : [];
  });
  const planned = describeSteps(world.observe(world.service("web")), steps, false);
  assert.deepEqual(
    planned.map(({ verb, owners }) => [verb, owners]),
    [
      ["create", ["default/shop", "default/web"]],
      ["update", ["default/shop", "default/web"]],
    ],
  );
});
