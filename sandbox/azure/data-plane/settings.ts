/** The data plane's settings, which can be patched while it runs. */
import { BadInput, choiceOf, countOf, describe, fieldsOf, flagOf, onlyKeys, type Fields } from "../../shared/input.ts";
import { parseAddress } from "../../shared/cidr.ts";

export interface DataPlaneSettings {
  /** How a refused flow ends: with a reset, or silently, as in Azure. */
  readonly refused: "reset" | "drop";
  /** Whether `Down` also resets established connections: the API reference says so, the product documentation does not. */
  readonly resetOnDown: boolean;
  /** Factor on probe intervals. */
  readonly probeIntervalFactor: number;
  /** Factor on idle timeouts. */
  readonly idleTimeoutFactor: number;
  /**
   * Source addresses of flows, keyed by the client's loopback address, by frontend (`203.0.113.7:80/tcp`), or by `*` for all
   * others; the most specific key wins.
   */
  readonly sources: Readonly<Record<string, string>>;
  /** Concurrent flows; further ones are refused. */
  readonly maxFlows: number;
}

export const DEFAULT_SETTINGS: DataPlaneSettings = {
  refused: "reset",
  resetOnDown: false,
  probeIntervalFactor: 1,
  idleTimeoutFactor: 1,
  sources: {},
  maxFlows: 5_000,
};

/** The default source: an Internet client, from the documentation ranges of either family. */
const ANYWHERE = { 4: "203.0.113.1", 6: "2001:db8::1" } as const;

/** The settings with the patch's values; throws `BadInput` for the first invalid one. */
export function patchedSettings(settings: DataPlaneSettings, patch: unknown): DataPlaneSettings {
  const where = "data-plane";
  const fields = fieldsOf(patch, where);
  onlyKeys(fields, Object.keys(DEFAULT_SETTINGS), where);
  const has = (key: keyof DataPlaneSettings): boolean => fields[key] !== undefined;
  return {
    refused: has("refused") ? choiceOf(fields["refused"], ["reset", "drop"], `${where}.refused`) : settings.refused,
    resetOnDown: has("resetOnDown") ? flagOf(fields, "resetOnDown", where) : settings.resetOnDown,
    probeIntervalFactor: factorOf(fields, "probeIntervalFactor", settings),
    idleTimeoutFactor: factorOf(fields, "idleTimeoutFactor", settings),
    sources: has("sources") ? sourcesOf(fields["sources"]) : settings.sources,
    maxFlows: has("maxFlows") ? countOf(fields, "maxFlows", where, 1) : settings.maxFlows,
  };
}

type Factor = "probeIntervalFactor" | "idleTimeoutFactor";

function factorOf(fields: Fields, key: Factor, settings: DataPlaneSettings): number {
  const value = fields[key] ?? settings[key];
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw new BadInput(`data-plane.${key} must be a number above 0 and at most 1, not ${describe(value)}`);
}

function sourcesOf(value: unknown): Record<string, string> {
  const entries = Object.entries(fieldsOf(value, "data-plane.sources"));
  for (const [key, address] of entries) {
    if (typeof address === "string" && parseAddress(address) !== undefined) continue;
    throw new BadInput(`data-plane.sources[${JSON.stringify(key)}] must be an IP address, not ${describe(address)}`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The source address of a client's flow; always of the frontend's family. */
export function sourceFor(
  { sources }: DataPlaneSettings,
  client: string,
  frontend: { readonly key: string; readonly address: string },
): string {
  const family = frontend.address.includes(":") ? 6 : 4;
  const given = sources[client] ?? sources[frontend.key] ?? sources["*"];
  return given !== undefined && parseAddress(given)?.family === family ? given : ANYWHERE[family];
}
