/** The alert rules that are shipped. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { parse } from "yaml";

export const ALERTS_FILE = resolve(import.meta.dirname, "../../deploy/monitoring/alerts.yaml");

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function readAlerts(): AlertRule[] {
  const { groups } = parse(readFileSync(ALERTS_FILE, "utf8")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
