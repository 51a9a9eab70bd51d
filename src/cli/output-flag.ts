/** `-o, --output`: a table or text for people, or the same data as JSON or YAML. */
import { Option } from "commander";

export type OutputFormat = "text" | "json" | "yaml";

export function outputFlag(): Option {
  const formats: readonly OutputFormat[] = ["text", "json", "yaml"];
  return new Option("-o, --output <format>", "format of the output (default: text)").choices(formats);
}

export async function renderAs(format: OutputFormat | undefined, data: unknown, text: () => string): Promise<string> {
  if (format === "yaml") return (await import("yaml")).stringify(data, { aliasDuplicateObjects: false });
  return format === "json" ? `${JSON.stringify(data)}\n` : text();
}
