/** The cluster around this pod: the address from the environment, CA certificate and token of the service account. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { ClusterAccess } from "./cluster-access.ts";

export function inCluster(
  env: Readonly<Record<string, string | undefined>>,
  dir = "/var/run/secrets/kubernetes.io/serviceaccount",
): ClusterAccess {
  const host = env["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  const namespaceFile = join(dir, "namespace");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, "utf8").trim() : "default",
    ca: { kind: "file", file: join(dir, "ca.crt"), field: "service account: CA certificate" },
    identity: { kind: "tokenFile", file: join(dir, "token"), field: "service account: token" },
  };
}
