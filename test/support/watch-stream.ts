/** A watch's events in order, to be awaited one by one; every wait has a deadline, so that no test hangs. */
import type { Dispatcher } from "undici";

import type { KubeObject } from "./kube-connection.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject;
}

export interface WatchStream {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The next event. Throws when the stream ends or stays silent instead. */
  next(withinMs?: number): Promise<WatchEvent>;
  /** Every event up to and including the first that holds. */
  until(holds: (event: WatchEvent) => boolean, withinMs?: number): Promise<WatchEvent[]>;
  /** Every event up to the server's clean end. */
  rest(withinMs?: number): Promise<WatchEvent[]>;
  close(): void;
}

const PATIENCE_MS = 60_000;

export function watchStream(response: Dispatcher.ResponseData): WatchStream {
  const lines = linesOf(response.body);
  const nextOrEnd = async (withinMs: number): Promise<WatchEvent | undefined> => {
    const line = await within(withinMs, lines.next());
    return line.done ? undefined : (JSON.parse(line.value) as WatchEvent);
  };
  const next = async (withinMs = PATIENCE_MS): Promise<WatchEvent> => {
    const event = await nextOrEnd(withinMs);
    if (event === undefined) throw new Error("the watch ended where an event was due");
    return event;
  };
  return {
    code: response.statusCode,
    headers: response.headers,
    next,
    until: async (holds, withinMs = PATIENCE_MS) => {
      const seen = [await next(withinMs)];
      while (!holds(seen.at(-1) as WatchEvent)) seen.push(await next(withinMs));
      return seen;
    },
    rest: async (withinMs = PATIENCE_MS) => {
      const seen: WatchEvent[] = [];
      for (let event = await nextOrEnd(withinMs); event; event = await nextOrEnd(withinMs)) seen.push(event);
      return seen;
    },
    close: () => {
      response.body.on("error", () => undefined); // the abort itself
      response.body.destroy();
    },
  };
}

async function* linesOf(body: Dispatcher.ResponseData["body"]): AsyncGenerator<string> {
  let pending = "";
  for await (const text of body.setEncoding("utf8")) {
    pending += String(text);
    const lines = pending.split("\n");
    pending = lines.pop() ?? "";
    yield* lines;
  }
  if (pending !== "") yield pending;
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
