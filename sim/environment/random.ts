/**
 * The random source of a history, derived from its seed. Each purpose has a stream of its own, derived from the seed and
 * the purpose's name, so that the draws of one do not shift those of another.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The stream for a purpose; it depends on the seed and the name alone. */
  static of(seed: number, purpose: string): Random {
    let hash = 0x811c9dc5 ^ seed;
    for (let at = 0; at < purpose.length; at++) hash = Math.imul(hash ^ purpose.charCodeAt(at), 0x01000193);
    return new Random(mixed(hash));
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  readonly number = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mixed(this.#state) / 2 ** 32;
  };

  /** An integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.number() * limit);
  }

  between(low: number, high: number): number {
    return low + this.number() * (high - low);
  }

  /** True with this probability. */
  bool(probability: number): boolean {
    return this.number() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  /** A key, with a probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.number() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    throw new Error("weights must not all be 0");
  }

  uuid(): string {
    const word = (): string =>
      mixed((this.#state = (this.#state + 0x6d2b79f5) >>> 0))
        .toString(16)
        .padStart(8, "0");
    const [a, b, c, d] = [word(), word(), word(), word()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }
}

/** The finalizer of mulberry32. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 15), value | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
