/** Work that does not look at signals itself. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { unlessAborted } from "./unless-aborted.ts";

test("it ends with the signal, if that is first", async () => {
  const abort = new AbortController();
  const never = unlessAborted(() => new Promise(() => {}), abort.signal);
  assert.equal(await unlessAborted(() => Promise.resolve(1), abort.signal), 1);
  abort.abort(new Error("enough"));
  await assert.rejects(never, /enough/);
});

test("it is not begun where the signal was first: nobody would hear it fail", async () => {
  let isBegun = false;
  const work = (): Promise<void> => {
    isBegun = true;
    return Promise.reject(new Error("unheard"));
  };
  await assert.rejects(unlessAborted(work, AbortSignal.abort(new Error("enough"))), /enough/);
  assert.equal(isBegun, false);
});
