/**
 * Holds armed faults and decides which requests they hit, and how often. The effect of a hit is opaque here but for its
 * kind; the server carries it out.
 */
import { BadInput, choiceOf, countOf, fieldsOf, onlyKeys, textOf, type Fields } from "./input.ts";

export interface Fault<Effect> {
  readonly id: string;
  /** Empty: any method. */
  readonly methods: readonly string[];
  readonly path: string;
  /** Client id of the callers that it hits; `undefined` hits all callers. */
  readonly caller: string | undefined;
  /** Matching requests that pass before the first hit. */
  readonly skip: number;
  /** How many requests it hits after that; `undefined`: all. */
  readonly count: number | undefined;
  readonly effect: Effect;
}

export type WantedFault<Effect> = Omit<Fault<Effect>, "id">;

interface FaultTarget {
  readonly method: string;
  readonly path: string;
  readonly caller: string | undefined;
}

export interface FaultRegistry<Effect> {
  arm(fault: WantedFault<Effect>): Fault<Effect>;
  /** Every armed fault that hits this request, at most one per kind of effect; counts the hit. */
  hits(target: FaultTarget): readonly Fault<Effect>[];
  list(): readonly (Fault<Effect> & { readonly hits: number })[];
  /** Returns how many were cleared. */
  clear(id?: string): number;
  /** Resolves when the fault is cleared; at once where there is none of that id. */
  cleared(id: string): Promise<void>;
}

interface Slot<Effect> {
  readonly fault: Fault<Effect>;
  readonly pattern: RegExp;
  readonly cleared: PromiseWithResolvers<void>;
  seen: number;
  hits: number;
}

export function faultRegistry<Effect extends { readonly kind: string }>(): FaultRegistry<Effect> {
  const slots: Slot<Effect>[] = [];
  let armed = 0;
  return {
    arm(wanted) {
      const fault: Fault<Effect> = { ...wanted, id: `fault-${++armed}` };
      slots.push({ fault, pattern: pathPattern(fault.path), cleared: Promise.withResolvers(), seen: 0, hits: 0 });
      return fault;
    },
    hits(target) {
      const found: Fault<Effect>[] = [];
      for (const slot of slots) {
        if (!matches(slot, target) || found.some((fault) => fault.effect.kind === slot.fault.effect.kind)) continue;
        slot.seen += 1;
        if (slot.seen <= slot.fault.skip) continue;
        if (slot.fault.count !== undefined && slot.hits >= slot.fault.count) continue;
        slot.hits += 1;
        found.push(slot.fault);
      }
      return found;
    },
    list: () => slots.map((slot) => ({ ...slot.fault, hits: slot.hits })),
    clear(id) {
      const kept = id === undefined ? [] : slots.filter((slot) => slot.fault.id !== id);
      const cleared = slots.filter((slot) => !kept.includes(slot));
      slots.splice(0, slots.length, ...kept);
      for (const slot of cleared) slot.cleared.resolve();
      return cleared.length;
    },
    cleared: (id) => slots.find(({ fault }) => fault.id === id)?.cleared.promise ?? Promise.resolve(),
  };
}

function matches<Effect>(slot: Slot<Effect>, target: FaultTarget): boolean {
  const { methods, caller } = slot.fault;
  return (
    (methods.length === 0 || methods.includes(target.method)) &&
    (caller === undefined || caller === target.caller) &&
    slot.pattern.test(target.path)
  );
}

/** `*` matches within one segment, `**` any number of segments; case-insensitive. */
function pathPattern(path: string): RegExp {
  const source = path
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`, "i");
}

const METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"] as const;
const KEYS = ["method", "path", "caller", "skip", "count", "effect"];

/** Of an effect that delays; `null`: until its fault is cleared. */
export function delayOf(fields: Fields, where: string): number | null {
  return fields["delayMs"] === null ? null : countOf(fields, "delayMs", where, 0);
}

/** Reads the documented format; throws `BadInput`. The server parses the effect. */
export function parseFault<Effect>(value: unknown, parseEffect: (fields: Fields) => Effect): WantedFault<Effect> {
  const fields = fieldsOf(value, "fault");
  onlyKeys(fields, KEYS, "fault");
  const methods = fields["method"] === undefined ? [] : [fields["method"]].flat();
  const path = textOf(fields, "path", "fault", "**");
  if (!path.startsWith("/") && !path.startsWith("*")) {
    throw new BadInput(`fault.path must begin with "/" or "**", not ${JSON.stringify(path)}`);
  }
  return {
    methods: methods.map((method) => choiceOf(method, METHODS, "fault.method")),
    path,
    caller: fields["caller"] === undefined ? undefined : textOf(fields, "caller", "fault"),
    skip: countOf(fields, "skip", "fault", 0, 0),
    count: fields["count"] === null ? undefined : countOf(fields, "count", "fault", 1, 1),
    effect: parseEffect(fieldsOf(fields["effect"], "fault.effect")),
  };
}
