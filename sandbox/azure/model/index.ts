/**
 * The emulated Azure as a pure state machine.
 *
 *   const state = emptyState({ limits: { standardPublicIps: 10 } });
 *   apply(state, settle(state, request.nowMs));          // complete due operations
 *   const { response, changes } = decide(state, request, draws);
 *   apply(state, changes);                               // journal them first for durability
 *
 * `step` does these in one call and returns all changes, in order.
 */
import type { Change } from "./changes.ts";
import type { ArmRequest, Decision, Draws } from "./contract.ts";
import type { State } from "./state.ts";
import { apply } from "./apply.ts";
import { decide } from "./decide.ts";
import { settle } from "./settle.ts";

export type { Change, Resource } from "./changes.ts";
export type { ArmRequest, ArmResponse, Decision, Draws, OperationKind } from "./contract.ts";
export type { OperationFate } from "./operation.ts";
export { AZURE_LIMITS, withOptions } from "./options.ts";
export type { Limits, OptionOverrides, Options } from "./options.ts";
export { emptyState, snapshot } from "./state.ts";
export type { Snapshot, State } from "./state.ts";
export { apply, restore } from "./apply.ts";
export { decide, operationKindOf } from "./decide.ts";
export { endOperation, nextSettleAtMs, settle } from "./settle.ts";

/** Settles, decides and applies; returns all changes, in order. */
export function step(state: State, request: ArmRequest, draws: Draws): Decision {
  const before = settle(state, request.nowMs);
  apply(state, before);
  const decision = decide(state, request, draws);
  apply(state, decision.changes);
  return before.length === 0 ? decision : { ...decision, changes: [...before, ...decision.changes] };
}

/** The change that sets options, for a control endpoint. */
export function setOptions(options: State["options"]): readonly Change[] {
  return [{ kind: "options", options }];
}
