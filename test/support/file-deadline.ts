/**
 * Loaded before a test file (`--import`) by `run-files.ts`, so that one that hangs is named and ends: the process ends with
 * an error when the file takes longer than AZLB_FILE_DEADLINE_MS, or when something keeps it alive after its last test. The
 * error lists what is open, as Node names it. A process whose event loop is blocked is ended by the runner instead.
 */
import { relative } from "node:path";
import { after } from "node:test";

/** For what ends by itself after the last test: connections that are kept open, timers of controllers that were killed. */
const LEFT_OPEN_MS = 60_000;

const deadlineMs = Number(process.env["AZLB_FILE_DEADLINE_MS"]);
delete process.env["AZLB_FILE_DEADLINE_MS"]; // for this process, not for those that it starts
if (deadlineMs > 0) {
  endAfter(deadlineMs, `is not done after ${deadlineMs / 1000} s`);
  after(() => endAfter(LEFT_OPEN_MS, `still runs ${LEFT_OPEN_MS / 1000} s after its last test`));
}

function endAfter(ms: number, what: string): void {
  const end = (): void => {
    const file = relative(process.cwd(), process.argv[1] ?? "");
    process.stderr.write(`${file} ${what}; open: ${openResources()}\n`);
    process.exit(1);
  };
  setTimeout(end, ms).unref();
}

function openResources(): string {
  const byKind = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return [...byKind].map(([kind, { length }]) => `${length} ${kind}`).join(", ");
}
