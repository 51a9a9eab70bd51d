/**
 * Faults that a test arms: which requests they hit, how often, and what happens to those. The format stands in
 * docs/emulator.md. Matching is here; carrying the effects out is the request pipeline's.
 */
import { BadInput } from "../../shared/bad-input.ts";
import type { OperationFate } from "../model/index.ts";
import { choiceOf, countOf, fieldsOf, listOf, onlyKeys, textOf, type Fields } from "./shape.ts";

export type Effect =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "cutBefore" }
  | { readonly kind: "cutAfter" }
  | { readonly kind: "operation"; readonly fate?: OperationFate; readonly tailMs?: number }
  | { readonly kind: "staleRead" };

export interface Fault {
  readonly id: string;
  /** Empty: any method. */
  readonly methods: readonly string[];
  readonly path: string;
  /** Client id of the caller whom it hits; `undefined` hits everybody. */
  readonly caller: string | undefined;
  /** Matching requests that pass unharmed first. */
  readonly skip: number;
  /** How many requests it hits after that; `undefined` means every one. */
  readonly count: number | undefined;
  readonly effect: Effect;
}

export interface ArmedFault extends Fault {
  readonly hits: number;
}

export interface FaultTarget {
  readonly method: string;
  readonly path: string;
  readonly caller: string | undefined;
}

export interface FaultBoard {
  arm(fault: Omit<Fault, "id">): Fault;
  /** Every armed fault that hits this request, at most one per kind of effect; counts the hit. */
  hits(target: FaultTarget): readonly Fault[];
  list(): readonly ArmedFault[];
  clear(id?: string): number;
}

interface Slot {
  readonly fault: Fault;
  readonly pattern: RegExp;
  seen: number;
  hits: number;
}

export function faultBoard(): FaultBoard {
  const slots: Slot[] = [];
  let armed = 0;
  return {
    arm(wanted) {
      const fault: Fault = { ...wanted, id: `fault-${++armed}` };
      slots.push({ fault, pattern: pathPattern(fault.path), seen: 0, hits: 0 });
      return fault;
    },
    hits(target) {
      const found: Fault[] = [];
      for (const slot of slots) {
        if (!aims(slot, target) || found.some((fault) => fault.effect.kind === slot.fault.effect.kind)) continue;
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
      const cleared = slots.length - kept.length;
      slots.splice(0, slots.length, ...kept);
      return cleared;
    },
  };
}

function aims(slot: Slot, target: FaultTarget): boolean {
  const { methods, caller } = slot.fault;
  return (
    (methods.length === 0 || methods.includes(target.method)) &&
    (caller === undefined || caller === target.caller) &&
    slot.pattern.test(target.path)
  );
}

/** `*` stands for one segment or a part of it, `**` for any number of them; case does not matter. */
function pathPattern(path: string): RegExp {
  const source = path
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`, "i");
}

const METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"] as const;
const FAULT_KEYS = ["method", "path", "caller", "skip", "count", "effect"];
const EFFECT_KEYS: Readonly<Record<Effect["kind"], readonly string[]>> = {
  status: ["kind", "status", "code", "message", "retryAfterSeconds"],
  delay: ["kind", "delayMs"],
  cutBefore: ["kind"],
  cutAfter: ["kind"],
  operation: ["kind", "outcome", "code", "message", "details", "tailMs"],
  staleRead: ["kind"],
};

/** Reads the documented format; throws `BadInput`. */
export function parseFault(value: unknown): Omit<Fault, "id"> {
  const fields = fieldsOf(value, "fault");
  onlyKeys(fields, FAULT_KEYS, "fault");
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

function parseEffect(fields: Fields): Effect {
  const where = "fault.effect";
  const kinds = Object.keys(EFFECT_KEYS) as Effect["kind"][];
  const kind = choiceOf(fields["kind"], kinds, `${where}.kind`);
  onlyKeys(fields, EFFECT_KEYS[kind], where);
  switch (kind) {
    case "status":
      return {
        kind,
        status: countOf(fields, "status", where, 100),
        code: textOf(fields, "code", where, "InternalServerError"),
        message: textOf(fields, "message", where, "An armed fault answered this request."),
        ...(fields["retryAfterSeconds"] === undefined
          ? {}
          : { retryAfterSeconds: countOf(fields, "retryAfterSeconds", where, 0) }),
      };
    case "delay":
      return { kind, delayMs: countOf(fields, "delayMs", where, 0) };
    case "operation":
      return {
        kind,
        ...fateOf(fields, where),
        ...(fields["tailMs"] === undefined ? {} : { tailMs: countOf(fields, "tailMs", where, 0) }),
      };
    case "cutBefore":
    case "cutAfter":
    case "staleRead":
      return { kind };
  }
}

function fateOf(fields: Fields, where: string): { fate?: OperationFate } {
  const outcome = choiceOf(fields["outcome"] ?? "Failed", ["Succeeded", "Failed", "Canceled"], `${where}.outcome`);
  if (outcome === "Succeeded") return {};
  const details = listOf(fields["details"] ?? [], `${where}.details`).map((value, index) => {
    const detail = fieldsOf(value, `${where}.details[${index}]`);
    return { code: textOf(detail, "code", where), message: textOf(detail, "message", where) };
  });
  return {
    fate: {
      status: outcome,
      code: textOf(fields, "code", where, outcome === "Failed" ? "InternalServerError" : "Canceled"),
      message: textOf(
        fields,
        "message",
        where,
        outcome === "Failed" ? "An error occurred." : "Operation was canceled.",
      ),
      ...(details.length === 0 ? {} : { details }),
    },
  };
}
