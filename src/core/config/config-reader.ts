/**
 * Typed access to a raw config object. An invalid value is recorded with its key, value and what is allowed, and reading
 * goes on with the default, so that the user sees all errors at once.
 */
import { isResourceGroupName, isResourceName } from "../model/ids.ts";
import type { ConfigKey } from "./config-keys.ts";

/** What a name of an Azure resource may be. */
export const RESOURCE_NAME =
  "the name of an Azure resource: 1 to 80 letters, digits, `_`, `.` and `-`, a letter or digit first";
const GROUP_NAME = "the name of a resource group: 1 to 90 letters, digits, `_`, `(`, `)`, `.` and `-`";

/** Values that must never be logged. */
const SECRET = new Set<ConfigKey>(["aadClientSecret", "aadClientCertPassword"]);

export class ConfigReader {
  readonly errors: string[] = [];
  readonly #values = new Map<string, unknown>();

  /** Keys match without case; of a repeated key the last value counts, as with a Go decoder. */
  constructor(raw: Readonly<Record<string, unknown>>) {
    for (const [key, value] of Object.entries(raw)) {
      if (value !== null && value !== undefined) this.#values.set(key.toLowerCase(), value);
    }
  }

  raw(key: ConfigKey): unknown {
    return this.#values.get(key.toLowerCase());
  }

  /** `""` where the key is absent. */
  text(key: ConfigKey): string {
    const value = this.raw(key);
    if (value === undefined || typeof value === "string") return value?.trim() ?? "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return this.#wrong(key, value, "text", "");
  }

  /** Items between commas, without blank ones. */
  items(key: ConfigKey, byDefault: readonly string[]): readonly string[] {
    const items = this.text(key)
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    return items.length > 0 ? items : byDefault;
  }

  required(key: ConfigKey): string {
    const value = this.text(key);
    if (value === "") this.errors.push(`${key} is missing: give it a value in the cloud config`);
    return value;
  }

  /** Of an Azure resource, which becomes part of a path; `""` where the key is absent. */
  resourceName(key: ConfigKey): string {
    const value = this.text(key);
    return value === "" || isResourceName(value) ? value : this.#wrong(key, value, RESOURCE_NAME, "");
  }

  /** Of a health probe. */
  path(key: ConfigKey, byDefault: string): string {
    const value = this.text(key) || byDefault;
    return /\s/.test(value) ? this.#wrong(key, value, "a path without blanks, such as /healthz", byDefault) : value;
  }

  /** The same of a resource group. */
  groupName(key: ConfigKey): string {
    const value = this.text(key);
    return value === "" || isResourceGroupName(value) ? value : this.#wrong(key, value, GROUP_NAME, "");
  }

  flag(key: ConfigKey, byDefault: boolean): boolean {
    const value = this.raw(key) ?? byDefault;
    if (typeof value === "boolean") return value;
    if (typeof value === "string" && /^(true|false)$/i.test(value.trim())) return value.trim().toLowerCase() === "true";
    if (value === "") return byDefault;
    return this.#wrong(key, value, "true or false", byDefault);
  }

  integer(key: ConfigKey, byDefault: number, [least, most]: readonly [number, number]): number {
    const value = this.raw(key);
    if (value === undefined || value === "") return byDefault;
    const number = typeof value === "string" && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most) return number;
    return this.#wrong(key, value, `a whole number from ${least} to ${most}`, byDefault);
  }

  /** One of `allowed`, compared without case; the first of them by default. */
  choice<Choice extends string>(key: ConfigKey, allowed: readonly [Choice, ...Choice[]]): Choice {
    const value = this.text(key);
    if (value === "") return allowed[0];
    const found = allowed.find((choice) => choice.toLowerCase() === value.toLowerCase());
    return found ?? this.#wrong(key, value, allowed.join(", "), allowed[0]);
  }

  /** `name=number` between commas, for names that `byDefault` has. */
  numbers<Name extends string>(
    key: ConfigKey,
    byDefault: Readonly<Record<Name, number>>,
  ): Readonly<Record<Name, number>> {
    const found: Record<Name, number> = { ...byDefault };
    const names = Object.keys(byDefault) as Name[];
    for (const item of this.items(key, [])) {
      const [, written, number] = /^(\w+)\s*=\s*(\d+)$/.exec(item) ?? [];
      const name = names.find((one) => one.toLowerCase() === written?.toLowerCase());
      if (name === undefined) {
        return this.#wrong(key, item, `${names.join(", ")}, each as name=number, between commas`, byDefault);
      }
      found[name] = Number(number);
    }
    return found;
  }

  textMap(key: ConfigKey): Readonly<Record<string, string>> {
    const value = this.raw(key) ?? {};
    if (!isRecord(value) || !Object.values(value).every((entry) => typeof entry === "string")) {
      return this.#wrong(key, value, "an object of texts", {});
    }
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name.trim(), String(entry).trim()]));
  }

  list(key: ConfigKey): readonly unknown[] {
    const value = this.raw(key) ?? [];
    return Array.isArray(value) ? value : this.#wrong(key, value, "a list", []);
  }

  #wrong<Fallback>(key: ConfigKey, value: unknown, allowed: string, fallback: Fallback): Fallback {
    const shown = SECRET.has(key) ? "(hidden)" : JSON.stringify(value);
    this.errors.push(`${key} is ${shown}, allowed: ${allowed}`);
    return fallback;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
