/**
 * The arithmetic of a Deployment's rollout: how many pods its new and its old ReplicaSets may have now, so that never more
 * than `replicas + maxSurge` exist and never fewer than `replicas - maxUnavailable` are available. Pure.
 */
export interface SetCount {
  readonly wanted: number;
  readonly available: number;
}

export interface RolloutLimits {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Absolute limits: a surge in per cent is rounded up, what may be missing is rounded down, and both are not zero. */
export function rolloutLimits(
  replicas: number,
  rollingUpdate: { maxSurge?: unknown; maxUnavailable?: unknown },
): RolloutLimits {
  const maxSurge = absolute(rollingUpdate.maxSurge, replicas, Math.ceil);
  const maxUnavailable = absolute(rollingUpdate.maxUnavailable, replicas, Math.floor);
  return { replicas, maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

export function absolute(value: unknown, of: number, round: (exact: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(typeof value === "string" ? value : "")?.[1];
  return percent === undefined ? 0 : round((Number(percent) * of) / 100);
}

/** What the new ReplicaSet may have now. */
export function newSetSize(limits: RolloutLimits, newSet: number, allSets: number): number {
  if (newSet >= limits.replicas) return limits.replicas;
  const room = limits.replicas + limits.maxSurge - allSets;
  return room <= 0 ? newSet : newSet + Math.min(room, limits.replicas - newSet);
}

/** What each old ReplicaSet, the oldest first, may have now: those that are not available go first. */
export function oldSetSizes(limits: RolloutLimits, newSet: SetCount, oldSets: readonly SetCount[]): number[] {
  const minAvailable = limits.replicas - limits.maxUnavailable;
  const all = [newSet, ...oldSets];
  const sum = (count: (set: SetCount) => number): number => all.reduce((total, set) => total + count(set), 0);
  let unhealthy = sum(({ wanted }) => wanted) - minAvailable - (newSet.wanted - newSet.available);
  const cleaned = oldSets.map(({ wanted, available }) => {
    const gone = Math.max(0, Math.min(unhealthy, wanted - available));
    unhealthy -= gone;
    return { wanted: wanted - gone, available };
  });
  let healthy = Math.min(unhealthy, sum(({ available }) => available) - minAvailable);
  return cleaned.map(({ wanted }) => {
    const gone = Math.max(0, Math.min(healthy, wanted));
    healthy -= gone;
    return wanted - gone;
  });
}
