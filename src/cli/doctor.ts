/** `azlb doctor`: prints what is right and wrong with everything that the controller depends on. Reads only. */
import { writeFileSync } from "node:fs";

import type { Command } from "commander";

import { errorText } from "../core/util/text.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { InputError } from "./input-error.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface DoctorFlags extends ViewFlags {
  readonly report?: string;
  readonly output?: OutputFormat;
}

const EXIT_FAILED = 1;

export function registerDoctor(azlb: Command): void {
  const command = azlb
    .command("doctor")
    .description(
      "check config, identity, rights, settings, quota and other controllers, without writing; exit 1 if something is wrong",
    )
    .addOption(outputFlag())
    .option("--report <file>", "also write the findings to this file, as JSON without secrets");
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(flags: DoctorFlags): Promise<void> {
  const [{ runDoctor }, { renderChecks }, { VERSION }, { SILENT_LOG }] = await Promise.all([
    import("../main/doctor.ts"),
    import("../main/doctor-checks.ts"),
    import("../main/version.ts"),
    import("../core/util/log.ts"),
  ]);
  const checks = await runDoctor({ ...viewOptions(flags), log: SILENT_LOG });
  await printAs(flags.output, checks, () => renderChecks(checks));
  if (flags.report !== undefined) {
    const { version: node, platform } = process;
    writeReport(flags.report, { azlb: VERSION, node, platform, at: new Date().toISOString(), checks });
  }
  if (checks.some(({ kind }) => kind === "wrong")) process.exitCode = EXIT_FAILED;
}

function writeReport(file: string, report: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  } catch (error) {
    throw new InputError(`--report ${file} cannot be written: ${errorText(error)}`);
  }
}
