/** Runs the control loops: right after a change, and when a delayed task is due. */
import { ControlLoops } from "../model/controllers/control-loops.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";

export interface LoopDriver {
  stop(): void;
}

export function driveLoops(
  api: EmbeddedApi,
  options: { readonly controllers: boolean; readonly simulate: boolean },
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
    loops.settle();
    wakesAtMs = Number.POSITIVE_INFINITY;
    wake(loops.nextAtMs ?? Number.POSITIVE_INFINITY);
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
