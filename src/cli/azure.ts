/**
 * `azlb azure`: runs the Azure emulator alone. Reads flags and prints how to reach it; the emulator itself is
 * `sandbox/azure`.
 */
import { readFileSync } from "node:fs";

import { Option, type Command } from "commander";

import type { AzureOptions, RunningAzure, Topology } from "../../sandbox/azure/index.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError, portErrorOf } from "./input-error.ts";
import { renderSandboxLine, untilSignal, type SandboxLine } from "./sandbox-line.ts";
import { pluralize } from "../core/util/text.ts";

const MOST_PORT = 65_535;
/** The most that an Azure backend pool holds. */
const MOST_NODES = 5_000;
const MOST_BODY_BYTES = 1024 ** 3;

/** As commander parses them: strings, or booleans for flags without a value. */
export interface AzureFlags {
  readonly nodes?: string;
  readonly vmType?: Topology["vmType"];
  readonly backendPool?: Topology["backendPool"];
  readonly sku?: Topology["sku"];
  readonly foreign?: boolean;
  readonly dualStack?: boolean;
  readonly latency: string;
  readonly latencySeed: string;
  readonly throttling?: boolean;
  readonly http?: boolean;
  readonly limits?: string;
  readonly maxBodyBytes?: string;
  readonly dataDir?: string;
  readonly acceptJournalLoss?: boolean;
  readonly seed?: string;
  readonly dataPlane?: boolean;
}

interface OwnFlags extends AzureFlags {
  readonly json?: boolean;
  readonly port: string;
  readonly httpPort: string;
  readonly controlPort: string;
  readonly metadataPort: string;
}

/** The flags that configure the emulated Azure; shared with `azlb sandbox`. */
export function withAzureFlags(command: Command): Command {
  return command
    .option("--nodes <count>", "nodes of the example cluster (default: 3)")
    .addOption(
      new Option("--vm-type <type>", "type of the nodes' virtual machines (default: vmss)").choices([
        "vmss",
        "vmssflex",
        "standard",
      ]),
    )
    .addOption(
      new Option(
        "--backend-pool <type>",
        "how nodes join backend pools (default: nodeIP; with --sku basic: nodeIPConfiguration)",
      ).choices(["nodeIP", "nodeIPConfiguration"]),
    )
    .addOption(
      new Option("--sku <sku>", "SKU of load balancers and public IPs (default: standard)").choices([
        "standard",
        "basic",
      ]),
    )
    .option("--foreign", "also create resources that belong to other clients")
    .option("--dual-stack", "give the network, its subnets and the nodes' machines IPv6 addresses too")
    .option("--seed <file>", "seed file with topology and resources (docs/emulator.md)")
    .option("--latency <profile>", "none, realistic, or a factor of realistic such as 0.1", "none")
    .option("--latency-seed <number>", "seed of the random latencies", "1")
    .option("--throttling", "throttle with 429, with token buckets like Azure's")
    .option("--data-plane", "forward real connections on loopback, as the load balancers are configured")
    .option("--http", "also serve Resource Manager over plain HTTP")
    .option("--limits <name=value,…>", "override Azure's limits: rulesPerLoadBalancer=5000,…")
    .option("--max-body-bytes <bytes>", "maximum size of a request body (default: 4 MB, as in Azure)")
    .option("--data-dir <dir>", "directory for state, certificates and ports (default: in memory only)")
    .option(
      "--accept-journal-loss",
      "start from a damaged journal in --data-dir, without the damaged record and those after it",
    );
}

export function registerAzure(azlb: Command): void {
  const command = azlb
    .command("azure")
    .description("start the Azure emulator on loopback and print how to reach it")
    .option("--json", "print one line of JSON when ready")
    .option("--port <port>", "HTTPS port of Resource Manager; 0: any free port", "0")
    .option("--http-port <port>", "plain-HTTP port: managed identity, and Resource Manager with --http", "0")
    .option("--control-port <port>", "port of the control endpoint", "0")
    .option("--metadata-port <port>", "plain-HTTP port of the machines' instance metadata", "0");
  withAzureFlags(command).action(async (flags: OwnFlags) => {
    const azure = await start({
      ...(await azureOptions(flags)),
      port: parseFlagNumber("--port", flags.port, 0, MOST_PORT),
      httpPort: parseFlagNumber("--http-port", flags.httpPort, 0, MOST_PORT),
      controlPort: parseFlagNumber("--control-port", flags.controlPort, 0, MOST_PORT),
      metadataPort: parseFlagNumber("--metadata-port", flags.metadataPort, 0, MOST_PORT),
    });
    process.stdout.write(flags.json === true ? renderSandboxLine(azureLine(azure)) : welcome(azure));
    await untilSignal();
    await azure.close();
  });
}

