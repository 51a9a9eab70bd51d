/**
 * Memoised pure functions. Objects are compared by identity: what decisions read is never mutated, so the same object has
 * the same answer. With objects as keys an answer lives as long as all of them; with texts the number of answers is
 * bounded.
 */

/** By one object, such as an index of it. */
export function memo<Key extends object, Answer>(compute: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new WeakMap<Key, Answer>();
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined || answers.has(key)) return known as Answer;
    const answer = compute(key);
    answers.set(key, answer);
    return answer;
  };
}

/** By several objects. Pass the one that lives longest (the config) first: the others share its table. */
export function memoAll<Keys extends readonly object[], Answer>(
  compute: (...keys: Keys) => Answer,
): (...keys: Keys) => Answer {
  const tables = new WeakMap<object, unknown>();
  return (...keys) => {
    let table = tables;
    for (let at = 0; at < keys.length - 1; at++) {
      let next = table.get(keys[at]!);
      if (next === undefined) table.set(keys[at]!, (next = new WeakMap()));
      table = next as WeakMap<object, unknown>;
    }
    const last = keys.at(-1)!;
    if (!table.has(last)) table.set(last, compute(...keys));
    return table.get(last) as Answer;
  };
}

/** By a text. At most `most` answers are kept; those that were not used recently are dropped first. */
export function memoText<Answer>(compute: (text: string) => Answer, most: number): (text: string) => Answer {
  let recent = new Map<string, Answer>();
  let older = new Map<string, Answer>();
  return (text) => {
    if (recent.has(text)) return recent.get(text) as Answer;
    const answer = older.has(text) ? (older.get(text) as Answer) : compute(text);
    if (recent.size >= most / 2) [older, recent] = [recent, new Map()];
    recent.set(text, answer);
    return answer;
  };
}
