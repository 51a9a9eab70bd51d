import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { WriteStream } from "node:tty";

import { printText } from "./print.ts";

const PLAN = "x default/a  refused, no\n+ default/b  new\n\nrefused     InvalidAnnotation: a\nreturns     -\n";

/** As a terminal (or a pipe) with this environment gets it. */
async function printed(isTTY: boolean, env: Readonly<Record<string, string>>): Promise<string> {
  const pipe = new PassThrough();
  const getColorDepth = (): number => WriteStream.prototype.getColorDepth({ TERM: "xterm", ...env });
  printText(PLAN, Object.assign(pipe, { isTTY, getColorDepth }) as unknown as NodeJS.WriteStream);
  pipe.end();
  return text(pipe);
}

test("a terminal shows states in colour, and nothing else", async () => {
  const red = (state: string): string => `\u001b[31m${state}\u001b[39m`;
  assert.equal(
    await printed(true, {}),
    PLAN.replace(/^x/, red("x"))
      .replace(/^\+/m, "\u001b[32m+\u001b[39m")
      .replace(/^refused/m, red("refused")),
  );
});

test("a pipe, and a terminal with NO_COLOR, get plain text", async () => {
  assert.equal(await printed(false, {}), PLAN);
  assert.equal(await printed(true, { NO_COLOR: "1" }), PLAN);
});
