/**
 * MD5 (RFC 1321) of UTF-8 text, in hexadecimal. Not for security: shared security rules are named by it, as the
 * incumbent names them, and fingerprints use it. Implemented here because the core imports no package and no Node module.
 */

/** Four for each round. */
const SHIFTS = Uint8Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21);

/** The whole part of 2³² × |sin(i + 1)|. */
const SINES = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

/** Which word of a block each step takes. */
const WORDS = Uint8Array.from({ length: 64 }, (_, i) => wordAt(i >> 4, i));

export function md5(text: string): string {
  const words = paddedWords(text);
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let block = 0; block < words.length; block += 16) mix(state, words, block);
  return [...state].map(littleEndianHex).join("");
}

function mix(state: Uint32Array, words: Uint32Array, block: number): void {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let i = 0; i < 64; i++) {
    const sum = a + choose(i >> 4, b, c, d) + SINES[i]! + words[block + WORDS[i]!]!;
    const shift = SHIFTS[((i >> 4) << 2) | (i & 3)]!;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
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

/** The UTF-8 bytes of the text, little-endian, with their end and their number. */
function paddedWords(text: string): Uint32Array {
  const most = text.length * 3; // a character takes three bytes at most for each of its code units
  const words = new Uint32Array((((most + 8) >> 6) + 1) * 16);
  let length = 0;
  const push = (byte: number): void => {
    words[length >> 2]! |= byte << ((length & 3) * 8);
    length += 1;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) {
      push(code);
    } else if (code < 0x800) {
      push(0xc0 | (code >> 6));
      push(continuation(code));
    } else if (code < 0x1_0000) {
      push(0xe0 | (code >> 12));
      push(continuation(code >> 6));
      push(continuation(code));
    } else {
      push(0xf0 | (code >> 18));
      push(continuation(code >> 12));
      push(continuation(code >> 6));
      push(continuation(code));
      at += 1; // it has two code units
    }
  }
  const bytes = length;
  push(0x80);
  const padded = words.subarray(0, (((bytes + 8) >> 6) + 1) * 16);
  padded[padded.length - 2] = bytes * 8;
  padded[padded.length - 1] = Math.floor(bytes / 2 ** 29);
  return padded;
}

function continuation(bits: number): number {
  return 0x80 | (bits & 0x3f);
}

function littleEndianHex(word: number): string {
  return [0, 8, 16, 24].map((shift) => ((word >>> shift) & 0xff).toString(16).padStart(2, "0")).join("");
}
