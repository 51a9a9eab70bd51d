/** Table columns, as `kubectl get` prints them. */
import type { KubeObject } from "../contract.ts";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  readonly description: string;
  /** Above 0: shown with `-o wide` only. */
  readonly priority: number;
  cell(object: KubeObject, nowMs: number): unknown;
}

type Cell = Column["cell"];

export const column = (name: string, cell: Cell, type: Column["type"] = "string"): Column => ({
  name,
  type,
  format: name === "Name" ? "name" : "",
  description: "",
  priority: 0,
  cell,
});

/** A column that only `-o wide` shows. */
export const wide = (name: string, cell: Cell, type: Column["type"] = "string"): Column => ({
  ...column(name, cell, type),
  priority: 1,
});

export const nameColumn = column("Name", (object) => object.metadata.name ?? "");
export const ageColumn = column("Age", (object, nowMs) => ageOf(object.metadata.creationTimestamp, nowMs));

export function ageOf(timestamp: string | undefined, nowMs: number): string {
  return timestamp === undefined ? "<unknown>" : duration(nowMs - Date.parse(timestamp));
}

/** A duration in at most two units: `107s`, `2m9s`, `12m`, `5h3m`, `30h`, `3d4h`, `41d`. */
export function duration(forMs: number): string {
  const seconds = Math.floor(forMs / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return twoUnits(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 2920 ? twoUnits(years, "y", days % 365, "d") : `${years}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
