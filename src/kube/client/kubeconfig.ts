/**
 * A kubeconfig, parsed: which server, and how to authenticate. Pure: it names the files and commands that hold
 * secrets and leaves reading and running them to `live-credentials.ts`. Everything it refuses is one line
 * with file and field.
 *
 * Several files merge as kubectl merges them: of entries with the same name the first counts, and paths are
 * relative to the file that they stand in.
 */
import { dirname, resolve } from "node:path";

import { parse } from "yaml";

import {
  KubeConfigError,
  type ClusterAccess,
  type ExecCommand,
  type Identity,
  type Material,
} from "./cluster-access.ts";

export interface KubeconfigFile {
  readonly file: string;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A part of a kubeconfig that knows where it stands. */
class Part {
  readonly file: string;
  readonly path: string;
  readonly #fields: Fields;

  constructor(file: string, path: string, value: unknown) {
    this.file = file;
    this.path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new KubeConfigError(`${file}: ${path || "the file"} must be a map of fields`);
    }
    this.#fields = value as Fields;
  }

  where(field: string): string {
    return `${this.file}: ${this.path === "" ? "" : `${this.path}.`}${field}`;
  }

  refuse(field: string, why: string): never {
    throw new KubeConfigError(`${this.where(field)} ${why}`);
  }

  has(field: string): boolean {
    return this.#fields[field] !== undefined && this.#fields[field] !== null;
  }

  text(field: string): string | undefined {
    const value = this.#fields[field] ?? undefined;
    if (value === undefined || value === "") return undefined;
    if (typeof value !== "string") this.refuse(field, `must be a string, not ${JSON.stringify(value)}`);
    return value;
  }

  flag(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value !== "boolean") this.refuse(field, `must be true or false, not ${JSON.stringify(value)}`);
    return value;
  }

  list(field: string): readonly unknown[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value)) this.refuse(field, "must be a list");
    return value;
  }

  part(field: string): Part {
    return new Part(this.file, this.path === "" ? field : `${this.path}.${field}`, this.#fields[field]);
  }

  /** Paths in a kubeconfig are relative to it. */
  filePath(field: string): string | undefined {
    const path = this.text(field);
    return path === undefined ? undefined : resolve(dirname(this.file), path);
  }
}

export function parseKubeconfig(files: readonly KubeconfigFile[], contextName?: string): ClusterAccess {
  const parts = files.map(({ file, text }) => new Part(file, "", parseYaml(file, text)));
  const wanted = contextName ?? parts.map((part) => part.text("current-context")).find((name) => name !== undefined);
  const first = files[0]?.file ?? "kubeconfig";
  if (wanted === undefined) throw new KubeConfigError(`${first}: current-context is missing: name a context`);
  const named = contextName === undefined ? "current-context" : "--context";
  const context = namedPart(parts, "context", wanted) ?? missing(first, named, "context", wanted);
  const clusterName = context.text("cluster") ?? context.refuse("cluster", "is missing");
  const cluster = namedPart(parts, "cluster", clusterName) ?? missing(first, context.path, "cluster", clusterName);
  const userName = context.text("user");
  const user = userName === undefined ? undefined : namedPart(parts, "user", userName);
  if (userName !== undefined && user === undefined) missing(first, context.path, "user", userName);
  return { namespace: context.text("namespace") ?? "default", ...clusterOf(cluster), ...userOf(user) };
}

function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const [line] = String(error instanceof Error ? error.message : error).split("\n");
    throw new KubeConfigError(`${file}: not YAML: ${line}`);
  }
}

function missing(file: string, path: string, what: string, name: string): never {
  throw new KubeConfigError(`${file}: ${path} names ${what} "${name}", but ${what}s has no entry of that name`);
}

function namedPart(parts: readonly Part[], what: "cluster" | "context" | "user", name: string): Part | undefined {
  for (const part of parts) {
    for (const [index, value] of part.list(`${what}s`).entries()) {
      const entry = new Part(part.file, `${what}s[${index}]`, value);
      if (entry.text("name") === name) return entry.part(what);
    }
  }
  return undefined;
}

