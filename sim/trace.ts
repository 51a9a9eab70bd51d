/**
 * What happened, line by line. Every line enters the digest, by which two runs of a history are compared; the lines
 * themselves are kept only where somebody wants to read them.
 */
export class Trace {
  readonly #lines: string[] | undefined;
  readonly #nowMs: () => number;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;
  count = 0;

  constructor(nowMs: () => number, keepsLines: boolean) {
    this.#nowMs = nowMs;
    this.#lines = keepsLines ? [] : undefined;
  }

  /** `detail`: enters the digest, but would only clutter what people read. */
  add(line: string, detail = ""): void {
    this.count += 1;
    const ms = this.#nowMs();
    this.#mix(ms.toString());
    this.#mix(line);
    this.#mix(detail);
    this.#lines?.push(`${(ms / 1000).toFixed(3).padStart(10)}  ${line}`);
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  get digest(): string {
    return [this.#low, this.#high].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #mix(text: string): void {
    let [low, high] = [this.#low, this.#high];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ (code + at), 0x85ebca6b);
      high ^= high >>> 13;
    }
    this.#low = low;
    this.#high = high;
  }
}
