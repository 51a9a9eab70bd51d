/**
 * Notices that the API server is at an older state than before, as after a restore of etcd. A watch does not tell: one
 * that resumes from a version which the server has not reached yet stays open and silent, and is resumed from there
 * again. What tells is the version of a list: it is never older than what the server answered before.
 *
 * Versions are compared as Kubernetes promises they can be: decimal, and growing. Others are not compared.
 */
import type { Clock } from "../../core/util/clock.ts";
import { CancelScope } from "../client/transport.ts";
import { KubeFailure } from "../client/kube-failure.ts";

/** The state that the watch followed is no longer the server's: everything has to be listed anew. */
export class Rewound extends KubeFailure {
  constructor(what: string, from: string, to: string) {
    super("gone", `${what}: the API server went back from version ${from} to ${to}, as after a restore`);
  }
}

export function isOlder(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return BigInt(version) < BigInt(than);
}

export interface RevisionChecks {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Whether the first check is made at once: where a connection is resumed. */
  readonly atOnce: boolean;
  /** Fails where the server cannot be asked: that says nothing, and the next check is made in time. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** Checks until disposed of, one check at a time. */
export function checkRevisions({ clock, everyMs, atOnce, check }: RevisionChecks, parent: AbortSignal): Disposable {
  const scope = new CancelScope(parent);
  const run = async (): Promise<void> => {
    if (!atOnce) await clock.sleep(everyMs, scope.signal);
    for (;;) {
      await check(scope.signal).catch(() => {});
      await clock.sleep(everyMs, scope.signal);
    }
  };
  run().catch(() => {}); // ends by the signal alone
  return {
    [Symbol.dispose]: () => {
      scope.abort(new Error("the watch is over"));
      scope[Symbol.dispose]();
    },
  };
}
