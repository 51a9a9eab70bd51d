/** Runs the command of a kubeconfig that hands out credentials (`kubelogin`, say), and reads what it prints. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { TlsMaterial } from "./credentials.ts";
import { KubeConfigError, type ClusterAccess, type ExecCommand } from "./cluster-access.ts";

export interface ExecCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** On the wall clock; none: until the server refuses it. */
  readonly expiresAtMs?: number | undefined;
}

const LONGEST_RUN_MS = 60_000;

export async function runExecPlugin(
  exec: ExecCommand,
  access: ClusterAccess,
  tls: TlsMaterial,
): Promise<ExecCredential> {
  const spec = { interactive: false, ...(exec.provideClusterInfo ? { cluster: clusterInfo(access, tls) } : {}) };
  const info = JSON.stringify({ kind: "ExecCredential", apiVersion: exec.apiVersion, spec });
  const env = { ...process.env, ...exec.env, KUBERNETES_EXEC_INFO: info };
  try {
    const { stdout } = await promisify(execFile)(exec.command, exec.args, { env, timeout: LONGEST_RUN_MS });
    return readCredential(stdout);
  } catch (error) {
    throw new KubeConfigError(`${exec.field} ${JSON.stringify(exec.command)} ${describe(error, exec)}`);
  }
}

function clusterInfo(access: ClusterAccess, tls: TlsMaterial): object {
  return {
    server: access.server,
    "tls-server-name": access.tlsServerName,
    "certificate-authority-data": tls.ca === undefined ? undefined : Buffer.from(tls.ca).toString("base64"),
    "proxy-url": access.proxyUrl,
  };
}

function readCredential(stdout: string): ExecCredential {
  const { status } = JSON.parse(stdout) as { status?: Readonly<Record<string, string | undefined>> };
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status ?? {};
  if (token === undefined && (cert === undefined || key === undefined)) {
    throw new Error("printed neither a token nor a client certificate with its key");
  }
  const expiresAtMs = expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp);
  return { token, cert, key, expiresAtMs };
}

function describe(error: unknown, exec: ExecCommand): string {
  if (error instanceof SyntaxError) return "printed no ExecCredential";
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") {
    const hint = exec.installHint?.trim().replaceAll(/\s+/g, " ");
    return `was not found${hint === undefined ? "" : `: ${hint}`}`;
  }
  if ("killed" in error && error.killed === true) return `did not finish within ${LONGEST_RUN_MS} ms`;
  const lastLine = "stderr" in error ? String(error.stderr).trim().split("\n").at(-1) : "";
  if ("code" in error) return `failed with exit code ${String(error.code)}${lastLine ? `: ${lastLine}` : ""}`;
  return error.message;
}
