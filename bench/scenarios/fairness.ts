/**
 * What another namespace's storm costs a new Service: 25 Services that never settle, while Azure throttles. In virtual time,
 * so the figures are the same on every machine.
 */
import { measureFairness } from "../../sim/fairness/measure-fairness.ts";
import { STORMS } from "../../sim/fairness/storm.ts";
import { atMost, type BenchReport, type Threshold } from "../report.ts";

/** Times as long as without the storm. */
const MOST_RATIO = 3;
const SEED = 1;

export async function benchFairness(): Promise<BenchReport> {
  const figures: Record<string, number> = {};
  const bars: Record<string, Threshold> = {};
  for (const storm of STORMS) {
    const { aloneSeconds, meanRatio, slowestRatio } = await measureFairness(storm, SEED);
    figures["served without a storm, mean, s"] = aloneSeconds;
    figures[`storm of ${storm}: mean, times as long`] = meanRatio;
    bars[`storm of ${storm}: slowest, times as long`] = atMost(slowestRatio, MOST_RATIO);
  }
  return { scenario: "fairness", figures, bars };
}
