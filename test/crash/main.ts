/**
 * `npm run crash-matrix`: kills the controller just before and just after each of its writes, in every scenario, and
 * says whether it came to the same end. With `--results FILE` each scenario's result is kept there, and those that are
 * there already are not run again. Exit code 1 where one did not survive, 2 for bad input.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { crashScenario, renderMatrix, type ScenarioResult } from "./crash-matrix.ts";
import { SCENARIOS } from "./scenarios/all.ts";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", multiple: true, default: [""] },
    jobs: { type: "string", default: "2" },
    results: { type: "string" },
    json: { type: "boolean" },
  },
});
const chosen = SCENARIOS.filter(({ name }) => values.scenario.some((part) => name.includes(part)));
const jobs = Number(values.jobs);
if (chosen.length === 0 || !Number.isInteger(jobs) || jobs < 1) {
  const names = SCENARIOS.map(({ name }) => `"${name}"`).join(", ");
  process.stderr.write(`--scenario is (a part of) one of ${names}; --jobs a number from 1\n`);
  process.exit(2);
}

const startedMs = performance.now();
const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
const known = knownResults();
const queue = [...chosen];
const found = new Map<string, ScenarioResult>();
await Promise.all(Array.from({ length: jobs }, work));
const scenarios = chosen.flatMap(({ name }) => found.get(name) ?? []);
const seconds = Math.round((performance.now() - startedMs) / 1000);
const failures = scenarios.flatMap((result) => result.failures.map((failure) => ({ ...failure, in: result.scenario })));
process.stdout.write(values.json === true ? `${JSON.stringify({ scenarios, seconds })}\n` : renderMatrix(scenarios));
for (const { in: scenario, point, why } of failures) process.stderr.write(`\n${scenario}, ${point}:\n${why}\n`);
if (failures.length > 0) process.exitCode = 1;

/** One scenario after the other, as long as there are some. */
async function work(): Promise<void> {
  for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
    const { name } = scenario;
    const before = known.find((result) => result.scenario === name);
    const result = before ?? (await crashScenario(scenario, { jobs: 1, onProgress }));
    if (before === undefined && values.results !== undefined) {
      appendFileSync(values.results, `${JSON.stringify(result)}\n`);
    }
    found.set(name, result);
  }
}

function knownResults(): readonly ScenarioResult[] {
  if (values.results === undefined || !existsSync(values.results)) return [];
  const lines = readFileSync(values.results, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as ScenarioResult);
}
