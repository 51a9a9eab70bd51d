/**
 * Spans through OpenTelemetry's API and SDK to a collector, as its variables say: endpoint, headers, timeout, compression and
 * certificates are read by the exporter, service name and resource attributes by the resource's detectors, sampler and batches
 * by `trace-sampler.ts` and here. Loaded only where traces are asked for (`tracing.ts`).
 */
import {
  diag,
  DiagLogLevel,
  type Link,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

import type { Log } from "../core/util/log.ts";
import type { Span, SpanAttributes, SpanOptions, Tracer } from "../core/util/tracer.ts";
import { samplerOf } from "./trace-sampler.ts";
import type { Environment, Protocol, Tracing } from "./tracing.ts";
import { VERSION } from "./version.ts";

/** A collector that does not answer holds up the end of the process no longer than this. */
const LAST_SPANS_MS = 2_000;
/** The same complaint is not repeated sooner: a collector that is away fails every batch. */
const QUIET_MS = 300_000;

export function startTracing(env: Environment, protocol: Protocol, log: Log): Tracing {
  logProblems(log);
  const exporter = protocol === "http/json" ? new JsonExporter() : new ProtobufExporter();
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": "azlb", "service.version": VERSION }))
    .merge(detectResources({ detectors: [hostDetector, envDetector] }));
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(env, log),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batchesOf(env) })],
  });
  const tracer = new OtlpTracer(provider);
  return { tracer, close: () => within(LAST_SPANS_MS, provider.shutdown()) };
}

class OtlpTracer implements Tracer {
  readonly #provider: TracerProvider;

  constructor(provider: TracerProvider) {
    this.#provider = provider;
  }

  start(name: string, { attributes, on = [], isRequest = false }: SpanOptions): Span {
    const [parent, ...others] = on.filter((span) => span instanceof OtlpSpan);
    const links: Link[] = others.map(({ made }) => ({ context: made.spanContext() }));
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent.made);
    const kind = isRequest ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = new OtlpSpan(this.#provider.getTracer("azlb", VERSION).startSpan(name, { kind, links }, context));
    if (attributes !== undefined) span.set(attributes);
    return span;
  }
}

class OtlpSpan implements Span {
  readonly made: OtelSpan;

  constructor(made: OtelSpan) {
    this.made = made;
  }

  event(name: string): void {
    this.made.addEvent(name);
  }

  set(attributes: SpanAttributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.made.setAttribute(name, typeof value === "object" ? [...value] : value);
    }
  }

  end(problem?: string): void {
    if (problem !== undefined) this.made.setStatus({ code: SpanStatusCode.ERROR, message: problem });
    this.made.end();
  }
}

function batchesOf(env: Environment): object {
  const of = (key: string, name: string): object => {
    const value = Number(env[`OTEL_BSP_${key}`] || Number.NaN);
    return Number.isInteger(value) && value > 0 ? { [name]: value } : {};
  };
  return {
    ...of("SCHEDULE_DELAY", "scheduledDelayMillis"),
    ...of("EXPORT_TIMEOUT", "exportTimeoutMillis"),
    ...of("MAX_QUEUE_SIZE", "maxQueueSize"),
    ...of("MAX_EXPORT_BATCH_SIZE", "maxExportBatchSize"),
  };
}

/** What OpenTelemetry complains of, in the log of the process. */
function logProblems(log: Log): void {
  const lastMs = new Map<string, number>();
  const say = (level: "warn" | "error") => (message: string) => {
    const text = `traces: ${plain(message).slice(0, 500)}`;
    if (performance.now() - (lastMs.get(text) ?? -QUIET_MS) < QUIET_MS) return;
    if (lastMs.size > 100) lastMs.clear();
    lastMs.set(text, performance.now());
    log[level](text);
  };
  const drop = (): void => {};
  const logger = { error: say("error"), warn: say("warn"), info: drop, debug: drop, verbose: drop };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** An error comes as JSON, with its stack. */
function plain(message: string): string {
  try {
    const { message: said } = JSON.parse(message) as { message?: unknown };
    return typeof said === "string" ? said : message;
  } catch {
    return message;
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  await Promise.race([work.catch(() => {}), over.promise]);
  clearTimeout(timer);
}
