/** Which body a batch is merged into, for each thing that may be known of the resource. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LB } from "../../../test/support/commit-rig.ts";
import { LIST, wanted, type SharedList } from "../../../test/support/shared-list.ts";
import { answersOf } from "../../core/outcome.ts";
import { baseFromLastSeen, baseFromRead, NO_PRIOR_ATTEMPT, type PriorAttempt } from "./choose-base.ts";
import type { ArmBody } from "./commit-types.ts";
import { type Ticket, WriteKind } from "./write-kind.ts";

const REREAD: PriorAttempt = { mustReread: true, rollback: undefined };

function list(etag: string, owners: readonly string[], provisioningState = "Succeeded"): SharedList {
  return { etag, properties: { provisioningState, parts: owners.flatMap((owner) => wanted(owner, 1).parts) } };
}

function batch(owner: string, values: readonly number[] = [1], readFirst = false): Ticket[] {
  const fragment = wanted(owner, ...values);
  return [LIST.open({ id: LB, kind: LIST, fragment, dedupKey: owner, priority: "create", readFirst }, 0)[0]];
}

/** A write of a pool that is to be down. */
function partBatch(): Ticket[] {
  const kind = new WriteKind("down", (seen: ArmBody | undefined, fragments: readonly undefined[]) => ({
    outcome: { kind: "put", body: { ...seen, properties: { down: true } } },
    answers: answersOf(fragments),
  }));
  const id = `${LB}/backendAddressPools/pool`;
  return [kind.open({ id, kind, fragment: undefined, priority: "drain" }, 0)[0]];
}

test("what was last seen is the base where the news is good", () => {
  const last = list("1", ["b"]);
  const base = baseFromLastSeen(batch("a"), last, NO_PRIOR_ATTEMPT);
  assert.deepEqual([base?.write, base?.whole], ["outcome", last]);
  assert.equal(baseFromLastSeen(batch("a"), null, NO_PRIOR_ATTEMPT)?.whole, null, "known to be absent");
});

const READS: readonly (readonly [string, Ticket[], ArmBody | null | undefined, PriorAttempt])[] = [
  ["nothing is known", batch("a"), undefined, NO_PRIOR_ATTEMPT],
  ["an operation was running", batch("a"), list("1", [], "Updating"), NO_PRIOR_ATTEMPT],
  ["the write asks for it", batch("a", [1], true), list("1", []), NO_PRIOR_ATTEMPT],
  ["an attempt has ended in doubt", batch("a"), list("1", []), REREAD],
  ["the fragment would be refused", batch("a", [-1]), list("1", []), NO_PRIOR_ATTEMPT],
  ["the resource would be deleted", batch("a", []), list("1", ["a"]), NO_PRIOR_ATTEMPT],
];
for (const [why, tickets, last, prior] of READS) {
  test(`Azure is read first where ${why}`, () => assert.equal(baseFromLastSeen(tickets, last, prior), undefined));
}

test("a read that agrees with what is wanted is overruled by a last sighting that does not", () => {
  const [read, last] = [list("1", ["a"]), list("2", ["b"])];
  assert.equal(baseFromRead(batch("a"), read, last, NO_PRIOR_ATTEMPT).whole, last);
  assert.equal(baseFromRead(batch("a"), read, last, REREAD).whole, read, "what was seen before counts no more");
  assert.equal(baseFromRead(batch("a"), read, list("2", ["a"]), NO_PRIOR_ATTEMPT).whole, read);
});

test("what our own failed write left is taken back; what another client has written since is not", () => {
  const [before, accepted] = [list("1", ["b"]), list("2", ["a", "b"])];
  const prior = { mustReread: true, rollback: { before, accepted } };
  const base = baseFromRead(batch("b"), list("3", ["a", "b"], "Failed"), undefined, prior);
  assert.deepEqual([base.write, base.whole], ["whole", { ...before, etag: "3" }]);
  const edited = list("4", ["a", "b", "c"], "Failed");
  assert.equal(baseFromRead(batch("b"), edited, undefined, prior).whole, edited);
});

test("a failed resource that looks right is written once more, but only after an attempt of ours", () => {
  const broken = list("1", ["a"], "Failed");
  assert.equal(baseFromRead(batch("a"), broken, undefined, REREAD).write, "whole");
  assert.equal(baseFromRead(batch("a"), broken, undefined, NO_PRIOR_ATTEMPT).write, "outcome");
});

test("before a part of a failed whole, the whole is written", () => {
  const pools = { backendAddressPools: [{ name: "pool" }] };
  const broken = { etag: "1", properties: { ...pools, provisioningState: "Failed" } };
  assert.deepEqual(baseFromRead(partBatch(), broken, undefined, NO_PRIOR_ATTEMPT), {
    write: "wholeFirst",
    whole: broken,
  });
  const sound = { etag: "1", properties: pools };
  assert.equal(baseFromRead(partBatch(), sound, undefined, NO_PRIOR_ATTEMPT).write, "outcome");
});
