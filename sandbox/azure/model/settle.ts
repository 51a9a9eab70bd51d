/** The changes due by a time: operations that end, and ended ones past their retention. */
import type { Change, Resource } from "./changes.ts";
import { groupKeyOf, keyOf } from "./ids.ts";
import { migratedPools } from "./network/load-balancer/migrate.ts";
import type { Operation, OperationError, OperationFate } from "./operation.ts";
import { typeNamed } from "./registry.ts";
import type { State } from "./state.ts";

export function settle(state: State, nowMs: number): readonly Change[] {
  const changes: Change[] = [];
  const due = [...state.running.values()].filter((operation) => operation.endMs <= nowMs);
  due.sort((left, right) => left.endMs - right.endMs);
  for (const operation of due) changes.push(...end(state, operation));
  forget(state, nowMs, changes);
  return changes;
}

/** When the next operation ends; undefined while none runs. */
export function nextSettleAtMs(state: State): number | undefined {
  let next: number | undefined;
  for (const { endMs } of state.running.values()) if (next === undefined || endMs < next) next = endMs;
  return next;
}

/** Ends a running operation now with a failure; no changes if it is not running. */
export function endOperation(state: State, operationId: string, fate: OperationFate, nowMs: number): readonly Change[] {
  const operation = state.running.get(operationId);
  return operation ? fail(state, { ...operation, endMs: nowMs }, fate) : [];
}

function end(state: State, operation: Operation): Change[] {
  const fate = operation.fate ?? blocked(state, operation);
  return fate ? fail(state, operation, fate) : succeed(state, operation);
}

function succeed(state: State, operation: Operation): Change[] {
  const ended: Change = { kind: "operation", operation: { ...operation, status: "Succeeded" } };
  switch (operation.effect) {
    case "none":
      return [ended];
    case "provision":
      return [...markAll(state, operation, "Succeeded"), ended];
    case "drop":
      return [...dropped(state, operation.key), ended];
    case "migrate":
      return [...migratedPools(state, operation.key, operation.pools ?? []), ended];
  }
}

/** The written content stays; another PUT repairs the resource. */
function fail(state: State, operation: Operation, fate: OperationFate): Change[] {
  const { status, ...error } = fate;
  const ended: Change = {
    kind: "operation",
    operation: { ...operation, status, error: error satisfies OperationError },
  };
  if (operation.effect === "none" || operation.effect === "migrate") return [ended];
  const resource = state.resources.get(operation.key);
  return [...markAll(state, operation, resource && isGroup(resource) ? "Succeeded" : status), ended];
}

function markAll(state: State, operation: Operation, to: "Succeeded" | "Failed" | "Canceled"): Change[] {
  const keys = [operation.key, ...(operation.companions ?? [])];
  return keys.flatMap((key): Change[] => {
    const resource = state.resources.get(key);
    if (!resource) return [];
    const provisioned = resource.provisioned || to === "Succeeded";
    return [{ kind: "mark", key, mark: { state: to, provisioned, lastOperation: resource.lastOperation } }];
  });
}

/** The changes that remove a resource and its dependents, referrers first. */
function dropped(state: State, key: string): Change[] {
  const resource = state.resources.get(key);
  if (!resource) return [];
  const type = typeNamed(resource.type);
  const keys = isGroup(resource) ? contentsOf(state, key) : (type.dependants?.(state, resource) ?? []);
  const drops = [...keys, key].map((gone): Change => ({ kind: "drop", key: gone }));
  return [...(type.changesOnDelete?.(state, resource) ?? []), ...drops];
}

function isGroup(resource: Resource): boolean {
  return resource.type === "Microsoft.Resources/resourceGroups";
}

/** Keys of a group's resources, newest first. */
function contentsOf(state: State, groupKey: string): string[] {
  const prefix = `${groupKey}/`;
  return [...state.resources.keys()].filter((key) => key.startsWith(prefix)).toReversed();
}

/** A group cannot be deleted while a resource outside references one inside. */
function blocked(state: State, operation: Operation): OperationFate | undefined {
  const group = state.resources.get(operation.key);
  if (operation.effect !== "drop" || !group || !isGroup(group)) return undefined;
  for (const [target, referrers] of state.incoming) {
    if (groupKeyOf(target) !== operation.key) continue;
    for (const { from } of referrers.values()) {
      if (groupKeyOf(keyOf(from)) === operation.key) continue;
      const message = `Deletion of resource group '${group.id}' failed: ${target} is in use by ${from}.`;
      return { status: "Failed", code: "ResourceGroupDeletionBlocked", message };
    }
  }
  return undefined;
}

function forget(state: State, nowMs: number, changes: Change[]): void {
  const before = nowMs - state.options.operationRetentionMs;
  for (const operation of state.operations.values()) {
    if (operation.status === "InProgress" || operation.endMs >= before) return;
    changes.push({ kind: "forget", operationId: operation.id });
  }
}
