import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { describe, test } from "node:test";

import type { Log } from "../core/util/log.ts";
import { type Environment, openTracing } from "./tracing.ts";

/** Every module that this process has loaded. */
const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };

async function opened(env: Environment): Promise<{ said: string[]; isOpen: boolean }> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const log: Log = { info: say, warn: say, error: say };
  const tracing = await openTracing(env, log);
  await tracing?.close();
  return { said, isOpen: tracing !== undefined };
}

describe("without a collector nothing of OpenTelemetry is loaded", () => {
  for (const [what, env, complaint] of [
    ["nothing is set", {}, undefined],
    ["the endpoint is empty", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, undefined],
    ["the SDK is disabled", { ...ENDPOINT, OTEL_SDK_DISABLED: "true" }, undefined],
    ["no traces are wanted", { ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }, undefined],
    [
      "the endpoint is no URL",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      'no traces: OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318"; it takes a URL such as http://collector:4318',
    ],
    [
      "it would have to be gRPC",
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc" },
      'no traces: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is "grpc"; it takes http/protobuf or http/json (of a collector usually port 4318)',
    ],
    [
      "another exporter is named",
      { ...ENDPOINT, OTEL_TRACES_EXPORTER: "zipkin" },
      'no traces: OTEL_TRACES_EXPORTER is "zipkin"; it takes otlp or none',
    ],
  ] as const) {
    test(what, async () => {
      const { said, isOpen } = await opened(env);
      assert.equal(isOpen, false);
      assert.deepEqual(said, complaint === undefined ? [] : [complaint]);
      assert.deepEqual(
        loaded.filter((url) => /opentelemetry|otlp-tracing/.test(url)),
        [],
      );
    });
  }
});

test("with one it is, from whichever variable", async () => {
  for (const key of ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
    assert.deepEqual(await opened({ [key]: "http://127.0.0.1:9" }), { said: [], isOpen: true });
  assert.ok(loaded.some((url) => url.includes("@opentelemetry/sdk-trace")));
});
