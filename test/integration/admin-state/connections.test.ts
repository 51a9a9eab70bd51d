/** Real clients and the eviction of a Spot node: with the agent no client notices, without it many do. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { errorsOf } from "../../../bench/scenarios/drain-connections.ts";
import { drawDrainTimelines } from "../../../bench/drain/timeline-chart.ts";
import { recordEviction, type DrainTimeline } from "../../../bench/drain/drain-timeline.ts";

describe("clients of a Service, one of whose nodes is evicted after eight seconds of notice,", () => {
  let on: DrainTimeline;
  let off: DrainTimeline;

  before(async () => {
    [on, off] = await Promise.all([
      recordEviction({ withAgent: true, noticeSeconds: 8 }),
      recordEviction({ withAgent: false, noticeSeconds: 8 }),
    ]);
  });

  test("see no error with the agent: the node gets no new connection from the moment that Azure has applied Down", () => {
    assert.ok(on.downMs !== undefined && on.downMs < on.diedMs, `Down ${on.downMs} ms, death ${on.diedMs} ms`);
    assert.equal(on.openedAfterDown, 0);
    assert.deepEqual(errorsOf(on), []);
    const { doomed, downMs } = on;
    assert.ok(
      on.attempts.some(({ node, atMs }) => node === doomed && atMs < 0),
      "it had its share before",
    );
    assert.ok(
      on.attempts.some(({ node, atMs }) => node !== doomed && atMs > downMs),
      "the others take it over",
    );
  });

  test("keep the connections that they hold, also to the doomed node, until it dies", () => {
    for (const { node, answeredMs, broke } of on.held) {
      assert.equal(broke, false, `a connection to ${node} broke`);
      assert.ok(answeredMs > (on.downMs ?? 0), `${node} answered last ${answeredMs} ms after the announcement`);
    }
    assert.equal(on.held.filter(({ node }) => node === on.doomed).length, 2);
  });

  test("see errors without it, from its death until the probes have noticed", () => {
    assert.equal(off.downMs, undefined);
    const errors = errorsOf(off);
    assert.ok(errors.length > 0);
    for (const { atMs, brokeMs = 0 } of errors) {
      assert.ok(brokeMs >= off.aliveMs, `an error ${brokeMs} ms after the announcement, alive until ${off.aliveMs} ms`);
      assert.ok(atMs <= off.noticedMs, `begun ${atMs} ms after it, noticed ${off.noticedMs} ms after it`);
    }
    assert.ok(off.attempts.some(({ node, atMs }) => node === off.doomed && atMs > (on.downMs ?? 0)));
  });

  test("had to bear it longer without: the times as a ratio", (context) => {
    const ratio = off.noticedMs / (on.downMs ?? Number.NaN);
    context.diagnostic(
      `announcement to cutover: ${on.downMs} ms with, ${off.noticedMs} ms without: ${ratio.toFixed(1)} times`,
    );
    assert.ok(ratio > 1);
  });

  test("are drawn in one picture", () => {
    const picture = drawDrainTimelines([on, off]);
    assert.match(picture, /^<svg /);
    for (const words of ["with the agent: no errors", "without: ", "Down in effect", "machine goes"])
      assert.ok(picture.includes(words), words);
  });
});
