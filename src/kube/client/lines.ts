/**
 * Cuts a stream of bytes into lines, still as bytes. An unfinished last line is dropped, because a cut connection
 * may end anywhere.
 */
const NEWLINE = 0x0a;

export class LineCutter {
  /** The pieces of a line that has not ended yet; joined once, so a long line costs no more than its length. */
  #begun: Uint8Array[] = [];

  *push(chunk: Uint8Array): Generator<Buffer> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const rest = bytes.subarray(start, end);
      start = end + 1;
      if (this.#begun.length === 0) {
        yield rest;
      } else {
        const line = Buffer.concat([...this.#begun, rest]);
        this.#begun = [];
        yield line;
      }
    }
    if (start < bytes.length) this.#begun.push(bytes.subarray(start));
  }
}
