import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Log } from "../core/util/log.ts";
import { samplerOf } from "./trace-sampler.ts";

describe("the sampler", () => {
  for (const [name, ratio, expected] of [
    [undefined, undefined, "ParentBased{root=AlwaysOnSampler,"],
    ["always_off", undefined, "AlwaysOffSampler"],
    ["traceidratio", "0.25", "TraceIdRatioBased{0.25}"],
    ["parentbased_traceidratio", "0.5", "ParentBased{root=TraceIdRatioBased{0.5},"],
    ["parentbased_always_off", undefined, "ParentBased{root=AlwaysOffSampler,"],
  ] as const) {
    test(name ?? "by default", () => {
      const log: Log = { info: assert.fail, warn: assert.fail, error: assert.fail };
      const sampler = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }, log);
      assert.equal(sampler.toString().slice(0, expected.length), expected);
    });
  }

  test("that is not known, or a share that is none, is told and replaced", () => {
    const said: string[] = [];
    const log: Log = { info: assert.fail, warn: assert.fail, error: (text) => void said.push(text) };
    assert.match(samplerOf({ OTEL_TRACES_SAMPLER: "jaeger" }, log).toString(), /^ParentBased\{root=AlwaysOn/);
    const ratio = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "half" };
    assert.equal(samplerOf(ratio, log).toString(), "TraceIdRatioBased{1}");
    assert.match(said.join("\n"), /OTEL_TRACES_SAMPLER is "jaeger"[^]*OTEL_TRACES_SAMPLER_ARG is "half"/);
  });
});
