/** The emulator's settings, which can be patched while it runs: latency, throttling, roles, limits and model options. */
import {
  BadInput,
  choiceOf,
  countOf,
  describe,
  fieldsOf,
  flagOf,
  listOf,
  onlyKeys,
  textOf,
  type Fields,
} from "../../shared/input.ts";
import { parseLatencyFactor } from "../latency/latency.ts";
import { AZURE_LIMITS, type OptionOverrides, type Options } from "../model/index.ts";
import type { AzureStore } from "../store/azure-store.ts";
import { FULL_ROLE, type Role } from "../server/role.ts";
import type { Throttle } from "../server/throttle.ts";

export interface Settings {
  latencyFactor: number;
  /** Client id → role; `*` applies to all other clients. */
  roles: Record<string, Role>;
}

export interface Adjustable {
  readonly settings: Settings;
  readonly throttle: Throttle;
  readonly store: AzureStore;
}

export function roleFor(settings: Settings, clientId: string): Role {
  return settings.roles[clientId] ?? settings.roles["*"] ?? FULL_ROLE;
}

/** As the control endpoint shows them. */
export function renderSettings({ settings, throttle, store }: Adjustable): unknown {
  return {
    latency: settings.latencyFactor,
    throttling: throttle.enabled,
    roles: settings.roles,
    ...store.options,
  };
}

const OPTION_KEYS = [
  "hiddenFields",
  "adminStateSurvives",
  "pageSize",
  "operationRetentionMs",
  "regions",
  "subscriptions",
];
const KEYS = ["latency", "throttling", "roles", "limits", ...OPTION_KEYS];

/** Changes only the settings in the patch; a patch with an invalid value changes nothing. */
export function patchSettings(adjustable: Adjustable, patch: unknown): void {
  const fields = fieldsOf(patch, "settings");
  onlyKeys(fields, KEYS, "settings");
  const latency = fields["latency"] === undefined ? undefined : parseLatency(fields["latency"]);
  const throttling = fields["throttling"] === undefined ? undefined : flagOf(fields, "throttling", "settings");
  const roles = fields["roles"] === undefined ? undefined : parseRoles(fields["roles"]);
  const options = parseOptions(fields);
  if (latency !== undefined) adjustable.settings.latencyFactor = latency;
  if (throttling !== undefined) adjustable.throttle.enabled = throttling;
  if (roles !== undefined) adjustable.settings.roles = roles;
  if (Object.keys(options).length > 0) adjustable.store.setOptions(options);
}

export function parseLatency(value: unknown): number {
  const factor = parseLatencyFactor(String(value));
  if (factor !== undefined) return factor;
  throw new BadInput(`latency must be none, realistic or a factor such as 0.1, not ${describe(value)}`);
}

function parseRoles(value: unknown): Record<string, Role> {
  const roles: Record<string, Role> = {};
  for (const [clientId, role] of Object.entries(fieldsOf(value, "roles"))) {
    const where = `roles.${clientId}`;
    const fields = fieldsOf(role, where);
    onlyKeys(fields, ["actions", "notActions"], where);
    const texts = (key: string, fallback: readonly string[]): string[] =>
      listOf(fields[key] ?? fallback, `${where}.${key}`).map((_, index, list) =>
        textOf({ item: list[index] }, "item", `${where}.${key}[${index}]`),
      );
    roles[clientId] = { actions: texts("actions", ["*"]), notActions: texts("notActions", []) };
  }
  return roles;
}

function parseOptions(fields: Fields): OptionOverrides {
  const overrides: Record<string, unknown> = {};
  if (fields["limits"] !== undefined) overrides["limits"] = parseLimits(fields["limits"]);
  if (fields["adminStateSurvives"] !== undefined) {
    const where = "adminStateSurvives";
    const survives = fieldsOf(fields[where], where);
    onlyKeys(survives, ["ipMembers", "nicMembers"], where);
    overrides[where] = Object.fromEntries(Object.keys(survives).map((key) => [key, flagOf(survives, key, where)]));
  }
  for (const key of ["pageSize", "operationRetentionMs"]) {
    if (fields[key] !== undefined) overrides[key] = countOf(fields, key, "settings", 0);
  }
  for (const key of ["regions", "subscriptions"]) {
    if (fields[key] !== undefined) overrides[key] = listOf(fields[key], key).map(String);
  }
  if (fields["hiddenFields"] !== undefined) overrides["hiddenFields"] = parseHiddenFields(fields["hiddenFields"]);
  return overrides;
}

/** Limits by name; the error for an unknown name lists the known ones. */
export function parseLimits(value: unknown): Partial<Options["limits"]> {
  const fields = fieldsOf(value, "limits");
  const limits: Partial<Record<keyof Options["limits"], number>> = {};
  for (const name of Object.keys(fields)) {
    const known = choiceOf(name, Object.keys(AZURE_LIMITS) as (keyof typeof AZURE_LIMITS)[], "a key of limits");
    limits[known] = countOf(fields, name, "limits", 0);
  }
  return limits;
}

function parseHiddenFields(value: unknown): Options["hiddenFields"] {
  return listOf(value, "hiddenFields").map((item, index) => {
    const where = `hiddenFields[${index}]`;
    const fields = fieldsOf(item, where);
    onlyKeys(fields, ["type", "path", "since"], where);
    return {
      type: textOf(fields, "type", where),
      path: textOf(fields, "path", where),
      since: textOf(fields, "since", where),
    };
  });
}
