/**
 * A log of what happened, line by line. Every line enters the digest, which compares two runs of a history; the lines
 * themselves are kept only on request.
 */
import { createHash } from "node:crypto";

export class Trace {
  readonly #lines: string[] | undefined;
  readonly #nowMs: () => number;
  readonly #hash = createHash("sha1");
  count = 0;

  constructor(nowMs: () => number, keepLines: boolean) {
    this.#nowMs = nowMs;
    this.#lines = keepLines ? [] : undefined;
  }

  /** `detail` enters the digest but not the printed line. */
  add(line: string, detail = ""): void {
    this.count += 1;
    const ms = this.#nowMs();
    this.#hash.update(`${ms} ${line}\n`);
    if (detail !== "") this.#hash.update(detail);
    this.#lines?.push(`${(ms / 1000).toFixed(3).padStart(10)}  ${line}`);
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  get digest(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }
}
