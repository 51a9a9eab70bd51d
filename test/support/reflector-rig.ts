/** A reflector on a scripted wire, under virtual time, and the lines that a server sends it. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { KubeClient } from "../../src/kube/client/kube-client.ts";
import { Reflector, type ReflectorProblem } from "../../src/kube/cache/reflector.ts";
import { SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import type { Change } from "../../src/kube/cache/store.ts";
import { ScriptedWire } from "./scripted-wire.ts";
import { seededRandom, settled, VirtualClock } from "./virtual-clock.ts";

export interface Thing extends KubeObject {
  readonly spec?: { readonly size?: number };
}

export function thing(name: string, version: number, { uid = `uid-${name}`, size = version } = {}): Thing {
  return { metadata: { name, namespace: "n", uid, resourceVersion: String(version) }, spec: { size } };
}

export const added = (object: Thing) => ({ type: "ADDED", object });
export const modified = (object: Thing) => ({ type: "MODIFIED", object });
export const deleted = (object: Thing) => ({ type: "DELETED", object });
export const bookmark = (version: number, annotations = {}) => ({
  type: "BOOKMARK",
  object: { kind: "Service", apiVersion: "v1", metadata: { resourceVersion: String(version), annotations } },
});
export const listEnd = (version: number) => bookmark(version, { "k8s.io/initial-events-end": "true" });
export const failureEvent = (code: number, reason: string) => ({
  type: "ERROR",
  object: { kind: "Status", code, reason },
});

export function told(change: Change<Thing>): string {
  const size = (object: Thing): string => `${object.metadata.name}@${object.spec?.size ?? "?"}`;
  return change.kind === "updated"
    ? `updated ${size(change.old)} -> ${size(change.object)}`
    : `${change.kind} ${size(change.object)}`;
}

export async function startedReflector(t: TestContext, { random = seededRandom(1) } = {}) {
  const clock = new VirtualClock();
  /** What the checks of the server's version are answered: its version, or a failure where there is none. */
  const server: { version?: number } = {};
  let checks = 0;
  const wire = new ScriptedWire((exchange) => {
    if (exchange.url.searchParams.get("limit") !== "1") return false;
    checks += 1;
    if (server.version === undefined) exchange.fail(new Error("ECONNREFUSED"));
    else exchange.answer(200, { metadata: { resourceVersion: String(server.version) }, items: [] });
    return true;
  });
  const problems: ReflectorProblem[] = [];
  let recoveries = 0;
  const changes: string[] = [];
  const reflector = new Reflector<Thing>({
    client: new KubeClient({ transport: wire, clock }),
    resource: SERVICES,
    clock,
    random,
    project: (object) => object,
    onProblem: (problem) => problems.push(problem),
    onRecovery: () => void recoveries++,
  });
  reflector.subscribe((change) => {
    changes.push(told(change));
  });
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error("the test is over"));
    await run;
    assert.equal(clock.timers, 0, "no timer is left");
    assert.deepEqual(wire.open, [], "no connection is left");
  });
  await settled();
  const takeChanges = (): string[] => changes.splice(0);
  const names = (): string[] => [...reflector.store.keys()].sort();
  return {
    clock,
    wire,
    server,
    checks: () => checks,
    problems,
    recoveries: () => recoveries,
    reflector,
    takeChanges,
    names,
  };
}

/** A reflector that has things a and b at version 10, and follows. */
export async function syncedReflector(t: TestContext, options?: { random: () => number }) {
  const world = await startedReflector(t, options);
  world.wire.last
    .open()
    .line(added(thing("a", 1)))
    .line(added(thing("b", 2)))
    .line(listEnd(10));
  await settled();
  world.takeChanges();
  return world;
}
