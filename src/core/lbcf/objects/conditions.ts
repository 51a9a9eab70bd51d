/**
 * Conditions: what people and tools read an object's state from. `lastTransitionTime` moves only when the status does,
 * and an equal condition is the same object, so that nothing is written that says nothing new.
 */
import type { Condition } from "./objects.ts";

export interface Said {
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

/** Answers the list itself where it says that already. */
export function withCondition(conditions: readonly Condition[], said: Said, nowMs: number): readonly Condition[] {
  const before = findCondition(conditions, said.type);
  if (before !== undefined && isSame(before, said)) return conditions;
  const at = before?.status === said.status ? before.lastTransitionTime : undefined;
  const condition: Condition = { ...said, lastTransitionTime: at ?? timestamp(nowMs) };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each === before ? condition : each));
}

export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return findCondition(conditions, type) === undefined
    ? conditions
    : conditions.filter((condition) => condition.type !== type);
}

function isSame(one: Condition, other: Said): boolean {
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
