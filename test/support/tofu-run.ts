/** OpenTofu with the azurerm provider in a folder of its own, pointed at an emulator. What is built, and where, is tofu.ts's. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { RunningAzure } from "../../sandbox/azure/index.ts";

const STEP_WITHIN_MS = 900_000;

/** Writes that overlap on a load balancer supersede each other, as in Azure; the provider does not try again. */
export const ONE_BY_ONE = "-parallelism=1";

export interface Ended {
  readonly code: unknown;
  readonly text: string;
}

export interface TofuFolder {
  readonly folder: string;
  run(...args: readonly string[]): Promise<Ended>;
  remove(): void;
}

/** `programs`: the folder of both. */
export function openTofuFolder(programs: string, azure: RunningAzure): TofuFolder {
  const folder = mkdtempSync(join(tmpdir(), "azlb-terraform-"));
  writeFileSync(join(folder, "ca.crt"), azure.caPem);
  const overrides = `dev_overrides { "hashicorp/azurerm" = ${JSON.stringify(programs)} }`;
  writeFileSync(join(folder, "tofu.rc"), `provider_installation {\n  ${overrides}\n}\n`);
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
  return {
    folder,
    run: (...args) =>
      new Promise((done) => {
        execFile(join(programs, "tofu"), [...args, "-no-color"], options, (error, stdout, stderr) =>
          done({ code: error === null ? 0 : error.code, text: `${stdout}\n${stderr}` }),
        );
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A mirror of the registry with this provider alone, so that `tofu init` needs no network. Returns the settings that name it. */
export function providerMirror(programs: string, folder: string): string {
  const platform = `linux_${{ x64: "amd64" }[process.arch as string] ?? process.arch}`;
  const place = join(folder, "mirror/registry.opentofu.org/hashicorp/azurerm/99.0.0", platform);
  mkdirSync(place, { recursive: true });
  copyFileSync(join(programs, "terraform-provider-azurerm"), join(place, "terraform-provider-azurerm_v99.0.0"));
  const settings = join(folder, "mirror.rc");
  const mirror = `filesystem_mirror { path = ${JSON.stringify(join(folder, "mirror"))} }`;
  writeFileSync(settings, `provider_installation {\n  ${mirror}\n}\n`);
  return settings;
}
