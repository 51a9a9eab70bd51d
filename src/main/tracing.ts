/**
 * Decides whether spans are exported: where `OTEL_EXPORTER_OTLP_ENDPOINT`, or the one of traces, is set. Only then is
 * OpenTelemetry loaded (`otlp-tracing.ts`; a file of its own beside a built program). What is wrong with the settings is
 * logged, and there are no spans: traces must not keep a controller from its work.
 */
import type { Log } from "../core/util/log.ts";
import type { Tracer } from "../core/util/tracer.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left, for a moment; never fails. */
  close(): Promise<void>;
}

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export async function openTracing(env: Environment, log: Log): Promise<Tracing | undefined> {
  if (!isAskedFor(env)) return undefined;
  const problem = problemOf(env);
  if (problem !== undefined) {
    log.error(`no traces: ${problem}`);
    return undefined;
  }
  const { startTracing } = await import("./otlp-tracing.ts");
  return startTracing(env, protocolOf(env) as Protocol, log);
}

/** A variable of OpenTelemetry, that of traces first; an empty one counts as unset. */
function otlpSetting(env: Environment, name: string): { readonly key: string; readonly value: string } | undefined {
  for (const key of [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]) {
    const value = env[key]?.trim();
    if (value) return { key, value };
  }
  return undefined;
}

function isAskedFor(env: Environment): boolean {
  if (otlpSetting(env, "ENDPOINT") === undefined) return false;
  const isOff = env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true";
  return !isOff && env["OTEL_TRACES_EXPORTER"]?.trim() !== "none";
}

function protocolOf(env: Environment): string {
  return otlpSetting(env, "PROTOCOL")?.value ?? PROTOCOLS[0];
}

function problemOf(env: Environment): string | undefined {
  const endpoint = otlpSetting(env, "ENDPOINT");
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint.value)?.protocol ?? ""))
    return `${endpoint.key} is "${endpoint.value}"; it takes a URL such as http://collector:4318`;
  const exporter = env["OTEL_TRACES_EXPORTER"]?.trim() || "otlp";
  if (exporter !== "otlp") return `OTEL_TRACES_EXPORTER is "${exporter}"; it takes otlp or none`;
  const protocol = protocolOf(env);
  if ((PROTOCOLS as readonly string[]).includes(protocol)) return undefined;
  const key = otlpSetting(env, "PROTOCOL")?.key;
  return `${key} is "${protocol}"; it takes ${PROTOCOLS.join(" or ")} (of a collector usually port 4318)`;
}
