/** A watch that has ended sends nothing any more, however long its connection stays open. */
import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";

import type { OpenWatch } from "../model/contract.ts";
import { WatchHub } from "./watch-hub.ts";

test("no bookmark after the end of a stream that a slow client has not taken yet", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const hub = new WatchHub({ subscribe: () => () => {}, state: { revision: 1 }, nowMs: 0 });
  const bookmark = { type: "BOOKMARK", object: {} } as const;
  const watch = { collection: "services", first: [], ended: false, timeoutMs: 90_000, bookmark: () => bookmark };
  const response = new ServerResponse(new IncomingMessage(new Socket())); // never written out, so never closed
  const errors: Error[] = [];
  response.on("error", (error) => errors.push(error));
  hub.serve({ ...watch, accept: () => [] } as unknown as OpenWatch, response);
  const written = context.mock.method(response, "write");
  context.mock.timers.tick(90_000);
  assert.ok(response.writableEnded);
  const before = written.mock.callCount();
  context.mock.timers.tick(60_000);
  assert.deepEqual([written.mock.callCount(), errors], [before, []]);
});
