/**
 * Runs the control loops: right after a change, when a delayed task is due, and again after a change of theirs could not
 * be written to the disk.
 */
import { JournalWriteError } from "../../shared/journal.ts";
import { ControlLoops } from "../model/controllers/control-loops.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";

const RETRY_AFTER_MS = 1_000;

export interface LoopDriver {
  stop(): void;
}

export function driveLoops(
  api: EmbeddedApi,
  options: { readonly controllers: boolean; readonly simulate: boolean; log(line: string): void },
  nowMs: () => number,
): LoopDriver {
  let timer: NodeJS.Timeout | undefined;
  let wakesAtMs = Number.POSITIVE_INFINITY;
  let stopped = false;
  // Never postpones a wake-up: a stream of changes must not delay the loops.
  const wake = (atMs: number): void => {
    if (stopped || atMs >= wakesAtMs) return;
    clearTimeout(timer);
    wakesAtMs = atMs;
    timer = setTimeout(run, Math.max(0, atMs - nowMs())).unref();
  };
  const run = (): void => {
    const nextAtMs = settle();
    wakesAtMs = Number.POSITIVE_INFINITY;
    wake(nextAtMs);
  };
  /** Returns when to run again. */
  const settle = (): number => {
    try {
      loops.settle();
      return loops.nextAtMs ?? Number.POSITIVE_INFINITY;
    } catch (error) {
      if (!(error instanceof JournalWriteError)) throw error;
      options.log(`kube: ${error.message}; the control loops try again`);
      return nowMs() + RETRY_AFTER_MS;
    }
  };
  const loops = new ControlLoops(api, { ...options, changed: () => wake(0) });
  run();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      loops.close();
    },
  };
}
