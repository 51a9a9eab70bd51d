/** Texts for messages, logs and events: of errors, numbers with nouns, suggestions for misspelt keys, redaction of tokens. */

/** The message of an error; anything else that was thrown, as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `1 rule`, `2 rules`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** JSON Web Tokens are recognised by their first characters, others by the authentication scheme before them. */
const TOKENS = /\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?|\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi;

/** For text of a server, which may repeat the credentials that it (or a proxy before it) was sent. */
export function redactTokens(text: string): string {
  return text.replaceAll(TOKENS, (_token, scheme: string | undefined) =>
    scheme === undefined ? "(hidden)" : `${scheme} (hidden)`,
  );
}

/** Up to this edit distance a key counts as a typing error; beyond it, words in common tell better what was meant. */
const TYPO_DISTANCE = 2;

/** Longer than any known key. Input is cut to it, because users choose its length and the work grows with its square. */
const LONGEST = 128;

/**
 * The entry of `known` that a misspelt key most likely means, ignoring case: by edit distance where that is within a
 * typing error, else by words in common, then by edit distance. `undefined` only where `known` is empty.
 */
export function closestMatch(word: string, known: readonly string[]): string | undefined {
  const written = word.slice(0, LONGEST).toLowerCase();
  const typos = closest(known, (candidate) => editDistance(written, candidate.toLowerCase(), TYPO_DISTANCE));
  if (typos.distance <= TYPO_DISTANCE) return typos.words[0];
  const { words } = closest(known, (candidate) => wordsApart(written, candidate.toLowerCase()));
  return closest(words, (candidate) => editDistance(written, candidate.toLowerCase())).words[0];
}

/** Whether it differs by a typing error, or has the same words in another order, ignoring case. */
export function isNearMiss(word: string, known: string): boolean {
  const [one, other] = [word.slice(0, LONGEST).toLowerCase(), known.toLowerCase()];
  return editDistance(one, other, TYPO_DISTANCE) <= TYPO_DISTANCE || wordsApart(one, other) === 0;
}

/** All words with the smallest distance, in the order of `known`. */
function closest(
  known: readonly string[],
  distanceOf: (word: string) => number,
): { words: string[]; distance: number } {
  let words: string[] = [];
  let distance = Number.POSITIVE_INFINITY;
  for (const word of known) {
    const own = distanceOf(word);
    if (own < distance) [words, distance] = [[], own];
    if (own === distance) words.push(word);
  }
  return { words, distance };
}

/** Words that only one of the two has: `probe-path` is one away from `probe-request-path`, two from `probe-protocol`. */
function wordsApart(one: string, other: string): number {
  const [left, right] = [new Set(one.split(/[^a-z\d]+/)), new Set(other.split(/[^a-z\d]+/))];
  const shared = [...left].filter((word) => right.has(word)).length;
  return left.size + right.size - 2 * shared;
}

/** Levenshtein distance; where it exceeds `atMost`, any number above `atMost`. */
export function editDistance(one: string, other: string, atMost: number = Number.POSITIVE_INFINITY): number {
  if (Math.abs(one.length - other.length) > atMost) return atMost + 1;
  let same = 0; // keys share long prefixes, which cost nothing
  while (same < one.length && one[same] === other[same]) same += 1;
  if (same > 0) return editDistance(one.slice(same), other.slice(same), atMost);
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
