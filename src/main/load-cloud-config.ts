/**
 * Reads the cloud config from a file or a Secret, as the incumbent does, and parses it with the core. All errors are reported
 * in one exception; warnings are logged.
 */
import { readFileSync } from "node:fs";

import { parse as parseYaml } from "yaml";

import type { Change } from "../core/guard/configuration-changes.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import type { CredentialConfig } from "../core/config/credential-config.ts";
import { parseConfig } from "../core/config/parse-config.ts";
import type { Log } from "../core/util/log.ts";
import type { KubeReader } from "../kube/client/kube-client.ts";
import { SECRETS, type KubeObject } from "../kube/client/resources.ts";
import { errorText } from "../core/util/text.ts";

export type CloudConfigSource =
  /** Already parsed. */
  | { readonly kind: "object"; readonly value: unknown }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "secret"; readonly namespace: string; readonly name: string; readonly key: string };

export interface LoadedConfig {
  readonly config: ClusterConfig;
  readonly credentials: CredentialConfig;
}

/** The config is invalid. The message names the file or Secret, the key, the value and the fix. */
export class CloudConfigError extends Error {
  override readonly name = "CloudConfigError";
}

export interface LoadOptions {
  readonly source: CloudConfigSource;
  readonly clusterName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly client: KubeReader;
  readonly log: Log;
  /** The one setting that the user lets differ from Azure. */
  readonly acceptedChange?: Change | undefined;
}

export async function loadCloudConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { source, clusterName, env, client, log, acceptedChange } = options;
  const where = nameOf(source);
  const parsed = parseConfig(await readSource(source, client, where), { clusterName, environment: env });
  for (const warning of parsed.warnings) log.warn(`${where}: ${warning}`);
  if (parsed.kind === "invalid") throw new CloudConfigError(`${where}: ${parsed.errors.join("; ")}`);
  return {
    config: { ...parsed.config, migratesPools: acceptedChange === "pool-type", source: where },
    credentials: parsed.credentials,
  };
}

/** Of the file or Secret, for messages. */
export function nameOf(source: CloudConfigSource): string {
  switch (source.kind) {
    case "object":
      return "cloud config";
    case "file":
      return source.path;
    case "secret":
      return `Secret ${source.namespace}/${source.name}, key ${source.key}`;
  }
}

async function readSource(source: CloudConfigSource, client: KubeReader, where: string): Promise<unknown> {
  switch (source.kind) {
    case "object":
      return source.value;
    case "file":
      return parseText(readConfigFile(source.path), where);
    case "secret":
      return parseText(await readSecret(client, source, where), where);
  }
}

function readConfigFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = errorText(error);
    throw new CloudConfigError(`cloud config ${path} cannot be read: ${why}`);
  }
}

async function readSecret(
  client: KubeReader,
  { namespace, name, key }: CloudConfigSource & { kind: "secret" },
  where: string,
): Promise<string> {
  const secret = await client.get<KubeObject & { data?: Record<string, string> }>(SECRETS, { namespace, name });
  const value = secret.data?.[key];
  if (value === undefined) {
    const keys = Object.keys(secret.data ?? {}).join(", ") || "none";
    throw new CloudConfigError(`${where}: there is no such key; the Secret has: ${keys}`);
  }
  return Buffer.from(value, "base64").toString("utf8");
}

/** YAML includes JSON. Only the first line of the parser's message is kept: the rest quotes the file, which has secrets. */
function parseText(text: string, where: string): unknown {
  try {
    return parseYaml(text) as unknown;
  } catch (error) {
    const [firstLine = ""] = errorText(error).split("\n");
    throw new CloudConfigError(`${where}: neither JSON nor YAML: ${firstLine.replace(/:$/, "")}`);
  }
}
