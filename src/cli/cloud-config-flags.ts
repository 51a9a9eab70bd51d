/** Where the cloud config comes from: a file, or a Secret of the cluster. Flags take precedence over the environment. */
import type { Command } from "commander";

import type { CloudConfigSource } from "../main/load-cloud-config.ts";
import { InputError } from "./input-error.ts";

/** Environment variable with the file, used if no flag names one. */
export const CLOUD_CONFIG_VARIABLE = "AZLB_CLOUD_CONFIG";

export interface CloudConfigFlags {
  readonly cloudConfig?: string;
  readonly cloudConfigSecretName?: string;
  readonly cloudConfigSecretNamespace: string;
  readonly cloudConfigKey: string;
}

export function withCloudConfigFlags(command: Command): Command {
  return command
    .option("--cloud-config <file>", `azure.json: JSON or YAML (default: ${CLOUD_CONFIG_VARIABLE})`)
    .option("--cloud-config-secret-name <name>", "read the cloud config from this Secret instead")
    .option("--cloud-config-secret-namespace <namespace>", "namespace of that Secret", "kube-system")
    .option("--cloud-config-key <key>", "key in that Secret", "cloud-config");
}

type Environment = Readonly<Record<string, string | undefined>>;

export function cloudConfigSource(flags: CloudConfigFlags, env: Environment = process.env): CloudConfigSource {
  const { cloudConfig, cloudConfigSecretName: name } = flags;
  if (cloudConfig !== undefined) return { kind: "file", path: cloudConfig };
  if (name !== undefined) {
    return { kind: "secret", namespace: flags.cloudConfigSecretNamespace, name, key: flags.cloudConfigKey };
  }
  const exported = env[CLOUD_CONFIG_VARIABLE];
  if (exported) return { kind: "file", path: exported };
  throw new InputError(
    `there is no cloud config: give --cloud-config FILE or --cloud-config-secret-name NAME, or set ${CLOUD_CONFIG_VARIABLE}`,
  );
}
