/** Spans, as they are handed in. `src/main/tracing.ts` exports them where that is asked for; otherwise there is no tracer. */

export type SpanAttributes = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Span {
  /** Something that happened within it, now. */
  event(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Once. `problem`: why it failed. */
  end(problem?: string): void;
}

export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** On whose behalf: it is a child of the first, and linked with the others. */
  readonly on?: readonly Span[] | undefined;
  /** Whether it is a request to a server. */
  readonly isRequest?: boolean;
}

export interface Tracer {
  start(name: string, options: SpanOptions): Span;
}
