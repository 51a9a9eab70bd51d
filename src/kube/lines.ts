/**
 * Cuts a stream of bytes into lines, in bytes: a line becomes a string only once, whole. An unfinished last line is
 * dropped, because a cut connection may end anywhere.
 */
const NEWLINE = 0x0a;

export class LineCutter {
  /** The pieces of a line that has not ended yet; joined once, so a long line costs no more than its length. */
  #begun: Uint8Array[] = [];

  *push(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      start = end + 1;
      if (this.#begun.length === 0) {
        yield asText(rest);
      } else {
        const line = Buffer.concat([...this.#begun, rest]);
        this.#begun = [];
        yield asText(line);
      }
    }
    if (start < chunk.length) this.#begun.push(chunk.subarray(start));
  }
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
