/**
 * A doomed node as clients see it, with admin state and without, at the same time: `bench/drain/drain-timeline.ts`. The bars are
 * about order and counts; the times are reported as a ratio, since a machine's speed is nobody's merit.
 */
import { writeFileSync } from "node:fs";

import { atLeast, atMost, type BenchReport } from "../report.ts";
import { drawDrainStories } from "../drain/timeline-chart.ts";
import { tellDrainStory, type DrainStory } from "../drain/drain-timeline.ts";

export interface DrainConnectionsOptions {
  /** Where to put the picture of both timelines. */
  readonly picture: string | undefined;
}

export async function benchDrainConnections({ picture }: DrainConnectionsOptions): Promise<BenchReport> {
  const [on, off] = await Promise.all([tellDrainStory(true), tellDrainStory(false)]);
  if (picture !== undefined) writeFileSync(picture, drawDrainStories([on, off]));
  const downMs = on.downMs ?? Number.POSITIVE_INFINITY;
  return {
    scenario: "drain-connections",
    figures: {
      "with: taint → Down in effect, ms": downMs,
      "with: new connections": on.visits.length,
      "without: taint → probes have noticed, ms": off.noticedMs,
      "without: new connections": off.visits.length,
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

export function errorsOf({ visits }: DrainStory): DrainStory["visits"] {
  return visits.filter(({ node }) => node === undefined);
}
