import assert from "node:assert/strict";
import { test } from "node:test";

import type { PlanReport, ServiceEntry } from "./plan-report.ts";
import { isStuck, renderUnsettled, unsettledServices } from "./unsettled.ts";

function report(...entries: readonly Partial<ServiceEntry>[]): PlanReport {
  const whole = entries.map((entry) => ({
    service: "a/b",
    outlook: "new",
    before: [],
    after: [],
    writes: "",
    ...entry,
  }));
  return { entries: whole } as unknown as PlanReport;
}

test("worst first: refused, unreadable, failing, then what time changes", () => {
  const services = unsettledServices(
    report(
      { service: "a/new", outlook: "new" },
      { service: "a/drift", outlook: "drifted" },
      { service: "a/failed", outlook: "changes" },
      { service: "a/secret", outlook: "unreadable", message: "403" },
      { service: "a/bad", outlook: "refused", message: "InvalidAnnotation: no" },
    ),
    new Map([
      ["a/failed", "Azure said no"],
      ["a/drift", "an old failure"],
      ["a/settled", "an old failure"],
    ]),
  );
  assert.deepEqual(
    services.map(({ service, state }) => `${service} ${state}`),
    ["a/bad refused", "a/secret unreadable", "a/failed failing", "a/new to do", "a/drift drifted"],
  );
  assert.deepEqual(
    services.filter(isStuck).map(({ why }) => why),
    ["InvalidAnnotation: no", "403", "Azure said no"],
  );
});

test("a cluster without trouble is one line", () => {
  assert.equal(renderUnsettled([], 3), "3 Services are as they ask\n");
  assert.equal(renderUnsettled([], 1, "shop"), "1 Service is as it asks in namespace shop\n");
});
