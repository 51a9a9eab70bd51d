/**
 * `npm run walk`: how many files of `src` a reader opens who follows one Service, or one taint, and how often one that was
 * left is opened again: the figures of "The walk in figures" in docs/architecture.md. With `--order` the functions in the order
 * in which they first run, a return marked; with `--files` the returns by file.
 *
 * Two processes per walk: the first one finds which functions run (V8's coverage), the second one stops at the first run of each of
 * them and notes the call stack (V8's debugger, driven by `stop-at-functions.ts` from another thread).
 */
import { execFileSync } from "node:child_process";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { countReturns, type FirstRun } from "./count-returns.ts";
import { WALKS, type WalkName } from "./walks.ts";

/** A function of a file, from V8's coverage. */
export interface RanFunction {
  readonly url: string;
  readonly name: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

const HERE = fileURLToPath(import.meta.url);
const MOST_BYTES = 2 ** 28;
const ROOT = new URL("../../src/", import.meta.url).href;

async function ranFunctions(walk: WalkName): Promise<readonly RanFunction[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  let ran: readonly RanFunction[] = [];
  await WALKS[walk]({
    begin: async () => void (await session.post("Profiler.takePreciseCoverage")),
    end: async () => {
      const { result } = await session.post("Profiler.takePreciseCoverage");
      ran = result
        .filter(({ url }) => url.startsWith(ROOT))
        .flatMap(({ url, functions }) =>
          functions.map(({ functionName: name, ranges }) => ({ url, name, range: ranges[0]! })),
        )
        .filter(({ range }) => range.count > 0)
        .map(({ url, name, range: { startOffset, endOffset } }) => ({ url, name, startOffset, endOffset }));
    },
  });
  return ran;
}

async function firstRuns(walk: WalkName, functions: readonly RanFunction[]): Promise<readonly FirstRun[]> {
  const worker = new Worker(new URL("stop-at-functions.ts", import.meta.url));
  const answer = <T>(message: unknown): Promise<T> => {
    worker.postMessage(message, []);
    return new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  };
  let runs: readonly FirstRun[] = [];
  await WALKS[walk]({
    begin: async () => void (await answer({ stopAt: functions })),
    end: async () => {
      runs = await answer<readonly FirstRun[]>("end");
    },
  });
  await worker.terminate();
  return runs;
}

function inOwnProcess(step: "--coverage" | "--first-runs", walk: WalkName, input = ""): unknown {
  const output = execFileSync(process.execPath, [HERE, step, walk], {
    input,
    encoding: "utf8",
    maxBuffer: MOST_BYTES,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return JSON.parse(output);
}

async function standardInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += String(chunk);
  return text;
}

const [step, walk] = process.argv.slice(2) as [string | undefined, WalkName];
if (step === "--coverage") process.stdout.write(JSON.stringify(await ranFunctions(walk)));
else if (step === "--first-runs") {
  const functions = JSON.parse(await standardInput()) as readonly RanFunction[];
  process.stdout.write(JSON.stringify(await firstRuns(walk, functions)));
} else {
  for (const name of Object.keys(WALKS) as WalkName[]) {
    const functions = inOwnProcess("--coverage", name) as readonly RanFunction[];
    const runs = inOwnProcess("--first-runs", name, JSON.stringify(functions)) as readonly FirstRun[];
    const files = new Set(functions.map(({ url }) => url)).size;
    const { returns, lines, byFile } = countReturns(runs, ROOT);
    process.stdout.write(`${name}: ${files} files, ${functions.length} functions, ${returns} returns\n`);
    if (step === "--order") process.stdout.write(`${lines.join("\n")}\n`);
    if (step === "--files") process.stdout.write(`${byFile.map(([file, n]) => `${n}  ${file}`).join("\n")}\n`);
  }
}
