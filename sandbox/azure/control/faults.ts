/**
 * The effects of armed faults. docs/emulator.md documents the format; the fault registry decides which requests are hit,
 * and the request pipeline carries the effects out.
 */
import {
  delayOf,
  type Fault as SharedFault,
  type FaultRegistry as SharedRegistry,
  faultRegistry as newRegistry,
  parseFault as parseSharedFault,
  type WantedFault,
} from "../../shared/fault-registry.ts";
import { choiceOf, countOf, fieldsOf, listOf, onlyKeys, textOf, type Fields } from "../../shared/input.ts";
import type { OperationFate } from "../model/index.ts";

export type Effect =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    }
  /** `null`: until the fault is cleared. */
  | { readonly kind: "delay"; readonly delayMs: number | null }
  | { readonly kind: "cutBefore" }
  | { readonly kind: "cutAfter" }
  | { readonly kind: "operation"; readonly fate?: OperationFate; readonly tailMs?: number }
  | { readonly kind: "staleRead" };

export type Fault = SharedFault<Effect>;
export type FaultRegistry = SharedRegistry<Effect>;

export const faultRegistry = (): FaultRegistry => newRegistry<Effect>();

/** Reads the documented format; throws `BadInput`. */
export const parseFault = (value: unknown): WantedFault<Effect> => parseSharedFault(value, parseEffect);

/** Waits as long as those of the faults say that delay; `false`: the emulator closes. `sleep` is cut short then. */
export async function delayedBy(
  hits: readonly Fault[],
  registry: FaultRegistry,
  sleep: (ms: number) => Promise<boolean>,
): Promise<boolean> {
  for (const { id, effect } of hits) {
    if (effect.kind !== "delay") continue;
    const { delayMs } = effect;
    const isCleared = registry.cleared(id).then(() => true);
    const isOver = delayMs === null ? Promise.race([isCleared, sleep(FOR_EVER_MS)]) : sleep(delayMs);
    if (!(await isOver)) return false;
  }
  return true;
}

/** The longest that a timer takes. */
const FOR_EVER_MS = 2 ** 31 - 1;

const EFFECT_KEYS: Readonly<Record<Effect["kind"], readonly string[]>> = {
  status: ["kind", "status", "code", "message", "retryAfterSeconds"],
  delay: ["kind", "delayMs"],
  cutBefore: ["kind"],
  cutAfter: ["kind"],
  operation: ["kind", "outcome", "code", "message", "details", "tailMs"],
  staleRead: ["kind"],
};

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
      return { kind, delayMs: delayOf(fields, where) };
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
