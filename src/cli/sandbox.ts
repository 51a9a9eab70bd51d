/**
 * `azlb sandbox`: runs the Azure emulator, a Kubernetes API and the controller on this machine, with an example. What it
 * starts is `src/main/sandbox.ts`.
 */
import { Option, type Command } from "commander";

import type { RunningSandbox } from "../main/sandbox.ts";
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
  const [{ startSandbox }, { stderrLog }] = await Promise.all([
    import("../main/sandbox.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const asked = new AbortController();
  const ended = untilSignal().then(() => asked.abort()); // from here on, so that a signal during the start or the example cleans up
  const sandbox = await startSandbox({
    azure: await azureOptions(flags),
    kubeconfig: flags.kubeconfig,
    dataDir: flags.dataDir,
    acceptJournalLoss: flags.acceptJournalLoss ?? false,
    withController: flags.withoutController !== true,
    log: stderrLog(),
  });
  try {
    process.stdout.write(flags.json === true ? renderSandboxLine(sandboxLine(sandbox)) : welcome(sandbox));
    const example = flags.example ?? (flags.json === true ? "none" : "basic");
    if (example === "basic" && sandbox.controller !== undefined) await showExample(sandbox, asked.signal);
    await ended;
    if (flags.json !== true)
      process.stderr.write("stopping after the writes in flight; press Ctrl-C again to stop at once\n");
  } finally {
    await sandbox.close();
  }
}

async function showExample({ kubeconfig }: RunningSandbox, signal: AbortSignal): Promise<void> {
  const { runExample } = await import("../main/example.ts");
  await runExample({ kubeconfig, file: EXAMPLE_FILE, print: (line) => process.stdout.write(`${line}\n`), signal });
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

function welcome({ azure, kubeconfig, kubeControlUrl, controller }: RunningSandbox): string {
  const lines = [
    `The sandbox is running; Ctrl-C stops it.`,
    ...(controller === undefined ? [] : [``, `  See it:  ${pageUrl(controller)}`]),
    ``,
    `In another terminal:`,
    ``,
    `  export KUBECONFIG=${kubeconfig}`,
    `  export ${CLOUD_CONFIG_VARIABLE}=${azure.cloudConfigFile}`,
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
