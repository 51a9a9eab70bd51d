import assert from "node:assert/strict";
import { test } from "node:test";

import { Command } from "commander";

import { badInputCodeOf } from "./exit-codes.ts";
import { registerPlan } from "./plan.ts";
import { registerUninstall } from "./uninstall.ts";

/** The code for bad input after these arguments, which are all refused. */
async function codeAfter(...args: readonly string[]): Promise<number | undefined> {
  const quiet = { writeOut: () => {}, writeErr: () => {} };
  const azlb = new Command("azlb").enablePositionalOptions().exitOverride().configureOutput(quiet);
  registerPlan(azlb);
  registerUninstall(azlb);
  for (const command of azlb.commands) command.exitOverride().configureOutput(quiet);
  await assert.rejects(azlb.parseAsync(["node", "azlb", ...args]));
  return badInputCodeOf(azlb);
}

test("bad input is told by 1 where --detailed-exitcode means changes by 2, wherever the flag stands", async () => {
  assert.equal(await codeAfter("plan", "--detailed-exitcode", "--bogus"), 1);
  assert.equal(await codeAfter("plan", "-o", "xml", "--detailed-exitcode"), 1);
});

test("bad input is told by the usual code without the flag, after --, and by commands that do not have it", async () => {
  assert.equal(await codeAfter("plan", "--bogus"), undefined);
  assert.equal(await codeAfter("plan", "-o", "xml", "--", "--detailed-exitcode"), undefined);
  assert.equal(await codeAfter("uninstall", "--detailed-exitcode"), undefined);
  assert.equal(await codeAfter("--detailed-exitcode"), undefined);
});
