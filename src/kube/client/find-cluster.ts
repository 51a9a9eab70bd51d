/**
 * Which cluster is meant: the kubeconfig that is named, else that of `KUBECONFIG`, else the cluster around this
 * pod, else `~/.kube/config`. Fails with one line that names file and field.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf } from "./live-credentials.ts";
import { KubeConfigError, type ClusterAccess } from "./cluster-access.ts";
import { inCluster } from "./in-cluster.ts";
import { parseKubeconfig, type KubeconfigFile } from "./kubeconfig.ts";

export interface WhereToLook {
  /** The file of `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** Where a pod finds its service account. */
  readonly serviceAccountDir?: string;
}

export function findCluster(where: WhereToLook): ClusterAccess {
  const { kubeconfig, context, env, homeDir } = where;
  if (kubeconfig !== undefined) return parseKubeconfig([readKubeconfig(kubeconfig)], context);
  if (env["KUBECONFIG"]) return parseKubeconfig(readListed(env["KUBECONFIG"]), context);
  if (env["KUBERNETES_SERVICE_HOST"] !== undefined) return inCluster(env, where.serviceAccountDir);
  const usual = join(homeDir, ".kube", "config");
  if (existsSync(usual)) return parseKubeconfig([readKubeconfig(usual)], context);
  throw new KubeConfigError(`no cluster: give --kubeconfig FILE, set KUBECONFIG, or have ${usual}`);
}

/** As kubectl: files of the list that do not exist are passed over, unless none does. */
function readListed(list: string): KubeconfigFile[] {
  const files = list.split(":").filter((file) => file !== "");
  const present = files.filter((file) => existsSync(file));
  return (present.length === 0 ? files : present).map(readKubeconfig);
}

function readKubeconfig(file: string): KubeconfigFile {
  try {
    return { file, text: readFileSync(file, "utf8") };
  } catch (error) {
    throw new KubeConfigError(`${file}: the kubeconfig cannot be read: ${codeOf(error)}`);
  }
}