type ClusterPart = Pick<ClusterAccess, "server" | "proxyUrl" | "tlsServerName" | "ca">;

function clusterOf(cluster: Part): ClusterPart {
  const server = cluster.text("server") ?? cluster.refuse("server", "is missing");
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? "")) {
    cluster.refuse("server", `must be an https:// URL, not "${server}"`);
  }
  if (cluster.flag("insecure-skip-tls-verify")) {
    cluster.refuse(
      "insecure-skip-tls-verify",
      "is not supported: name the server's authority in certificate-authority",
    );
  }
  return {
    server,
    proxyUrl: cluster.text("proxy-url"),
    tlsServerName: cluster.text("tls-server-name"),
    ca: material(cluster, "certificate-authority"),
  };
}

function userOf(user: Part | undefined): Pick<ClusterAccess, "identity" | "cert" | "key"> {
  if (user === undefined) return { identity: { kind: "none" } };
  for (const field of ["as", "as-groups", "as-uid", "as-user-extra"]) {
    if (user.has(field)) user.refuse(field, "(impersonation) is not supported: use credentials of that user");
  }
  const cert = material(user, "client-certificate");
  const key = material(user, "client-key");
  if (cert !== undefined && key === undefined) user.refuse("client-key", "is missing: client-certificate needs it");
  return { identity: identityOf(user), cert, key };
}

function identityOf(user: Part): Identity {
  if (user.has("auth-provider")) {
    user.refuse("auth-provider", "is not supported any more: use exec (kubelogin convert-kubeconfig)");
  }
  if (user.has("exec")) return { kind: "exec", exec: execOf(user.part("exec")) };
  const file = user.filePath("tokenFile");
  if (file !== undefined) return { kind: "tokenFile", file, field: user.where("tokenFile") };
  const token = user.text("token");
  if (token !== undefined) return { kind: "token", token };
  const username = user.text("username");
  return username === undefined ? { kind: "none" } : { kind: "basic", username, password: user.text("password") ?? "" };
}

const EXEC_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

function execOf(exec: Part): ExecCommand {
  const command = exec.text("command") ?? exec.refuse("command", "is missing");
  const apiVersion = exec.text("apiVersion") ?? exec.refuse("apiVersion", "is missing");
  if (!EXEC_VERSIONS.includes(apiVersion)) {
    exec.refuse("apiVersion", `must be ${EXEC_VERSIONS.join(" or ")}, not "${apiVersion}"`);
  }
  if (exec.text("interactiveMode") === "Always") exec.refuse("interactiveMode", "Always: nobody is there to answer");
  const env = exec.list("env").map((value, index) => {
    const pair = new Part(exec.file, `${exec.path}.env[${index}]`, value);
    return [pair.text("name") ?? pair.refuse("name", "is missing"), pair.text("value") ?? ""] as const;
  });
  return {
    // As kubectl: a bare name is looked up in PATH, anything with a slash is relative to the kubeconfig.
    command: command.includes("/") ? resolve(dirname(exec.file), command) : command,
    args: exec.list("args").map(String),
    env: Object.fromEntries(env),
    apiVersion,
    provideClusterInfo: exec.flag("provideClusterInfo"),
    installHint: exec.text("installHint"),
    field: exec.where("command"),
  };
}

/** `X-data` is base64 of PEM and goes before `X`, a file. */
function material(part: Part, field: string): Material | undefined {
  const data = part.text(`${field}-data`);
  if (data !== undefined) {
    const text = Buffer.from(data, "base64").toString("utf8");
    if (!text.includes("-----BEGIN ")) part.refuse(`${field}-data`, "must be base64 of PEM");
    return { kind: "text", text };
  }
  const file = part.filePath(field);
  return file === undefined ? undefined : { kind: "file", file, field: part.where(field) };
}
