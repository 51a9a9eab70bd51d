/** A drain of a part while its whole is being written: it goes before the whole is read, and keeps no caller waiting. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, LB, kinds } from "../../../test/support/commit-rig.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import { listAt, type SharedList, wanted } from "../../../test/support/shared-list.ts";
import type { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { answersOf, type Merged } from "../../core/outcome.ts";
import type { ArmBody, Committed } from "./commit-types.ts";
import { WriteKind } from "./write-kind.ts";
import { field } from "../arm/response-body.ts";
import type { ArmRequest, ArmResponse } from "../arm/transport.ts";

const POOL = `${LB}/backendAddressPools/pool`;

type Trouble = (step: string) => ArmResponse | Promise<undefined> | undefined;

/** A load balancer with a pool, whose writes take a second; `trouble` answers in Azure's place, or takes its time. */
async function rig(trouble: Trouble = () => undefined) {
  const { clock, arm, attempts, commit, known, submit, run } = commitRig({ operationMs: 1_000 });
  await run(submit(wanted("a", 1)));
  const list = listAt(arm, LB);
  arm.write(LB, { ...list, properties: { ...list.properties, backendAddressPools: [{ name: "pool" }] } });
  known.clear();
  const steps: string[] = [];
  const answered = (request: ArmRequest, whole: SharedList): ArmResponse => {
    const isSame = request.headers["if-match"] === whole.etag;
    if (request.method === "GET") return json(200, { ...pool(), id: POOL, etag: whole.etag });
    if (!isSame) return error(412, "PreconditionFailed");
    const backendAddressPools = [{ name: "pool", ...(JSON.parse(request.body ?? "") as object) }];
    arm.write(LB, { ...whole, properties: { ...whole.properties, backendAddressPools } });
    return json(200, { properties: { provisioningState: "Succeeded" } });
  };
  arm.interpose = async (request) => {
    const path = new URL(request.url).pathname;
    if (path.startsWith("/operations/")) return undefined;
    const step = `${request.method} ${path === POOL ? "pool" : "whole"}`;
    steps.push(step);
    const troubled = await trouble(step);
    return troubled ?? (path === POOL ? answered(request, listAt(arm, LB)) : undefined);
  };
  const draining = new Set<string>();
  const merge = (seen: ArmBody | undefined, fragments: readonly undefined[]): Merged<ArmBody> => {
    const down = [...draining].sort();
    const isRight = JSON.stringify(field(seen?.properties, "down") ?? []) === JSON.stringify(down);
    const outcome = isRight
      ? ({ kind: "unchanged" } as const)
      : { kind: "put" as const, body: { properties: { down } } };
    return { outcome, answers: answersOf(fragments) };
  };
  const kind = new WriteKind("adminState", merge);
  /** Decides, as real drains do, by the nodes that drain when it leaves. */
  const drain = (node = "n1"): Promise<Committed<ArmBody>> => {
    draining.add(node);
    return commit.submit({ id: POOL, kind, fragment: undefined, priority: "drain" });
  };
  const pool = (): ArmBody =>
    (field(arm.read(LB)?.["properties"], "backendAddressPools") as readonly ArmBody[]).at(0) ?? {};
  const down = (): unknown => field(pool().properties, "down");
  const inFlight = (step = "PUT whole"): Promise<number> => clock.advanceUntil(() => steps.includes(step));
  return { clock, attempts, submit, run, steps, drain, draining, down, inFlight };
}

function isDown(whole: ArmBody | null): boolean {
  return JSON.stringify(whole)?.includes('"down":["n1"]') ?? false;
}

test("it leaves when the write is over, after a look at its part alone; the whole is read after it has left", async () => {
  const { submit, run, steps, drain, down, inFlight } = await rig();
  const service = submit(wanted("a", 2));
  await inFlight();
  const drained = drain();
  const [first, second] = await run(Promise.all([service, drained]));
  assert.deepEqual(kinds([first, second]), ["written", "written"]);
  assert.deepEqual(steps.slice(steps.lastIndexOf("PUT whole"), -1), ["PUT whole", "GET pool", "PUT pool", "GET whole"]);
  assert.ok(second.kind === "written" && isDown(second.body));
  assert.deepEqual(down(), ["n1"]);
});

test("those whose write it was do not wait for it", async () => {
  let clockOf: VirtualClock | undefined;
  const slow = (step: string) => (step === "PUT pool" ? clockOf?.sleep(30_000).then(() => undefined) : undefined);
  const { clock, submit, run, drain, inFlight } = await rig(slow);
  clockOf = clock;
  const service = submit(wanted("a", 2));
  await inFlight();
  const drained = drain();
  const startMs = clock.monotonicMs();
  assert.equal((await run(service)).kind, "written");
  assert.ok(clock.monotonicMs() - startMs < 10_000);
  assert.equal((await run(drained)).kind, "written");
  assert.ok(clock.monotonicMs() - startMs >= 30_000);
});