/** Converts flags to options; throws an `InputError` that names the flag. */
export async function azureOptions(flags: AzureFlags): Promise<AzureOptions> {
  const { parseLatency, parseLimits, parseSeed, SANDBOX_ACCOUNT } = await import("../../sandbox/azure/index.ts");
  const { nodes, vmType, backendPool, sku, foreign, dualStack, dataDir, seed, limits, maxBodyBytes } = flags;
  const topology: Partial<Topology> = {
    ...(nodes === undefined ? {} : { nodes: parseFlagNumber("--nodes", nodes, 0, MOST_NODES) }),
    ...(vmType === undefined ? {} : { vmType }),
    ...(backendPool === undefined ? {} : { backendPool }),
    ...(sku === undefined ? {} : { sku }),
    ...(foreign === undefined ? {} : { foreign }),
    ...(dualStack === undefined ? {} : { dualStack }),
  };
  return {
    topology,
    latency: named("--latency", () => parseLatency(flags.latency)),
    latencySeed: parseFlagNumber("--latency-seed", flags.latencySeed, 0, Number.MAX_SAFE_INTEGER),
    throttling: flags.throttling ?? false,
    plainHttp: flags.http ?? false,
    dataPlane: flags.dataPlane ?? false,
    acceptJournalLoss: flags.acceptJournalLoss ?? false,
    ...(limits === undefined ? {} : { model: { limits: named("--limits", () => parseLimits(assignments(limits))) } }),
    ...(maxBodyBytes === undefined
      ? {}
      : { maxBodyBytes: parseFlagNumber("--max-body-bytes", maxBodyBytes, 1, MOST_BODY_BYTES) }),
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(seed === undefined ? {} : { seed: named(`--seed ${seed}`, () => parseSeed(readText(seed), SANDBOX_ACCOUNT)) }),
    log: (line: string) => process.stderr.write(`azure: ${line}\n`),
  };
}

async function start(options: AzureOptions): Promise<RunningAzure> {
  const { BadInput, startAzure } = await import("../../sandbox/azure/index.ts");
  try {
    return await startAzure(options);
  } catch (error) {
    if (error instanceof BadInput) throw new InputError(error.message);
    throw portErrorOf(error);
  }
}

/** Turns an input error of the emulator into an `InputError` that names the flag. */
function named<Value>(flag: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.name === "BadInput") throw new InputError(`${flag}: ${error.message}`);
    throw error;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InputError(`--seed ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** `a=1,b=2` as an object; the emulator checks the names. */
function assignments(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(",").map((item) => {
      const [name = "", value = ""] = item.split("=");
      return [name.trim(), parseFlagNumber(`--limits ${name}`, value.trim() || "nothing", 0, Number.MAX_SAFE_INTEGER)];
    }),
  );
}

/** The emulator's part of the line that the sandbox commands print. */
export function azureLine(azure: RunningAzure): Partial<SandboxLine> {
  return {
    cloudConfig: azure.cloudConfigFile,
    armEndpoint: azure.armEndpoint,
    caFile: azure.caFile,
    subscriptionId: azure.subscriptionId,
    resourceGroup: azure.resourceGroup,
    azureControlUrl: azure.controlUrl,
    env: azure.env,
  };
}

function welcome(azure: RunningAzure): string {
  return [
    `Azure is running, with ${pluralize(azure.nodes.length, "node")}. Ctrl-C stops it.`,
    ``,
    `  Resource Manager  ${azure.armEndpoint}${azure.httpEndpoint === null ? "" : ` and ${azure.httpEndpoint}`}`,
    `  CA certificate    ${azure.caFile}`,
    `  cloud config      ${azure.cloudConfigFile}`,
    `  subscription      ${azure.subscriptionId}, resource group ${azure.resourceGroup}`,
    `  control endpoint  ${azure.controlUrl}   (faults, audit log, settings: docs/emulator.md)`,
    `  instance metadata ${azure.metadataUrl}/machines/NODE`,
    ``,
  ].join("\n");
}
