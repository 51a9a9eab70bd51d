/** Where the cloud config is: a file, or a Secret of the cluster. */
import type { Command } from "commander";

import type { CloudConfigSource } from "../main/load-cloud-config.ts";
import { InputError } from "./input-error.ts";

export interface CloudConfigFlags {
  readonly cloudConfig?: string;
  readonly cloudConfigSecretName?: string;
  readonly cloudConfigSecretNamespace: string;
  readonly cloudConfigKey: string;
}

export function withCloudConfigFlags(command: Command): Command {
  return command
    .option("--cloud-config <file>", "azure.json: JSON or YAML")
    .option("--cloud-config-secret-name <name>", "read the cloud config from this Secret instead")
    .option("--cloud-config-secret-namespace <namespace>", "namespace of that Secret", "kube-system")
    .option("--cloud-config-key <key>", "key in that Secret", "cloud-config");
}

export function cloudConfigSource(flags: CloudConfigFlags): CloudConfigSource {
  if (flags.cloudConfig !== undefined) return { kind: "file", path: flags.cloudConfig };
  const { cloudConfigSecretName: name, cloudConfigSecretNamespace: namespace, cloudConfigKey: key } = flags;
  if (name !== undefined) return { kind: "secret", namespace, name, key };
  throw new InputError("there is no cloud config: give --cloud-config FILE or --cloud-config-secret-name NAME");
}
