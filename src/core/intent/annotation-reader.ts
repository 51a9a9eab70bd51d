/**
 * Reads a Service's annotations by the table, and collects what the user must know about them: problems refuse the
 * Service, warnings do not. Reading goes on after a problem, so that a person sees all of them at once.
 */
import type { Annotation } from "./annotations.ts";
import type { WarningReason } from "../events/event-reasons.ts";
import type { Rejection, Warning } from "../outcome.ts";

type Annotations = Readonly<Record<string, string>>;

export class AnnotationReader {
  readonly warnings: Warning[] = [];
  readonly #annotations: Annotations;
  readonly #problems: Warning[] = [];

  constructor(annotations: Annotations | undefined) {
    this.#annotations = annotations ?? {};
  }

  get keys(): readonly string[] {
    return Object.keys(this.#annotations);
  }

  /** As it is written; `undefined` where it is absent. */
  raw(annotation: Annotation<unknown>, port?: number): string | undefined {
    return this.#annotations[annotationKey(annotation, port)];
  }

  /** `undefined` where it is absent, blank or wrong. */
  get<Value>(annotation: Annotation<Value>, port?: number): Value | undefined {
    const written = this.raw(annotation, port);
    if (written === undefined) return undefined;
    const reading = annotation.kind.read(written);
    const subject = `${annotationKey(annotation, port)}: "${shortened(written)}"`;
    if ("problem" in reading) {
      this.reject("InvalidAnnotation", `${subject} ${reading.problem}`);
      return undefined;
    }
    if (reading.remark !== undefined) this.warn("InvalidAnnotation", `${subject} ${reading.remark}`);
    return reading.value;
  }

  isOn(annotation: Annotation<boolean>, port?: number): boolean {
    return this.get(annotation, port) ?? false;
  }

  reject(reason: WarningReason, message: string): void {
    this.#problems.push({ reason, message });
  }

  warn(reason: WarningReason, message: string): void {
    this.warnings.push({ reason, message });
  }

  /** For a key that is there and does nothing. */
  warnOfNoEffect(annotation: Annotation<unknown>, why: string): void {
    this.warn("AnnotationHasNoEffect", `${annotation.key} has no effect: ${why}`);
  }

  /** All problems in one, under the reason of the first. */
  get rejection(): Rejection | undefined {
    const [first] = this.#problems;
    if (first === undefined) return undefined;
    const messages = new Set(this.#problems.map((problem) => problem.message));
    return { kind: "rejection", reason: first.reason, message: [...messages].join("; ") };
  }
}

/** An event is a sentence or two; an annotation may be a quarter of a megabyte. */
const LONGEST_QUOTE = 200;

function shortened(written: string): string {
  return written.length > LONGEST_QUOTE ? `${written.slice(0, LONGEST_QUOTE)}…` : written;
}

export function annotationKey(annotation: Annotation<unknown>, port?: number): string {
  return port === undefined ? annotation.key : annotation.key.replace("{port}", String(port));
}
