/** A Service that its annotation moves to another load balancer: what the plan, explain and the event say. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import type { LoadBalancerConfig } from "../../core/config/cluster-config.ts";
import { explain } from "../../core/plan/explain.ts";
import type { Step } from "../../core/steps.ts";
import { SILENT_LOG } from "../../core/util/log.ts";
import { Events } from "../events.ts";
import { ServiceEvents } from "./service-events.ts";

function loadBalancer(name: string, primaryVmSet: string): LoadBalancerConfig {
  const selectors = { serviceSelector: undefined, namespaceSelector: undefined, nodeSelector: undefined };
  return { name, primaryVmSet, allowServicePlacement: true, ...selectors };
}

function moved(): { readonly world: CoreWorld; readonly steps: readonly Step[] } {
  const world = new CoreWorld({ loadBalancers: [loadBalancer("kubernetes", "vmss"), loadBalancer("lb2", "vmss2")] });
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  world.annotate("web", { [`${PREFIX}azure-load-balancer-configurations`]: "lb2" });
  const steps: Step[] = [];
  for (let decision = world.decide(world.service("web")); decision.kind === "act";) {
    steps.push(...decision.steps);
    world.write(world.service("web"), decision.steps);
    decision = world.decide(world.service("web"));
  }
  return { world, steps };
}

test("it leaves the old one, which says why it is silent meanwhile, and then joins the new one", () => {
  const { world, steps } = moved();
  assert.deepEqual(
    world.loadBalancers.map(({ name }) => name),
    ["lb2"],
  );
  const written = steps.filter(({ kind }) => kind === "loadBalancer").map(({ why }) => why);
  assert.match(written[0] ?? "", /^default\/web moves to load balancer "lb2": its address does not answer until/);
  assert.match(written[1] ?? "", /^created for 1 frontend/);
});

test("the event names both load balancers, explain the one that it is on and why", () => {
  const { world, steps } = moved();
  const recorded: string[] = [];
  const record = ({ reason, message }: { reason: string; message: string }): void =>
    void recorded.push(`${reason}: ${message}`);
  new ServiceEvents(new Events({ record }, SILENT_LOG), SILENT_LOG).settled(world.service("web"), steps, []);
  assert.equal(recorded[0], 'LoadBalancerMoved: Moved from load balancer "kubernetes" to "lb2"');
  const { lines } = explain(world.observe(world.service("web")));
  assert.ok(lines.includes('placed on   load balancer "lb2": it is there, and may stay'), lines.join("\n"));
});
