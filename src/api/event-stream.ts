/**
 * A stream of server-sent events: the view once, then again after each change, and a comment now and then so that a
 * connection that died is noticed. A reader that is too slow misses changes, and never more than that: the next event has
 * the newest view. A stream ends when its caller must be asked again for the right to it; clients open another.
 */
import type { ServerResponse } from "node:http";

import type { LiveView } from "./api-source.ts";

export interface StreamOptions {
  readonly live: LiveView;
  readonly response: ServerResponse;
  /** The newest view, as JSON. */
  readonly view: () => unknown;
  /** Absent: until the reader leaves. */
  readonly lastsMs?: number | undefined;
}

const BEAT_MS = 15_000;

/** Resolves when it is over. */
export function stream({ live, response, view, lastsMs }: StreamOptions): Promise<void> {
  const { clock } = live.source;
  let last = "";
  const send = (): void => {
    if (response.writableNeedDrain) return;
    const data = JSON.stringify(view());
    if (data === last) return;
    last = data;
    response.write(`event: view\nid: ${live.revision}\ndata: ${data}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  response.write("retry: 1000\n\n");
  send();
  return new Promise((resolve) => {
    const unlisten = live.listen(send);
    response.on("drain", send);
    let beat = clock.setTimer(BEAT_MS, function again() {
      response.write(": still here\n\n");
      send();
      beat = clock.setTimer(BEAT_MS, again);
    });
    const end =
      lastsMs === undefined ? undefined : clock.setTimer(lastsMs, () => response.end("event: again\ndata: {}\n\n"));
    response.on("close", () => {
      unlisten();
      beat.cancel();
      end?.cancel();
      resolve();
    });
  });
}
