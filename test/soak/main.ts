/** `npm run soak -- --minutes 20`: exit code 1 where a bar does not hold, 2 for bad input. */
import { parseArgs } from "node:util";

import { soak, type SoakReport } from "./soak.ts";

const MOST_GROWTH_MIB = 32;
const LONGEST_ANSWER_MS = 1_000;
const HIT_PERCENT = { least: 5, most: 20 };

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    services: { type: "string", default: "30" },
    verbose: { type: "boolean" },
  },
});
const [minutes, services] = [Number(values.minutes), Number(values.services)];
if (!(minutes > 0 && minutes <= 60) || !Number.isInteger(services) || services < 1) {
  process.stderr.write("--minutes is above 0 and at most 60; --services a whole number from 1\n");
  process.exit(2);
}
const onProgress = (line: string): void => void (values.verbose === true && process.stderr.write(`${line}\n`));
const report = await soak({ minutes, services, random: Math.random, onProgress });
const problems = [...report.problems, ...missedBars(report)];
process.stdout.write(`${JSON.stringify({ ...report, problems })}\n`);
if (problems.length > 0) process.exitCode = 1;

/** These are about this machine too. Memory is warm after the first quarter. */
function missedBars({ rssMiB, healthAnswerMs, azure, kubernetes }: SoakReport): string[] {
  const [, warm = 0, , last = 0] = rssMiB.quarters;
  const isOutside = (percent: number): boolean => percent < HIT_PERCENT.least || percent > HIT_PERCENT.most;
  return [
    ...(last > warm + MOST_GROWTH_MIB ? [`memory grew from ${warm} to ${last} MiB`] : []),
    ...(healthAnswerMs.most > LONGEST_ANSWER_MS ? [`its health was answered after ${healthAnswerMs.most} ms`] : []),
    ...[azure, kubernetes]
      .filter(({ hitPercent }) => isOutside(hitPercent))
      .map(({ hitPercent }) => `${hitPercent} % of the requests of a side were hit`),
  ];
}