test("the next one does not wait for the whole either, and nothing else is written in between", async () => {
  let clockOf: VirtualClock | undefined;
  const slow = (step: string) => (step === "PUT pool" ? clockOf?.sleep(5_000).then(() => undefined) : undefined);
  const { clock, submit, run, steps, drain, down, inFlight } = await rig(slow);
  clockOf = clock;
  const service = submit(wanted("a", 2));
  await inFlight();
  const one = drain("n1");
  await inFlight("PUT pool");
  const two = drain("n2");
  await run(service);
  const later = submit(wanted("b", 1));
  assert.deepEqual(kinds(await run(Promise.all([one, two, later]))), ["written", "written", "written"]);
  assert.deepEqual(down(), ["n1", "n2"]);
  const others = steps.filter((step) => step !== "GET whole");
  assert.deepEqual(others.slice(-6), ["PUT whole", "GET pool", "PUT pool", "GET pool", "PUT pool", "PUT whole"]);
});

test("what comes before it has left leaves with it", async () => {
  const { clock, submit, run, steps, drain, down, inFlight } = await rig();
  const service = submit(wanted("a", 2));
  await inFlight();
  const one = drain("n1");
  await inFlight("GET pool");
  let two: Promise<Committed<ArmBody>> | undefined;
  clock.nextTurn = async () => void (two ??= drain("n2"));
  await run(Promise.all([service, one]));
  assert.ok(two !== undefined);
  assert.deepEqual(kinds([await one, await run(two)]), ["written", "written"]);
  assert.deepEqual(down(), ["n1", "n2"]);
  assert.equal(steps.filter((step) => step === "PUT pool").length, 1);
});

test("where another client was faster it has its turn as ever", async () => {
  let conflicts = 0;
  const conflict = (step: string) => {
    return step === "PUT pool" && ++conflicts === 1 ? error(412, "PreconditionFailed") : undefined;
  };
  const { submit, run, drain, down, inFlight } = await rig(conflict);
  const service = submit(wanted("a", 2));
  await inFlight();
  assert.deepEqual(kinds(await run(Promise.all([service, drain()]))), ["written", "written"]);
  assert.deepEqual(down(), ["n1"]);
  assert.equal(conflicts, 2);
});

test("where its part cannot be read it has its turn as ever", async () => {
  const denied = (step: string) => (step === "GET pool" ? error(403, "AuthorizationFailed") : undefined);
  const { attempts, submit, run, drain, down, inFlight } = await rig(denied);
  const service = submit(wanted("a", 2));
  await inFlight();
  assert.deepEqual(kinds(await run(Promise.all([service, drain()]))), ["written", "written"]);
  assert.deepEqual(down(), ["n1"]);
  assert.deepEqual(
    attempts.flatMap(({ failure }) => failure ?? []),
    [],
    "nothing failed that was tried",
  );
});

test("where the whole cannot be read afterwards it is found done", async () => {
  let isLost = false;
  const lost = (step: string) => (step === "GET whole" && isLost ? error(403, "AuthorizationFailed") : undefined);
  const { clock, submit, run, steps, drain, down, inFlight } = await rig(lost);
  const service = submit(wanted("a", 2));
  await inFlight();
  isLost = true;
  const drained = drain();
  await clock.advanceUntil(() => steps.at(-1) === "GET whole");
  isLost = false;
  const outcomes = await run(Promise.all([service, drained]));
  assert.deepEqual(
    outcomes.map(({ kind }) => kind === "unchanged" || kind === "written"),
    [true, true],
  );
  assert.deepEqual(down(), ["n1"]);
  assert.equal(steps.filter((step) => step === "PUT pool").length, 1);
});

test("it does not sit out a failure of the write that it waited for", async () => {
  let isBusy = false;
  const busy = (step: string) => {
    if (step !== "PUT whole" || !isBusy) return undefined;
    return { ...error(503, "ServiceUnavailable"), headers: { "retry-after": "600" } };
  };
  const { clock, submit, run, drain, inFlight } = await rig(busy);
  isBusy = true;
  void submit(wanted("a", 2));
  await inFlight();
  const startMs = clock.monotonicMs();
  assert.equal((await run(drain())).kind, "written");
  assert.ok(clock.monotonicMs() - startMs < 60_000);
});
