/** The effects of armed faults on requests to the embedded API. docs/embedded-kubernetes.md documents the format. */
import { BadInput, choiceOf, countOf, type Fields, onlyKeys, textOf } from "../../shared/input.ts";
import {
  delayOf,
  type FaultRegistry,
  faultRegistry,
  parseFault,
  type WantedFault,
} from "../../shared/fault-registry.ts";

export type Effect =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    }
  /** `null`: until the fault is cleared. */
  | { readonly kind: "delay"; readonly delayMs: number | null }
  /** Closes the connection before the request is executed, or after it. */
  | { readonly kind: "cutBefore" }
  | { readonly kind: "cutAfter" };

export type KubeFaults = FaultRegistry<Effect>;

export const kubeFaults = (): KubeFaults => faultRegistry<Effect>();

const EFFECT_KEYS: Readonly<Record<Effect["kind"], readonly string[]>> = {
  status: ["kind", "status", "reason", "message", "retryAfterSeconds"],
  delay: ["kind", "delayMs"],
  cutBefore: ["kind"],
  cutAfter: ["kind"],
};

/** Reads the documented format; throws `BadInput`. Faults cannot select a caller: this API does not distinguish them. */
export function parseKubeFault(value: unknown): WantedFault<Effect> {
  const fault = parseFault(value, parseEffect);
  if (fault.caller === undefined) return fault;
  throw new BadInput(`fault.caller ${JSON.stringify(fault.caller)}: callers are not told apart here; leave it out`);
}

function parseEffect(fields: Fields): Effect {
  const where = "fault.effect";
  const kind = choiceOf(fields["kind"], Object.keys(EFFECT_KEYS) as Effect["kind"][], `${where}.kind`);
  onlyKeys(fields, EFFECT_KEYS[kind], where);
  if (kind === "delay") return { kind, delayMs: delayOf(fields, where) };
  if (kind !== "status") return { kind };
  const after = fields["retryAfterSeconds"];
  return {
    kind,
    status: countOf(fields, "status", where, 400),
    reason: textOf(fields, "reason", where, "InternalError"),
    message: textOf(fields, "message", where, "an armed fault answered this request"),
    ...(after === undefined ? {} : { retryAfterSeconds: countOf(fields, "retryAfterSeconds", where, 0) }),
  };
}
