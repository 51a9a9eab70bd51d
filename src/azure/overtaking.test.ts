/** A drain of a part while its whole is being written: it goes before the whole is read, and costs nobody anything. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, LB, kinds } from "../../test/support/commit-rig.ts";
import { error, json } from "../../test/support/memory-arm.ts";
import { wish, type SharedList } from "../../test/support/shared-list.ts";
import type { ArmBody, Committed } from "./commit-types.ts";
import { field } from "./error-body.ts";
import type { ArmRequest, ArmResponse } from "./transport.ts";

const POOL = `${LB}/backendAddressPools/pool`;

/** A load balancer with a pool, whose writes take a second; `trouble` answers in Azure's place. */
async function rig(trouble: (step: string) => ArmResponse | undefined = () => undefined) {
  const { clock, arm, attempts, commit, known, submit, run } = commitRig({ operationMs: 1_000 });
  await run(submit(wish("a", 1)));
  const list = arm.read(LB) as unknown as SharedList;
  arm.write(LB, { ...list, properties: { ...list.properties, backendAddressPools: [{ name: "pool" }] } });
  known.clear();
  const steps: string[] = [];
  const answered = (request: ArmRequest, whole: SharedList): ArmResponse => {
    const isSame = request.headers["if-match"] === whole.etag;
    if (request.method === "GET") return json(200, { id: POOL, name: "pool", etag: whole.etag, properties: {} });
    if (!isSame) return error(412, "PreconditionFailed");
    const backendAddressPools = [{ name: "pool", ...(JSON.parse(request.body ?? "") as object) }];
    arm.write(LB, { ...whole, properties: { ...whole.properties, backendAddressPools } });
    return json(200, { properties: { provisioningState: "Succeeded" } });
  };
  arm.interpose = (request) => {
    const path = new URL(request.url).pathname;
    if (path.startsWith("/operations/")) return undefined;
    const step = `${request.method} ${path === POOL ? "pool" : "whole"}`;
    steps.push(step);
    return trouble(step) ?? (path === POOL ? answered(request, arm.read(LB) as unknown as SharedList) : undefined);
  };
  const drain = (): Promise<Committed<ArmBody>> =>
    commit.submit({
      id: POOL,
      kind: "adminState",
      owner: "cluster",
      fragment: undefined,
      merge: (seen: ArmBody | undefined) =>
        isDown(seen)
          ? { outcome: { kind: "unchanged" }, refused: [], warnings: [] }
          : { outcome: { kind: "put", body: { properties: { down: true } } }, refused: [], warnings: [] },
      priority: "drain",
    });
  const pools = (): unknown => field(arm.read(LB)?.["properties"], "backendAddressPools");
  const inFlight = (): Promise<number> => clock.advanceUntil(() => steps.includes("PUT whole"));
  return { clock, attempts, submit, run, steps, drain, pools, inFlight };
}

function isDown(pool: ArmBody | undefined): boolean {
  return JSON.stringify(pool)?.includes('"down":true') ?? false;
}

test("it leaves when the write is over, after a look at its part alone; the whole is read once, for both", async () => {
  const { submit, run, steps, drain, pools, inFlight } = await rig();
  const service = submit(wish("a", 2));
  await inFlight();
  const drained = drain();
  assert.deepEqual(kinds(await run(Promise.all([service, drained]))), ["written", "written"]);
  assert.deepEqual(steps.slice(steps.lastIndexOf("PUT whole")), ["PUT whole", "GET pool", "PUT pool", "GET whole"]);
  const [first, second] = await Promise.all([service, drained]);
  assert.ok(first.kind === "written" && second.kind === "written");
  assert.deepEqual(first.body, second.body, "both see what is there in the end");
  assert.ok(isDown(second.body));
  assert.ok(JSON.stringify(pools()).includes('"down":true'));
});

test("where somebody was faster it has its turn as ever", async () => {
  let conflicts = 0;
  const conflict = (step: string) => {
    return step === "PUT pool" && ++conflicts === 1 ? error(412, "PreconditionFailed") : undefined;
  };
  const { submit, run, drain, pools, inFlight } = await rig(conflict);
  const service = submit(wish("a", 2));
  await inFlight();
  assert.deepEqual(kinds(await run(Promise.all([service, drain()]))), ["written", "written"]);
  assert.ok(JSON.stringify(pools()).includes('"down":true'));
  assert.equal(conflicts, 2);
});

test("where its part cannot be read it has its turn as ever", async () => {
  const denied = (step: string) => (step === "GET pool" ? error(403, "AuthorizationFailed") : undefined);
  const { attempts, submit, run, drain, pools, inFlight } = await rig(denied);
  const service = submit(wish("a", 2));
  await inFlight();
  assert.deepEqual(kinds(await run(Promise.all([service, drain()]))), ["written", "written"]);
  assert.ok(JSON.stringify(pools()).includes('"down":true'));
  assert.deepEqual(
    attempts.flatMap(({ failure }) => failure ?? []),
    [],
    "nothing failed that was tried",
  );
});

test("where the whole cannot be read afterwards it is found done", async () => {
  let isLost = false;
  const lost = (step: string) => (step === "GET whole" && isLost ? error(403, "AuthorizationFailed") : undefined);
  const { clock, submit, run, steps, drain, pools, inFlight } = await rig(lost);
  const service = submit(wish("a", 2));
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
  assert.ok(JSON.stringify(pools()).includes('"down":true'));
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
  void submit(wish("a", 2));
  await inFlight();
  const startMs = clock.monotonicMs();
  assert.equal((await run(drain())).kind, "written");
  assert.ok(clock.monotonicMs() - startMs < 60_000);
});
