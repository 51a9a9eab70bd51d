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
