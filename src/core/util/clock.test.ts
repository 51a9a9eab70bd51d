import assert from "node:assert/strict";
import { test } from "node:test";

import { unlessAborted } from "./clock.ts";

test("unlessAborted rejects once the signal is aborted", async () => {
  const abort = new AbortController();
  const never = unlessAborted(() => new Promise(() => {}), abort.signal);
  assert.equal(await unlessAborted(() => Promise.resolve(1), abort.signal), 1);
  abort.abort(new Error("enough"));
  await assert.rejects(never, /enough/);
});

test("unlessAborted does not begin work under an aborted signal, since its failure would be unhandled", async () => {
  let isBegun = false;
  const work = (): Promise<void> => {
    isBegun = true;
    return Promise.reject(new Error("unhandled"));
  };
  await assert.rejects(unlessAborted(work, AbortSignal.abort(new Error("enough"))), /enough/);
  assert.equal(isBegun, false);
});
