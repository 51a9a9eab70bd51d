import assert from "node:assert/strict";
import { test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { isLeftDrift } from "./left-drift.ts";
import { planCluster } from "./plan-cluster.ts";
import { type PlanReport, reportPlan } from "./plan-report.ts";
import { renderPage } from "./render-page.ts";
import { renderReport } from "./render-report.ts";
import type { PlannedStep } from "./render-plan.ts";

const web = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
const INTERNAL = `${PREFIX}azure-load-balancer-internal`;

interface Reported {
  readonly report: PlanReport;
  readonly steps: readonly PlannedStep[];
  readonly text: string;
}

function reported(world: CoreWorld): Reported {
  const otherServices = [...world.services.values()];
  const before = otherServices.map((service) => ({ ...world.observe(service), otherServices }));
  const plan = planCluster(before);
  const report = reportPlan({ ...plan, before, unreadable: [], drift: { services: [], steps: [] } });
  return { report, steps: plan.steps, text: renderReport(report, plan.steps, "rg") };
}

function served(...names: readonly string[]): CoreWorld {
  const world = new CoreWorld();
  for (const name of names) world.apply({ ...web, metadata: { name } });
  world.settle();
  return world;
}

test("a new Service: its resources, and the address that Azure gives", () => {
  const world = new CoreWorld();
  world.apply(web);
  assert.equal(
    reported(world).text,
    [
      "+ default/web                               new, at <known after apply>: create public IP, load balancer; update security group",
      "~ pool kubernetes of load balancer kubernetes  to hold 3 nodes",
      "",
      "1 public IP and 1 load balancer to create, 1 security group and 1 pool to change, 0 addresses change, 0 refused",
      "",
    ].join("\n"),
  );
});

test("what takes something away comes first, then what needs a person", () => {
  const world = served("web", "shop", "gone", "same");
  world.annotate("web", { [INTERNAL]: "true" });
  world.respec("shop", { ports: [{ port: 443, protocol: "TCP" }] });
  world.delete("gone");
  world.apply({ metadata: { name: "bad", annotations: { [`${PREFIX}azure-pip-name`]: "none" } }, spec: web.spec });
  const { report, text } = reported(world);
  assert.deepEqual(
    report.entries.map(({ service, outlook }) => [service, outlook]),
    [
      ["default/web", "moves"],
      ["default/gone", "goes"],
      ["default/shop", "loses"],
      ["default/bad", "refused"],
    ],
  );
  assert.match(text, /^! default\/web +ADDRESS CHANGES, 252\.\S+ -> <known after apply>: /m);
  assert.match(text, /^- default\/gone +goes, no longer at 252\.\S+: delete public IP; update /m);
  assert.match(text, /^x default\/bad +refused, PublicIPNotFound: /m);
  assert.match(text, /, 1 address changes, 1 refused, 1 address with Services that go, 1 Service unchanged\n$/);
});

test("nothing to do", () => {
  assert.equal(reported(served("web")).text, "Nothing to do.\n");
});

test("200 and 2,000 Services fit on a screen: like lines are collapsed", () => {
  const world = new CoreWorld();
  const annotations = { [`${PREFIX}azure-pip-name`]: "none" };
  for (let at = 0; at < 200; at++) world.apply({ ...web, metadata: { name: `s${at}` } });
  for (let at = 0; at < 12; at++) world.apply({ ...web, metadata: { name: `bad${at}`, annotations } });
  const { report, steps, text } = reported(world);
  const ten = { ...report, entries: Array.from({ length: 10 }, () => report.entries).flat() };
  for (const [shown, more] of [
    [text, 197],
    [renderReport(ten, steps, "rg"), 1_997],
  ] as const) {
    const lines = shown.split("\n");
    assert.ok(lines.length <= 24 && lines.every((line) => line.length < 320), shown);
    assert.ok(shown.includes(`… and ${more} more like this; --details lists them`), shown);
    assert.match(
      shown,
      /\n200 public IPs and 1 load balancer to create, 1 security group and 1 pool to change, 0 addresses change, 12 refused\n$/,
    );
  }
});

test("the more kinds of lines, the fewer of each are shown: it still fits", () => {
  const { report, steps } = reported(served("web"));
  const kinds = Array.from({ length: 10 }, (_, at) => `update part ${at}`);
  const entries = kinds.flatMap((writes) =>
    Array.from({ length: 200 }, (_, at) => {
      return { service: `default/s${at}`, outlook: "changes", before: [], after: [], writes } as const;
    }),
  );
  const lines = renderReport({ ...report, entries }, steps, "rg").split("\n");
  assert.ok(lines.length <= 24, lines.join("\n"));
  for (const kind of kinds) assert.ok(lines.some((line) => line.endsWith(kind)));
});

test("what the drift policy leaves is told apart from what is written", () => {
  const world = served("web");
  world.loadBalancers = world.loadBalancers.map((seen) => {
    const rules = (seen.properties.loadBalancingRules ?? []).map((rule) => {
      return { ...rule, properties: { ...rule.properties, idleTimeoutInMinutes: 15 } };
    });
    return { ...seen, properties: { ...seen.properties, loadBalancingRules: rules } };
  });
  const observed = world.observe(world.service("web"));
  assert.deepEqual(
    (["report", "ignore", "enforce"] as const).map((policy) => isLeftDrift(observed, policy)),
    [true, true, false],
  );
  const drift = { services: [observed], steps: planCluster([observed]).steps };
  const empty = planCluster([]);
  const text = renderReport(reportPlan({ ...empty, before: [], unreadable: [], drift }), [], "rg");
  assert.match(
    text,
    /^= default\/web +differs in Azure and is left so by the drift policy; .*: update load balancer\n/,
  );
  assert.match(text, /1 Service left as found by the drift policy/);
});

test("the page escapes whatever users wrote, and runs nothing", () => {
  const world = new CoreWorld();
  const evil = `<script>alert("1")</script>`;
  world.apply({ ...web, metadata: { name: "web", annotations: { [`${PREFIX}azure-pip-name`]: evil } } });
  const { report, steps } = reported(world);
  const page = renderPage({ changes: [], drift: [], steps, report, home: "rg" }, `plan of ${evil}`);
  assert.ok(!page.includes("<script"), page);
  assert.ok(page.includes("&lt;script&gt;alert(&quot;1&quot;)"), page);
  assert.match(page, /^<!doctype html>\n/);
  assert.match(page, /default-src 'none'/);
  assert.doesNotMatch(page, /https?:/);
});
