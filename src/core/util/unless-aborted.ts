import type { CancelSignal } from "./clock.ts";

/**
 * What the work gives, unless the signal is aborted first: for work that does not look at signals itself, or that goes on
 * for others. Where that has happened it is not begun: nobody would hear it fail.
 */
export async function unlessAborted<Result>(work: () => Promise<Result>, signal?: CancelSignal): Promise<Result> {
  if (signal === undefined) return work();
  if (signal.aborted) throw signal.reason;
  let leave = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
