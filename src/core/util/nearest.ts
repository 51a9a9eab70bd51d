/** Which known word did a misspelt one mean? For messages about configuration keys and annotations. */

/** So few wrong letters are a slip of the fingers; more, and whole words tell better what was meant. */
const SLIP = 2;

/** The closest of `known`, letter case aside: within a slip by letters, else by words in common, then by letters. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { readonly word: string; readonly rank: readonly [number, number] } | undefined;
  for (const candidate of known) {
    const rank = rankOf(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || isBefore(rank, best.rank)) best = { word: candidate, rank };
  }
  return best?.word;
}

function rankOf(one: string, other: string): readonly [number, number] {
  const letters = editDistance(one, other);
  return [letters <= SLIP ? 0 : wordsApart(one, other), letters];
}

function isBefore([words, letters]: readonly [number, number], other: readonly [number, number]): boolean {
  return words < other[0] || (words === other[0] && letters < other[1]);
}

/** Words that only one of the two has: `probe-path` is one away from `probe-request-path`, two from `probe-protocol`. */
function wordsApart(one: string, other: string): number {
  const [left, right] = [new Set(one.split(/[^a-z\d]+/)), new Set(other.split(/[^a-z\d]+/))];
  const shared = [...left].filter((word) => right.has(word)).length;
  return left.size + right.size - 2 * shared;
}

/** Letters to insert, delete or replace to make one word of the other; beyond `atMost` any number above it will do. */
export function editDistance(one: string, other: string, atMost: number = Number.POSITIVE_INFINITY): number {
  if (Math.abs(one.length - other.length) > atMost) return atMost + 1;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const distance = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next.push(distance);
      least = Math.min(least, distance);
    }
    if (least > atMost) return atMost + 1;
    row = next;
  }
  return row.at(-1) ?? 0;
}
