/**
 * What clients see of the eviction of a node, with the agent and without, at the same time (`bench/drain/drain-timeline.ts`). The
 * thresholds are on order and counts; times are reported as a ratio, because they depend on the machine.
 */
import { writeFileSync } from "node:fs";

import { atLeast, atMost, type BenchReport } from "../report.ts";
import { drawDrainTimelines } from "../drain/timeline-chart.ts";
import { recordEviction, type DrainTimeline } from "../drain/drain-timeline.ts";

export interface DrainConnectionsOptions {
  /** File for a chart of both timelines. */
  readonly picture: string | undefined;
  /** Of the eviction. */
  readonly noticeSeconds: number;
}

export async function benchDrainConnections(options: DrainConnectionsOptions): Promise<BenchReport> {
  const { picture, noticeSeconds } = options;
  const [on, off] = await Promise.all([true, false].map((withAgent) => recordEviction({ withAgent, noticeSeconds })));
  if (on === undefined || off === undefined) throw new Error("nothing was recorded");
  if (picture !== undefined) writeFileSync(picture, drawDrainTimelines([on, off]));
  const downMs = on.downMs ?? Number.POSITIVE_INFINITY;
  return {
    scenario: "drain-connections",
    figures: {
      "with: announcement → Down in effect, ms": downMs,
      "with: new connections": on.attempts.length,
      "without: announcement → probes have noticed, ms": off.noticedMs,
      "without: new connections": off.attempts.length,
      "without: errors": errorsOf(off).length,
      "without: time with errors, ms": errorsOf(off).length === 0 ? 0 : off.noticedMs - off.diedMs,
    },
    bars: {
      "with: errors": atMost(errorsOf(on).length, 0),
      "with: new connections to the doomed node after Down": atMost(on.openedAfterDown, 0),
      "with: time left when Down took effect, ms": atLeast(on.diedMs - downMs, 0),
      "with: held connections that broke": atMost(on.held.filter(({ broke }) => broke).length, 0),
      "times longer without": atLeast(off.noticedMs / downMs, 1),
    },
  };
}

export function errorsOf({ attempts }: DrainTimeline): DrainTimeline["attempts"] {
  return attempts.filter(({ node }) => node === undefined);
}
