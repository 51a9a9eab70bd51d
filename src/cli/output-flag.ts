/** `-o, --output`: a table or text for people, or the same data as JSON or YAML. */
import { Option } from "commander";

import { printText } from "./print.ts";

export type OutputFormat = "text" | "json" | "yaml";

export function outputFlag(): Option {
  const formats: readonly OutputFormat[] = ["text", "json", "yaml"];
  return new Option("-o, --output <format>", "format of the output (default: text)").choices(formats);
}

/** To stdout. */
export async function printAs(format: OutputFormat | undefined, data: unknown, text: () => string): Promise<void> {
  if (format === "json") process.stdout.write(`${JSON.stringify(data)}\n`);
  else if (format === "yaml")
    process.stdout.write((await import("yaml")).stringify(data, { aliasDuplicateObjects: false }));
  else printText(text());
}
