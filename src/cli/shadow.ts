/** `azlb shadow report`: prints what a running shadow has found. */
import { writeFileSync } from "node:fs";

import type { Command } from "commander";

import { errorText } from "../core/util/text.ts";
import { parseFlagDurationMs } from "./flag-values.ts";
import { InputError } from "./input-error.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";

interface ReportFlags {
  readonly url: string;
  readonly output?: OutputFormat;
  readonly html?: string;
  readonly timeout: string;
}

export function registerShadow(azlb: Command): void {
  const shadow = azlb.command("shadow").description("what azlb controller --shadow has found");
  shadow
    .command("report")
    .description(
      "print what azlb would write, and how each change of the incumbent compared with its prediction; exit 1 if something differs that no known difference explains",
    )
    .option("--url <url>", "where the shadow serves its report", "http://127.0.0.1:10359")
    .addOption(outputFlag())
    .option("--html <file>", "also write the report to this file, as a page that needs nothing else")
    .option("--timeout <duration>", "give up after this time; 0: never", "30s")
    .action(run);
}

async function run(flags: ReportFlags): Promise<void> {
  const [{ readShadowReport }, { renderShadow, renderShadowPage }] = await Promise.all([
    import("../main/read-shadow-report.ts"),
    import("../core/shadow/render-shadow.ts"),
  ]);
  const report = await readShadowReport(flags.url, parseFlagDurationMs("--timeout", flags.timeout));
  if (flags.html !== undefined) writePage(flags.html, renderShadowPage(report));
  await printAs(flags.output, report, () => renderShadow(report));
  const isUnexplained = report.findings.some(({ known }) => known === undefined) || report.changes.differed > 0;
  if (isUnexplained || report.refusedSettings.length > 0) process.exitCode = 1;
}

function writePage(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    throw new InputError(`--html ${file} cannot be written: ${errorText(error)}`);
  }
}
