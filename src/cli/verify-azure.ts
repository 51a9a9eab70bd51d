/** `azlb verify-azure`: tries the controller in a throwaway resource group of the user's own Azure, and writes a trace to give away. */
import { readFileSync, writeFileSync } from "node:fs";

import type { Command } from "commander";

import { errorText } from "../core/util/text.ts";
import { InputError } from "./input-error.ts";

interface VerifyFlags {
  readonly resourceGroup: string;
  readonly cloudConfig: string;
  readonly trace: string;
  readonly within: string;
  readonly yes?: boolean;
}

const PRICE = `This creates in the group: two Standard load balancers, one Standard public IP, a virtual network and a security group, no
machines, for some minutes, and removes them. Azure charges load balancer rules and addresses by the hour: well below one
US dollar at list prices. If it is interrupted, delete the group.
`;

export function registerVerifyAzure(azlb: Command): void {
  azlb
    .command("verify-azure")
    .description(
      "try the controller in an empty resource group of your Azure, remove what it made, and write a trace without ids or secrets",
    )
    .requiredOption("--resource-group <name>", "an existing, empty group that nothing else uses")
    .requiredOption("--cloud-config <file>", "azure.json: identity, subscription, cloud and location are taken from it")
    .option("--trace <file>", "where the trace is written", "azure-trace.json")
    .option("--within <seconds>", "how long a scenario may take", "300")
    .option("--yes", "go ahead; without it, only what it would make and cost is said")
    .action(run);
}

async function run(flags: VerifyFlags): Promise<void> {
  process.stdout.write(PRICE);
  const seconds = Number(flags.within);
  if (!(seconds > 0)) throw new InputError(`--within ${flags.within} is not a number of seconds above 0`);
  if (flags.yes !== true) throw new InputError("nothing was done: add --yes to go ahead");
  const cloudConfig = await readCloudConfig(flags.cloudConfig);
  const [{ verifyAzure }, { NotThrowaway }, { SILENT_LOG }] = await Promise.all([
    import("../main/verify-azure/verify.ts"),
    import("../main/verify-azure/throwaway.ts"),
    import("../core/util/log.ts"),
  ]);
  const verification = await verifyAzure({
    cloudConfig,
    resourceGroup: flags.resourceGroup,
    env: process.env,
    withinMs: seconds * 1000,
    log: SILENT_LOG,
    say: (line) => process.stdout.write(`${line}\n`),
  }).catch((error: unknown) => {
    throw error instanceof NotThrowaway ? new InputError(error.message) : error;
  });
  writeFileSync(flags.trace, `${JSON.stringify(verification, undefined, 1)}\n`);
  process.stdout.write(
    `${verification.calls.length} calls are in ${flags.trace}: read it, then attach it to an issue.\n`,
  );
  if (verification.results.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
}

async function readCloudConfig(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import("yaml");
  try {
    const read: unknown = parse(readFileSync(file, "utf8"));
    if (read !== null && typeof read === "object" && !Array.isArray(read)) return read as Record<string, unknown>;
  } catch (error) {
    throw new InputError(`--cloud-config ${file} cannot be read: ${errorText(error)}`);
  }
  throw new InputError(`--cloud-config ${file} holds no keys: give the cluster's azure.json`);
}
