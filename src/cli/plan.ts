/** `azlb plan`: prints what the controller would write now, and why. Reads only. */
import { writeFileSync } from "node:fs";

import type { Command } from "commander";

import type { Change } from "../core/guard/configuration-changes.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { errorText } from "../core/util/text.ts";
import type { Plan } from "../main/make-plan.ts";
import { acceptChangeFlag } from "./accept-change.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { allNamespacesFlag, namespaceFlag, namespaceOf } from "./cluster-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { InputError } from "./input-error.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";
import { terminalProgress } from "./progress.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface PlanFlags extends ViewFlags {
  readonly json?: boolean;
  readonly output?: OutputFormat;
  readonly details?: boolean;
  readonly filename?: string;
  readonly html?: string;
  readonly detailedExitcode?: boolean;
  readonly driftPolicy: DriftPolicy;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly acceptChange?: Change;
}

const EXIT_FAILED = 1;
const EXIT_CHANGES = 2;

export function registerPlan(azlb: Command): void {
  const command = azlb
    .command("plan [service]")
    .description("print what the controller would write and why, without writing. SERVICE: service/NAME (default: all)")
    .option("--details", "print every write with its differences, instead of one line for each Service")
    .option("-f, --filename <file>", "plan the Services of these manifests, as if they were applied; -: standard input")
    .addOption(outputFlag())
    .option("--json", "print one JSON object: the same as -o json")
    .option("--html <file>", "also write the plan to this file, as a page that needs nothing else")
    .option(
      "--detailed-exitcode",
      "exit with 0 if nothing would be written, 2 if something would, 1 on errors, invalid input and refused manifests included",
    )
    .addOption(driftPolicyFlag("as the controller has it: which differences it would leave"))
    .addOption(namespaceFlag("namespace of SERVICE, and of manifests that name none; without both only its Services"))
    .addOption(allNamespacesFlag())
    .addOption(acceptChangeFlag());
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(service: string | undefined, flags: PlanFlags): Promise<void> {
  if (service !== undefined && flags.allNamespaces === true)
    throw new InputError(`--all-namespaces cannot be used with ${service}: name its namespace with -n`);
  const namespace = await namespaceOf(flags);
  const only = service === undefined ? undefined : parseServiceArgument(service, namespace);
  const [{ withClusterView }, { makePlan }, { readManifests }, { commandLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/make-plan.ts"),
    import("../main/read-manifests.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const { filename, driftPolicy, acceptChange } = flags;
  const isNarrowed = only === undefined && filename === undefined && flags.namespace !== undefined;
  const manifests = filename === undefined ? undefined : readManifests(filename, namespace);
  const progress = terminalProgress(process.stderr);
  const { show: onProgress } = progress;
  const options = { ...viewOptions(flags), acceptedChange: acceptChange, log: commandLog(), onProgress };
  try {
    const plan = await withClusterView({ ...options, ...(manifests && { manifests }) }, (view) =>
      makePlan(view, only, { driftPolicy, onProgress, ...(isNarrowed && { namespace }) }),
    );
    progress.clear();
    if (flags.html !== undefined) await writePage(flags.html, plan, flags.clusterName);
    await printPlan(plan, flags);
    process.exitCode = exitCodeOf(plan, flags);
  } finally {
    progress.clear();
  }
}

async function printPlan(plan: Plan, { json, output, details }: PlanFlags): Promise<void> {
  const { home: _, report, ...facts } = plan;
  const data = { ...facts, services: report.entries, summary: report.summary };
  const { renderPlanSummary, renderPlanText } = await import("../main/make-plan.ts");
  return printAs(json === true ? "json" : output, data, () =>
    details === true ? renderPlanText(plan) : renderPlanSummary(plan),
  );
}

async function writePage(file: string, plan: Plan, clusterName: string): Promise<void> {
  const { renderPage } = await import("../core/plan/render-page.ts");
  const title = `azlb plan of cluster ${clusterName}, ${new Date().toISOString()}`;
  try {
    writeFileSync(file, renderPage(plan, title));
  } catch (error) {
    throw new InputError(`--html ${file} cannot be written: ${errorText(error)}`);
  }
}

/** A Service that is refused in the cluster is no error of the plan; one of a manifest is invalid input. */
function exitCodeOf(plan: Plan, { detailedExitcode, filename }: PlanFlags): number {
  const { changes, steps, rejected, unreadable } = plan;
  if (changes.length > 0 || unreadable.length > 0) return EXIT_FAILED;
  if (detailedExitcode !== true) return 0;
  if (filename !== undefined && rejected.length > 0) return EXIT_FAILED;
  return steps.length > 0 ? EXIT_CHANGES : 0;
}
