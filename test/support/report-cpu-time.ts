/**
 * Loaded before a test file (`--import`) by `run-files.ts` for `--times`: when the process ends it adds a line to the file
 * that AZLB_CPU_TIMES names, with the processor time of this process and of those that it started and saw end.
 */
import { appendFileSync, readFileSync } from "node:fs";

export interface CpuTime {
  readonly file: string;
  readonly ownSeconds: number;
  readonly childrenSeconds: number;
}

const TICKS_PER_SECOND = 100;

const report = process.env["AZLB_CPU_TIMES"];
const file = process.argv[1];
if (report !== undefined && file !== undefined) {
  delete process.env["AZLB_CPU_TIMES"]; // what this process starts is counted with it
  process.on("exit", () => appendFileSync(report, `${JSON.stringify({ file, ...cpuTime() } satisfies CpuTime)}\n`));
}

function cpuTime(): Omit<CpuTime, "file"> {
  const { user, system } = process.cpuUsage();
  return { ownSeconds: (user + system) / 1e6, childrenSeconds: childrenSeconds() };
}

/** Node does not tell; Linux does, in fields 16 and 17 of proc(5)'s stat. */
function childrenSeconds(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
