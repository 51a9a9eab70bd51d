/**
 * `azlb sandbox`: runs the Azure emulator, a Kubernetes API and the controller on this machine, with an example. What it
 * starts is `src/main/sandbox.ts`.
 */
import { Option, type Command } from "commander";

import type { RunningSandbox } from "../main/sandbox.ts";
import type { SandboxFiles } from "../main/sandbox-home.ts";
import type { SandboxPorts } from "../main/sandbox-ports.ts";
import { shippedFile } from "../main/shipped-files.ts";
import { azureLine, azureOptions, withAzureFlags, type AzureFlags } from "./azure.ts";
import { CLOUD_CONFIG_VARIABLE } from "./cloud-config-flags.ts";
import { renderSandboxLine, untilSignal, type SandboxLine } from "./sandbox-line.ts";

interface SandboxFlags extends AzureFlags {
  readonly json?: boolean;
  readonly example?: "basic" | "none";
  readonly kubeconfig?: string;
  readonly withoutController?: boolean;
}

/** With more, a listener for each would only cost. */
const MOST_ANSWERING_NODES = 10;
const DEFAULT_NODES = 3;
const EXAMPLE_FILE = shippedFile("examples/basic.yaml");

export function registerSandbox(azlb: Command): void {
  const command = azlb
    .command("sandbox")
    .description("start an Azure emulator, a Kubernetes API and the controller on this machine, with an example")
    .option("--json", "print one line of JSON when ready")
    .addOption(
      new Option("--example <name>", "example to apply at the start (default: basic; none with --json)").choices([
        "basic",
        "none",
      ]),
    )
    .option("--kubeconfig <file>", "use that API server instead of the embedded one")
    .option("--without-controller", "do not start the controller, so that another one can be attached");
  withAzureFlags(command).action(run);
}

async function run(flags: SandboxFlags): Promise<void> {
  const [{ startSandbox }, { preferredPorts }, { claimSandboxHome }, { stderrLog }] = await Promise.all([
    import("../main/sandbox.ts"),
    import("../main/sandbox-ports.ts"),
    import("../main/sandbox-home.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const asked = new AbortController();
  const ended = untilSignal().then(() => asked.abort()); // from here on, so that a signal during the start or the example cleans up
  const isForPeople = flags.json !== true && flags.kubeconfig === undefined && flags.dataDir === undefined;
  const options = await azureOptions(flags);
  const withBackends = isForPeople && (options.topology?.nodes ?? DEFAULT_NODES) <= MOST_ANSWERING_NODES;
  const start = (ports?: SandboxPorts): Promise<RunningSandbox> =>
    startSandbox({
      azure: withBackends ? { ...options, dataPlane: true } : options,
      withBackends,
      ...(ports && { ports }),
      kubeconfig: flags.kubeconfig,
      dataDir: flags.dataDir,
      acceptJournalLoss: flags.acceptJournalLoss ?? false,
      withController: flags.withoutController !== true,
      log: stderrLog(),
    });
  const sandbox = isForPeople
    ? await start(await preferredPorts()).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
        return start(); // another one has taken a port in this moment
      })
    : await start();
  const files = { kubeconfig: sandbox.kubeconfig, cloudConfig: sandbox.azure.cloudConfigFile };
  const home = isForPeople ? claimSandboxHome(files) : undefined;
  try {
    process.stdout.write(
      flags.json === true ? renderSandboxLine(sandboxLine(sandbox)) : welcome(sandbox, home ?? files),
    );
    const example = flags.example ?? (flags.json === true ? "none" : "basic");
    if (example === "basic" && sandbox.controller !== undefined) await showExample(sandbox, withBackends, asked.signal);
    await ended;
    if (flags.json !== true)
      process.stderr.write("stopping after the writes in flight; press Ctrl-C again to stop at once\n");
  } finally {
    home?.release();
    await sandbox.close();
  }
}

async function showExample(
  { kubeconfig, azure }: RunningSandbox,
  isAnswering: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { runExample } = await import("../main/example.ts");
  const dataPlane = isAnswering ? azure.controlUrl : undefined;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  await runExample({ kubeconfig, file: EXAMPLE_FILE, dataPlane, print, signal });
}

function sandboxLine({ azure, kubeconfig, kubeControlUrl, controller }: RunningSandbox): Partial<SandboxLine> {
  const line = azureLine(azure);
  return {
    ...line,
    kubeconfig,
    kubeControlUrl,
    metricsUrl: controller?.metricsUrl ?? null,
    dashboardUrl: pageUrl(controller) ?? null,
    env: { ...line.env, KUBECONFIG: kubeconfig },
  };
}

function pageUrl(controller: RunningSandbox["controller"]): string | undefined {
  return controller?.apiUrl && `${controller.apiUrl}/`;
}

function welcome({ azure, kubeControlUrl, controller }: RunningSandbox, files: SandboxFiles): string {
  const lines = [
    `The sandbox is running; Ctrl-C stops it.`,
    ...(controller === undefined ? [] : [``, `  See it:  ${pageUrl(controller)}`]),
    ``,
    `In another terminal:`,
    ``,
    `  export KUBECONFIG=${files.kubeconfig}`,
    `  export ${CLOUD_CONFIG_VARIABLE}=${files.cloudConfig}`,
    `  kubectl get services --watch`,
    ``,
    `  Azure                ${azure.armEndpoint}`,
    `    control endpoint   ${azure.controlUrl}   (faults, audit log, settings: docs/emulator.md)`,
    `    instance metadata  ${azure.metadataUrl}/machines/NODE   (scheduled events: docs/emulator.md)`,
    ...(kubeControlUrl === null
      ? []
      : [`  Kubernetes control   ${kubeControlUrl}   (faults, cut watches: docs/embedded-kubernetes.md)`]),
    ...(controller === undefined ? [] : [`  metrics              ${controller.metricsUrl}`]),
    ``,
  ];
  return `${lines.join("\n")}\n`;
}
