/** A line on a terminal that says what a command waits for, written over itself; nothing where output is no terminal. */
export interface Progress {
  show(this: void, text: string): void;
  clear(this: void): void;
}

const ERASE_LINE = "\r\u001b[K";

export function terminalProgress(stream: Pick<NodeJS.WriteStream, "write" | "isTTY">): Progress {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  let isShown = false;
  return {
    show: (text) => {
      isShown = true;
      stream.write(`${ERASE_LINE}${text} …`);
    },
    clear: () => {
      if (isShown) stream.write(ERASE_LINE);
      isShown = false;
    },
  };
}

/** Says every second for how long the work has run, for work that tells nothing itself; returns what ends it. */
export function showElapsed(progress: Progress, what: string): () => void {
  const startedMs = performance.now();
  const show = (): void => progress.show(`${what}: ${Math.round((performance.now() - startedMs) / 1000)} s`);
  show();
  const timer = setInterval(show, 1_000);
  timer.unref();
  return () => {
    clearInterval(timer);
    progress.clear();
  };
}
