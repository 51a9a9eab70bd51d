/**
 * Replays every exchange that was recorded against the real Azure, with its state set up first, and compares the
 * answers. Prints a score. What differs must be explained in `replay/known-differences.ts`.
 */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { startAzure } from "../../../sandbox/azure/index.ts";
import { armHttp, type ArmHttp, type WireAnswer } from "./arm-http.ts";
import { trust } from "./azure-under-test.ts";
import { comparison, type Unlike } from "./replay/compare.ts";
import { KNOWN_DIFFERENCES, type KnownDifference } from "./replay/known-differences.ts";
import { readRecordings, RECORDINGS, targetOf, type Exchange, type Recording } from "./replay/recordings.ts";
import { setUpFor, type Put } from "./replay/setups.ts";

const recordings = readRecordings();
const used = new Set<KnownDifference>();
let matched = 0;

if (recordings === undefined) {
  test("recorded exchanges", (context) => {
    context.diagnostic(`not here, nothing to replay: ${RECORDINGS}`);
  });
} else {
  for (const recording of recordings.values()) {
    test(`replay ${recording.name}`, (context) => replay(context, recording, recordings));
  }
  test("score", (context) => {
    const total = [...recordings.values()].reduce((sum, { exchanges }) => sum + exchanges.length, 0);
    context.diagnostic(`replayed exchanges that match: ${matched} of ${total}`);
    const idle = KNOWN_DIFFERENCES.filter((known) => !used.has(known));
    assert.deepEqual(idle, [], "known differences that no longer are");
  });
}

async function replay(context: TestContext, recording: Recording, all: ReadonlyMap<string, Recording>): Promise<void> {
  const azure = await startAzure({
    account: { subscriptionId: "00000000-0000-0000-0000-000000000000", resourceGroup: "unused" },
    topology: { nodes: 0 },
  });
  trust(azure.caPem);
  try {
    const arm = await armHttp(azure);
    for (const put of setUpFor(recording, all)) await setUp(arm, put);
    const comparing = comparison();
    const unexplained: Unlike[] = [];
    let last: WireAnswer | undefined;
    for (const exchange of recording.exchanges) {
      last = await send(arm, azure.armEndpoint, exchange, last);
      const found = comparing.compare(exchange, last);
      if (found.length === 0) matched += 1;
      unexplained.push(...found.filter((unlike) => !explained(context, recording, unlike)));
    }
    assert.equal(unexplained.length, 0, `differs from what was recorded:\n${unexplained.map(render).join("\n")}`);
  } finally {
    await azure.close();
  }
}

async function setUp(arm: ArmHttp, { path, body }: Put): Promise<void> {
  const version = /Microsoft\.Compute/i.test(path) ? "2025-04-01" : "2025-05-01";
  const answer = await arm.send("PUT", `${path}?api-version=${version}`, { body });
  assert.ok(answer.status === 200 || answer.status === 201, `setup ${path}: ${answer.status} ${answer.text}`);
}

/** A recorded poll names an operation of then; ours is the one that the last answer named. */
async function send(arm: ArmHttp, base: string, exchange: Exchange, last: WireAnswer | undefined): Promise<WireAnswer> {
  const { method, headers = {}, body } = exchange.request;
  const isPoll = /\/operation(s|results)\//i.test(exchange.request.url);
  const operation = last?.headers["azure-asyncoperation"] ?? last?.headers["location"];
  const target = isPoll && operation !== undefined ? operation.replace(base, "") : targetOf(exchange);
  const ifMatch = headers["if-match"];
  return arm.send(method, target, {
    ...(ifMatch === undefined ? {} : { headers: { "if-match": ifMatch } }),
    ...(body === undefined || body === null ? {} : { body }),
  });
}

function render({ where, recorded, ours }: Unlike): string {
  const brief = (value: unknown): string => (JSON.stringify(value) ?? "absent").slice(0, 200);
  return `  ${where}: recorded ${brief(recorded)}, ours ${brief(ours)}`;
}

function explained(context: TestContext, recording: Recording, unlike: Unlike): boolean {
  const known = KNOWN_DIFFERENCES.find(
    (candidate) => candidate.recording === recording.number && candidate.where.test(unlike.where),
  );
  if (known === undefined) return false;
  used.add(known);
  context.diagnostic(`${recording.name}, ${unlike.where}: ${known.why}`);
  return true;
}
