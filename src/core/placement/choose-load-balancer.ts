/**
 * Which of the eligible load balancers a Service is placed on: the one that it is on; else the first that has no rules;
 * else the first that does not exist; else the one with the fewest rules, the first of equals.
 */

/** Rules on the load balancers of one kind, external or internal, by external name in lower case. */
export class Occupancy {
  readonly #rules: Map<string, number>;

  /** `rules`: of those that exist. */
  constructor(rules: Iterable<readonly [name: string, rules: number]>) {
    this.#rules = new Map([...rules].map(([name, count]) => [name.toLowerCase(), count]));
  }

  /** With the rules of a Service that will be placed there. */
  with(name: string, rules: number): Occupancy {
    const key = name.toLowerCase();
    return new Occupancy([...this.#rules, [key, (this.#rules.get(key) ?? 0) + rules]]);
  }

  /** `undefined`: it does not exist. */
  rulesOn(name: string): number | undefined {
    return this.#rules.get(name.toLowerCase());
  }
}

export interface Choice {
  readonly name: string;
  /** Why this one, for a person. */
  readonly why: string;
}

/** `eligible`: names in the order of the config, at least one. `occupancyBefore`: asked for where it decides. */
export function chooseLoadBalancer(
  eligible: readonly string[],
  current: string | undefined,
  occupancyBefore: () => Occupancy,
): Choice {
  const stays = eligible.find((name) => name.toLowerCase() === current?.toLowerCase());
  if (stays !== undefined) return { name: stays, why: "it is there, and may stay" };
  const [only = ""] = eligible;
  if (eligible.length === 1) return { name: only, why: "no other one takes it" };
  const occupancy = occupancyBefore();
  const empty = eligible.find((name) => occupancy.rulesOn(name) === 0);
  if (empty !== undefined) return { name: empty, why: "the first that has no rules" };
  const missing = eligible.find((name) => occupancy.rulesOn(name) === undefined);
  if (missing !== undefined) return { name: missing, why: "the first that did not exist" };
  const rules = (name: string): number => occupancy.rulesOn(name) ?? 0;
  const fewest = eligible.reduce((least, name) => (rules(name) < rules(least) ? name : least));
  return { name: fewest, why: `of ${eligible.length} that take it, the one with the fewest rules` };
}
