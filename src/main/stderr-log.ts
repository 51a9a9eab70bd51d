/**
 * Writes the log to stderr: text on a terminal, otherwise one JSON object per line. Lines below the level are left out.
 * Text has no ARM ids: the message names the resource, and a line should fit a terminal.
 */
import type { Log, LogFields } from "../core/util/log.ts";

const LOG_LEVELS = ["info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "text" | "json";

function textLine(level: LogLevel, message: string, fields: LogFields): string {
  const rendered = Object.entries(fields)
    .filter(([name, value]) => name !== "id" && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const mark = level === "info" ? "" : `${level}: `;
  return [new Date().toISOString().slice(11, 23), `${mark}${message}`, ...rendered].join("  ");
}

function jsonLine(level: LogLevel, message: string, fields: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
}

/** For commands that people run: always text, also where the output goes into a pipe. */
export function commandLog(): Log {
  return stderrLog("text", "warn");
}

export function stderrLog(format: LogFormat = process.stderr.isTTY ? "text" : "json", least: LogLevel = "info"): Log {
  const render = format === "text" ? textLine : jsonLine;
  const write = (level: LogLevel): Log["info"] => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return () => {};
    return (message, fields = {}) => void process.stderr.write(`${render(level, message, fields)}\n`);
  };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
