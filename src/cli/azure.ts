/** `azlb azure`: the Azure emulator alone. Flags in, one line of facts out; the emulator itself is `sandbox/azure`. */
import { readFileSync } from "node:fs";

import { Option, type Command } from "commander";

import type { AzureOptions, RunningAzure, Topology } from "../../sandbox/azure/index.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError, portErrorOf } from "./input-error.ts";
import { renderSandboxLine, untilSignal, type SandboxLine } from "./sandbox-line.ts";
import { pluralize } from "../core/util/text.ts";

const MOST_PORT = 65_535;
/** As many as a pool of Azure's holds. */
const MOST_NODES = 5_000;
const MOST_BODY_BYTES = 1024 ** 3;

/** As commander hands them over: texts, unless a flag stands alone. */
export interface AzureFlags {
  readonly nodes?: string;
  readonly vmType?: Topology["vmType"];
  readonly backendPool?: Topology["backendPool"];
  readonly sku?: Topology["sku"];
  readonly foreign?: boolean;
  readonly latency: string;
  readonly latencySeed: string;
  readonly throttling?: boolean;
  readonly http?: boolean;
  readonly limits?: string;
  readonly maxBodyBytes?: string;
  readonly dataDir?: string;
  readonly seed?: string;
  readonly dataPlane?: boolean;
}

interface OwnFlags extends AzureFlags {
  readonly json?: boolean;
  readonly port: string;
  readonly httpPort: string;
  readonly controlPort: string;
}

/** The flags that shape the emulated Azure; `azlb sandbox` takes them too. */
export function withAzureFlags(command: Command): Command {
  return command
    .option("--nodes <count>", "nodes of the example cluster (default: 3)")
    .addOption(
      new Option("--vm-type <type>", "what the nodes are (default: vmss)").choices(["vmss", "vmssflex", "standard"]),
    )
    .addOption(
      new Option(
        "--backend-pool <type>",
        "how nodes join backend pools (default: nodeIP; with --sku basic: nodeIPConfiguration)",
      ).choices(["nodeIP", "nodeIPConfiguration"]),
    )
    .addOption(
      new Option("--sku <sku>", "of load balancers and public IPs (default: standard)").choices(["standard", "basic"]),
    )
    .option("--foreign", "also seed things that belong to someone else")
    .option("--seed <file>", "seed file: topology and resources, as docs/emulator.md says")
    .option("--latency <profile>", "none, realistic, or a factor of realistic such as 0.1", "none")
    .option("--latency-seed <number>", "the same number repeats the same draws", "1")
    .option("--throttling", "refuse with 429 as Azure's token buckets would")
    .option("--data-plane", "forward real connections on loopback, as the load balancers say")
    .option("--http", "serve Resource Manager over plain HTTP too")
    .option("--limits <name=value,…>", "Azure's limits, lowered or raised: rulesPerLoadBalancer=5000,…")
    .option("--max-body-bytes <bytes>", "largest request body (default: 4 MB, as Azure)")
    .option("--data-dir <dir>", "keep state, certificates and ports here (default: memory)");
}

export function registerAzure(azlb: Command): void {
  const command = azlb
    .command("azure")
    .description("start the Azure emulator on loopback and say how to reach it")
    .option("--json", "print one line of JSON when ready")
    .option("--port <port>", "HTTPS port of Resource Manager (0: a free one)", "0")
    .option("--http-port <port>", "plain-HTTP port: managed identity, and Resource Manager with --http", "0")
    .option("--control-port <port>", "port of the control endpoint", "0");
  withAzureFlags(command).action(async (flags: OwnFlags) => {
    const azure = await start({
      ...(await azureOptions(flags)),
      port: parseFlagNumber("--port", flags.port, 0, MOST_PORT),
      httpPort: parseFlagNumber("--http-port", flags.httpPort, 0, MOST_PORT),
      controlPort: parseFlagNumber("--control-port", flags.controlPort, 0, MOST_PORT),
    });
    process.stdout.write(flags.json === true ? renderSandboxLine(azureLine(azure)) : welcome(azure));
    await untilSignal();
    await azure.close();
  });
}

/** Flags to options; throws `InputError` that names the flag. */
export async function azureOptions(flags: AzureFlags): Promise<AzureOptions> {
  const { parseLatency, parseLimits, parseSeed, SANDBOX_ACCOUNT } = await import("../../sandbox/azure/index.ts");
  const { nodes, vmType, backendPool, sku, foreign, dataDir, seed, limits, maxBodyBytes } = flags;
  const topology: Partial<Topology> = {
    ...(nodes === undefined ? {} : { nodes: parseFlagNumber("--nodes", nodes, 0, MOST_NODES) }),
    ...(vmType === undefined ? {} : { vmType }),
    ...(backendPool === undefined ? {} : { backendPool }),
    ...(sku === undefined ? {} : { sku }),
    ...(foreign === undefined ? {} : { foreign }),
  };
  return {
    topology,
    latency: named("--latency", () => parseLatency(flags.latency)),
    latencySeed: parseFlagNumber("--latency-seed", flags.latencySeed, 0, Number.MAX_SAFE_INTEGER),
    throttling: flags.throttling ?? false,
    plainHttp: flags.http ?? false,
    dataPlane: flags.dataPlane ?? false,
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

/** What the emulator refuses to understand is the user's input; the flag says where it stands. */
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

/** `a=1,b=2` as an object; the names are checked by whoever knows them. */
function assignments(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(",").map((item) => {
      const [name = "", value = ""] = item.split("=");
      return [name.trim(), parseFlagNumber(`--limits ${name}`, value.trim() || "nothing", 0, Number.MAX_SAFE_INTEGER)];
    }),
  );
}

/** The emulator's part of the line that every sandbox command prints. */
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
    `  trust             ${azure.caFile}`,
    `  cloud config      ${azure.cloudConfigFile}`,
    `  subscription      ${azure.subscriptionId}, resource group ${azure.resourceGroup}`,
    `  control           ${azure.controlUrl}   (faults, audit log, settings: docs/emulator.md)`,
    ``,
  ].join("\n");
}
