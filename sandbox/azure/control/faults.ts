/**
 * The effects of armed faults. docs/emulator.md documents the format; the fault registry decides which requests are hit,
 * and the request pipeline carries the effects out.
 */
import {
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
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "cutBefore" }
  | { readonly kind: "cutAfter" }
  | { readonly kind: "operation"; readonly fate?: OperationFate; readonly tailMs?: number }
  | { readonly kind: "staleRead" };

export type Fault = SharedFault<Effect>;
export type FaultRegistry = SharedRegistry<Effect>;

export const faultRegistry = (): FaultRegistry => newRegistry<Effect>();

/** Reads the documented format; throws `BadInput`. */
export const parseFault = (value: unknown): WantedFault<Effect> => parseSharedFault(value, parseEffect);

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
