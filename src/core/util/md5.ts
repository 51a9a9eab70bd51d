/**
 * MD5 (RFC 1321) of UTF-8 text, in hexadecimal. Not for security: shared security rules are named by it, as the
 * incumbent names them, and fingerprints use it. Implemented here because the core imports no package and no Node module.
 */

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** The whole part of 2³² × |sin(i + 1)|. */
const SINES = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

export function md5(text: string): string {
  const words = paddedWords(utf8(text));
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let block = 0; block < words.length; block += 16) mix(state, words.subarray(block, block + 16));
  return [...state].map(littleEndianHex).join("");
}

function mix(state: Uint32Array, block: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const sum = a + choose(round, b, c, d) + (SINES[i] ?? 0) + (block[wordAt(round, i)] ?? 0);
    const shift = SHIFTS[round]?.[i & 3] ?? 0;
    [a, d, c, b] = [d, c, b, (b + ((sum << shift) | ((sum >>> 0) >>> (32 - shift)))) | 0];
  }
  for (const [at, word] of [a, b, c, d].entries()) state[at] = (state[at] ?? 0) + word;
}

function choose(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (d & b) | (~d & c);
  if (round === 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}

function wordAt(round: number, i: number): number {
  if (round === 0) return i;
  if (round === 1) return (5 * i + 1) % 16;
  return (round === 2 ? 3 * i + 5 : 7 * i) % 16;
}

function paddedWords(bytes: readonly number[]): Uint32Array {
  const words = new Uint32Array((((bytes.length + 8) >> 6) + 1) * 16);
  for (const [at, byte] of [...bytes, 0x80].entries())
    words[at >> 2] = (words[at >> 2] ?? 0) | (byte << ((at & 3) * 8));
  words[words.length - 2] = bytes.length * 8;
  words[words.length - 1] = Math.floor(bytes.length / 2 ** 29);
  return words;
}

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), continuation(code));
    else if (code < 0x1_0000) bytes.push(0xe0 | (code >> 12), continuation(code >> 6), continuation(code));
    else bytes.push(0xf0 | (code >> 18), continuation(code >> 12), continuation(code >> 6), continuation(code));
  }
  return bytes;
}

function continuation(bits: number): number {
  return 0x80 | (bits & 0x3f);
}

function littleEndianHex(word: number): string {
  return [0, 8, 16, 24].map((shift) => ((word >>> shift) & 0xff).toString(16).padStart(2, "0")).join("");
}
