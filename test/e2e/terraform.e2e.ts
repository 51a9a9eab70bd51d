/**
 * `examples/terraform` with OpenTofu and the azurerm provider against the emulator: applied, an empty plan, changed, an empty
 * plan, destroyed. Runs where `npm run build-tofu` has filled the cache, and says so where it has not: a build takes too
 * long for a suite.
 */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, suite, test } from "node:test";

import { type RunningAzure, startAzure } from "../../sandbox/azure/index.ts";
import { openTofuFolder, ONE_BY_ONE, type TofuFolder } from "../support/tofu-run.ts";
import { tofuPrograms } from "../support/tofu.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/terraform");
/** `tofu plan -detailed-exitcode` with nothing to do; 2 is a plan with changes. */
const EMPTY_PLAN = 0;
const CHANGED = ["-var", "idle_timeout=15", "-var", 'web_ports=["80","443"]', "-var", "instances=3"];

const programs = tofuPrograms();
const skip = programs === undefined ? "no OpenTofu in the cache: `npm run build-tofu` builds it" : false;

suite("Terraform", { skip }, () => {
  let azure: RunningAzure;
  let tofu: TofuFolder;
  before(async () => {
    // a tenth of Azure's times: below that operations have no Retry-After, and the provider polls every ten seconds
    azure = await startAzure({ latency: 0.1 });
    tofu = openTofuFolder(programs ?? "", azure);
    cpSync(EXAMPLE, tofu.folder, { recursive: true });
  });
  after(async () => {
    await azure.close();
    tofu.remove();
  });

  const apply = async (...variables: readonly string[]): Promise<void> => {
    const applied = await tofu.run("apply", "-auto-approve", ONE_BY_ONE, ...variables);
    assert.equal(applied.code, 0, applied.text);
    const planned = await tofu.run("plan", "-detailed-exitcode", ...variables);
    assert.equal(planned.code, EMPTY_PLAN, planned.text);
  };

  test("applies the example, and plans nothing after it", () => apply());

  test("changes a rule, a security rule and the scale set in place, and plans nothing after it", async () => {
    await apply(...CHANGED);
    const state = await tofu.run("show");
    assert.match(state.text, /idle_timeout_in_minutes += 15/);
    assert.match(state.text, /"443"/);
    assert.match(state.text, /instances += 3/);
  });

  test("destroys everything", async () => {
    const destroyed = await tofu.run("destroy", "-auto-approve", ONE_BY_ONE, ...CHANGED);
    assert.equal(destroyed.code, 0, destroyed.text);
    const state = await (await fetch(`${azure.controlUrl}/state`)).text();
    assert.doesNotMatch(state, /resourceGroups\/terraform/i);
  });
});
