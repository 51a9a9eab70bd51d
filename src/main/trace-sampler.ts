/** The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name; one that they do not name well is the default. */
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

import type { Log } from "../core/util/log.ts";
import type { Environment } from "./tracing.ts";

const NAME = "OTEL_TRACES_SAMPLER";
const ARGUMENT = "OTEL_TRACES_SAMPLER_ARG";
const DEFAULT = "parentbased_always_on";

export function samplerOf(env: Environment, log: Log): Sampler {
  const name = env[NAME]?.trim() || DEFAULT;
  const root = rootOf(name.replace(/^parentbased_/, ""), env, log);
  if (root === undefined) {
    log.error(
      `${NAME} is "${name}"; it takes always_on, always_off, traceidratio, each also with parentbased_: ${DEFAULT} is used`,
    );
    return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function rootOf(name: string, env: Environment, log: Log): Sampler | undefined {
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratioOf(env, log));
    default:
      return undefined;
  }
}

function ratioOf(env: Environment, log: Log): number {
  const text = env[ARGUMENT]?.trim() || "1";
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  log.error(`${ARGUMENT} is "${text}"; it takes a number from 0 to 1: 1 is used`);
  return 1;
}
