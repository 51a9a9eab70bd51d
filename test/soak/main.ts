/** `npm run soak -- --minutes 20`: exit code 1 where a bar does not hold, 2 for bad input. */
import { parseArgs } from "node:util";

import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
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
process.stdout.write(`${JSON.stringify(report)}\n`);
if (report.problems.length > 0) process.exitCode = 1;
