/**
 * Status conditions. `lastTransitionTime` changes only with the status. An update that changes nothing returns the same
 * list, so that callers can skip the write by comparing references.
 */
import type { Condition } from "./objects.ts";

export interface ConditionUpdate {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export function findCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Condition[], type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/** Returns `conditions` itself when nothing changes. */
export function withCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  nowMs: number,
): readonly Condition[] {
  const before = findCondition(conditions, update.type);
  if (before !== undefined && isSame(before, update)) return conditions;
  const at = before?.status === update.status ? before.lastTransitionTime : undefined;
  const condition: Condition = { ...update, lastTransitionTime: at ?? timestamp(nowMs) };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each === before ? condition : each));
}

export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return findCondition(conditions, type) === undefined
    ? conditions
    : conditions.filter((condition) => condition.type !== type);
}

function isSame(one: Condition, other: ConditionUpdate): boolean {
  return (
    one.status === other.status &&
    (one.reason ?? "") === (other.reason ?? "") &&
    (one.message ?? "") === (other.message ?? "") &&
    one.observedGeneration === other.observedGeneration
  );
}

export function timestamp(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}
