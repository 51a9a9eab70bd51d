/**
 * `npm run az-tour`: Azure's own command line against the emulator: registers it as a cloud, signs in, and runs `tour.ts`.
 * Needs `az` on PATH, or AZ with its path (`pip install azure-cli`); everything that `az` writes goes to a temporary folder.
 * Exits with 1 where a command fails or prints something else than it must.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { startAzure } from "../../sandbox/azure/index.ts";
import { tour } from "./tour.ts";

const AZ = process.env["AZ"] ?? "az";
const WITHIN_MS = 180_000;
const run = promisify(execFile);

/** Whether `seen` has everything that `wanted` names. */
function checkPart(seen: unknown, wanted: unknown, where = "output"): void {
  if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(seen), `${where} is no list: ${JSON.stringify(seen)}`);
    assert.equal(seen.length, wanted.length, `${where} has ${seen.length} items: ${JSON.stringify(seen)}`);
    wanted.forEach((item, at) => checkPart(seen[at], item, `${where}[${at}]`));
  } else if (typeof wanted === "object" && wanted !== null) {
    for (const [key, value] of Object.entries(wanted))
      checkPart((seen as Record<string, unknown> | null)?.[key], value, `${where}.${key}`);
  } else assert.equal(seen, wanted, where);
}

const dir = mkdtempSync(join(tmpdir(), "azlb-az-"));
const azure = await startAzure({});
try {
  writeFileSync(join(dir, "ca.crt"), azure.caPem);
  const env = {
    ...process.env,
    AZURE_CONFIG_DIR: join(dir, "config"),
    REQUESTS_CA_BUNDLE: join(dir, "ca.crt"),
    AZURE_CORE_INSTANCE_DISCOVERY: "false",
    AZURE_CORE_COLLECT_TELEMETRY: "false",
  };
  const az = async (args: readonly string[]): Promise<unknown> => {
    const { stdout } = await run(AZ, [...args, "-o", "json"], { env, timeout: WITHIN_MS, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim() === "" ? undefined : (JSON.parse(stdout) as unknown);
  };
  const { tenantId, clientId, clientSecret, subscriptionId } = azure.account;
  await az(["cloud", "register", "-n", "sandbox", "--endpoint-resource-manager", azure.armEndpoint]);
  await az(["cloud", "set", "-n", "sandbox"]);
  await az(["login", "--service-principal", "-u", clientId, "-p", clientSecret, "--tenant", tenantId]);
  const steps = tour(subscriptionId, tenantId);
  let wrong = 0;
  for (const { args, prints } of steps) {
    try {
      checkPart(await az(args), prints);
      process.stdout.write(`ok     az ${args.join(" ")}\n`);
    } catch (error) {
      wrong += 1;
      process.stdout.write(
        `wrong  az ${args.join(" ")}\n       ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  process.stdout.write(`${steps.length - wrong} of ${steps.length} commands as they must be\n`);
  process.exitCode = wrong === 0 ? 0 : 1;
} finally {
  await azure.close();
  rmSync(dir, { recursive: true, force: true });
}
