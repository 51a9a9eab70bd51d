/** What time alone brings: operations that end, and ended ones that are forgotten. */
import type { Change } from "./changes.ts";
import type { OperationFate } from "./operation.ts";
import type { State } from "./state.ts";

export function settle(_state: State, _nowMs: number): readonly Change[] {
  return [];
}

/** When `settle` will next have something to say; undefined while nothing runs. */
export function nextSettleAtMs(state: State): number | undefined {
  let next: number | undefined;
  for (const operation of state.running.values())
    if (next === undefined || operation.endMs < next) next = operation.endMs;
  return next;
}

/** Ends a running operation now, badly; no changes if it is not running. */
export function endOperation(
  _state: State,
  _operationId: string,
  _fate: OperationFate,
  _nowMs: number,
): readonly Change[] {
  return [];
}
