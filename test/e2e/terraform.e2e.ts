/**
 * `examples/terraform` with OpenTofu and the azurerm provider against the emulator: applied, an empty plan, changed, an empty
 * plan. `tofu destroy` is not part of it yet. Runs where `npm run build-tofu` has filled the cache, and says so where it has not: a build takes too
 * long for a suite.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";

import { startAzure } from "../../sandbox/azure/index.ts";
import { tofuPrograms } from "../support/tofu.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/terraform");
const STEP_WITHIN_MS = 600_000;
/** `tofu plan -detailed-exitcode` with nothing to do; 2 is a plan with changes. */
const EMPTY_PLAN = 0;
/** Writes that overlap on a load balancer supersede each other, as in Azure; the provider does not try again. */
const ONE_BY_ONE = "-parallelism=1";
const CHANGED = ["-var", "idle_timeout=15", "-var", 'web_ports=["80","443"]'];

const programs = tofuPrograms();
const skip = programs === undefined ? "no OpenTofu in the cache: `npm run build-tofu` builds it" : false;

suite("Terraform", { skip }, () => {
  let azure: Awaited<ReturnType<typeof startAzure>>;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "azlb-terraform-"));
    // a tenth of Azure's times: below that operations have no Retry-After, and the provider polls every ten seconds
    azure = await startAzure({ latency: 0.1 });
    cpSync(EXAMPLE, folder, { recursive: true });
    writeFileSync(join(folder, "ca.crt"), azure.caPem);
    const overrides = `dev_overrides { "hashicorp/azurerm" = ${JSON.stringify(programs)} }`;
    writeFileSync(join(folder, "tofu.rc"), `provider_installation {\n  ${overrides}\n}\n`);
  });
  after(async () => {
    await azure.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const tofu = (...args: readonly string[]): Promise<{ code: unknown; text: string }> => {
    const { account, armEndpoint } = azure;
    const env = {
      ...process.env,
      TF_CLI_CONFIG_FILE: join(folder, "tofu.rc"),
      SSL_CERT_FILE: join(folder, "ca.crt"),
      ARM_METADATA_HOSTNAME: new URL(armEndpoint).host,
      TF_INPUT: "0",
      ARM_USE_CLI: "false",
      ARM_TENANT_ID: account.tenantId,
      ARM_SUBSCRIPTION_ID: account.subscriptionId,
      ARM_CLIENT_ID: account.clientId,
      ARM_CLIENT_SECRET: account.clientSecret,
    };
    const options = { cwd: folder, env, timeout: STEP_WITHIN_MS, maxBuffer: 64 << 20 };
    return new Promise((done) => {
      execFile(join(programs ?? "", "tofu"), [...args, "-no-color"], options, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : error.code, text: `${stdout}\n${stderr}` }),
      );
    });
  };
  const apply = async (...variables: readonly string[]): Promise<void> => {
    const applied = await tofu("apply", "-auto-approve", ONE_BY_ONE, ...variables);
    assert.equal(applied.code, 0, applied.text);
    const planned = await tofu("plan", "-detailed-exitcode", ...variables);
    assert.equal(planned.code, EMPTY_PLAN, planned.text);
  };

  test("applies the example, and plans nothing after it", () => apply());

  test("changes a rule and a security rule in place, and plans nothing after it", async () => {
    await apply(...CHANGED);
    const state = await tofu("show");
    assert.match(state.text, /idle_timeout_in_minutes += 15/);
    assert.match(state.text, /"443"/);
  });
});
