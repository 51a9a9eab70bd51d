import assert from "node:assert/strict";
import { test } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { ArmError, transient } from "../arm/failures.ts";
import { ProbeResults } from "./probe-results.ts";

type Client = ConstructorParameters<typeof ProbeResults>[0];

function rig(answer: (path: string) => Promise<unknown> = (path) => Promise.resolve(path)) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const gate = { waiting: 0, closedForMs: 0, tokens: 1, size: 1 };
  const client = {
    query: (path: string) => {
      asked.push(path);
      return answer(path);
    },
    budgetOf: () => ({ shown: () => gate }),
  } as unknown as Client;
  return { clock, asked, gate, results: new ProbeResults(client, clock) };
}

test("those who ask at once share a question, and its answer for a while", async () => {
  const { clock, asked, results } = rig();
  await Promise.all([results.of("/rule"), results.of("/rule")]);
  await clock.advance(10_000);
  assert.equal(await results.of("/rule"), "/rule/health");
  assert.deepEqual(asked, ["/rule/health"]);
  await clock.advance(10_000);
  await results.of("/rule");
  assert.equal(asked.length, 2);
});

test("there are so many questions in a minute, and others again in the next", async () => {
  const { clock, asked, results } = rig();
  for (let at = 0; at < 100; at++) await results.of(`/rule-${at}`);
  assert.equal(asked.length, 60);
  assert.match(String(await results.of("/rule-99")), /look again soon/);
  await clock.advance(61_000);
  assert.equal(await results.of("/rule-99"), "/rule-99/health");
});

test("nothing is asked while calls wait for Azure; what fails is told, and what does not answer is not waited for", async () => {
  const { asked, gate, results } = rig();
  gate.closedForMs = 30_000;
  assert.match(String(await results.of("/rule")), /not asked while calls to Azure wait/);
  assert.deepEqual(asked, []);
  const failing = rig(() => Promise.reject(new ArmError(transient("no", false), "query")));
  assert.ok((await failing.results.of("/rule")) instanceof Error);
  const silent = rig(
    () => new Promise((_, reject) => silent.clock.setTimer(5_001, () => reject(new Error("aborted")))),
  );
  const answer = silent.results.of("/rule");
  await silent.clock.advance(6_000);
  assert.match(String(await answer), /within 5 s/);
});
