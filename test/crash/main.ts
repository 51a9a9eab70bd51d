/**
 * `npm run crash-matrix`: kills the controller just before and just after each of its writes, in every scenario, and
 * says whether it came to the same end. Exit code 1 where it did not, 2 for bad input.
 */
import { parseArgs } from "node:util";

import { crashScenario, renderMatrix, type ScenarioResult } from "./crash-matrix.ts";
import { SCENARIOS } from "./scenarios.ts";

const { values } = parseArgs({
  options: { scenario: { type: "string" }, jobs: { type: "string", default: "2" }, json: { type: "boolean" } },
});
const chosen = SCENARIOS.filter(({ name }) => values.scenario === undefined || name === values.scenario);
const jobs = Number(values.jobs);
if (chosen.length === 0 || !Number.isInteger(jobs) || jobs < 1) {
  const names = SCENARIOS.map(({ name }) => `"${name}"`).join(", ");
  process.stderr.write(`--scenario is one of ${names}; --jobs a number from 1\n`);
  process.exit(2);
}

const startedMs = performance.now();
const scenarios: ScenarioResult[] = [];
for (const scenario of chosen) {
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  scenarios.push(await crashScenario(scenario, { jobs, onProgress }));
}
const seconds = Math.round((performance.now() - startedMs) / 1000);
const failures = scenarios.flatMap((result) => result.failures.map((failure) => ({ ...failure, in: result.scenario })));
process.stdout.write(values.json === true ? `${JSON.stringify({ scenarios, seconds })}\n` : renderMatrix(scenarios));
for (const { in: scenario, point, why } of failures) process.stderr.write(`\n${scenario}, ${point}:\n${why}\n`);
if (failures.length > 0) process.exitCode = 1;
