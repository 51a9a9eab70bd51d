/** Writes the log to stderr: text on a terminal, otherwise one JSON object per line. */
import type { Log, LogFields } from "../core/util/log.ts";

type Level = "info" | "warn" | "error";

function textLine(level: Level, message: string, fields: LogFields): string {
  const rendered = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const mark = level === "info" ? "" : `${level}: `;
  return [new Date().toISOString().slice(11, 23), `${mark}${message}`, ...rendered].join("  ");
}

function jsonLine(level: Level, message: string, fields: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
}

export function stderrLog(format: "text" | "json" = process.stderr.isTTY ? "text" : "json"): Log {
  const render = format === "text" ? textLine : jsonLine;
  const write =
    (level: Level) =>
    (message: string, fields: LogFields = {}): void => {
      process.stderr.write(`${render(level, message, fields)}\n`);
    };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
