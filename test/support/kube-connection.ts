/**
 * Raw HTTP to the API server that a kubeconfig names, for tests that must see every byte's meaning: no client
 * library between the assertion and the server. Certificates and bearer tokens, whatever the kubeconfig has.
 */
import { readFileSync, writeFileSync } from "node:fs";

import { Agent, type Dispatcher } from "undici";
import { parse, stringify } from "yaml";

import { type WatchStream, watchStream } from "./watch-stream.ts";

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** A string goes as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; null where it is not JSON. */
  readonly body: KubeObject;
}

/** As much of an object as every kind has; the rest is looked at with assertions on parts. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: KubeMetadata;
  readonly [field: string]: unknown;
}

interface KubeMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly [field: string]: unknown;
}

export interface KubeConnection {
  readonly url: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Opens a watch (the path carries `watch=true` and the rest) and resolves when its headers are here. */
  watch(path: string, options?: RequestOptions): Promise<WatchStream>;
  close(): Promise<void>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string; "certificate-authority-data"?: string; "certificate-authority"?: string } }[];
  users: {
    user: {
      token?: string;
      "client-certificate-data"?: string;
      "client-key-data"?: string;
      "client-certificate"?: string;
      "client-key"?: string;
    };
  }[];
}

export function connect(kubeconfig: string, as: "its user" | "anonymously" = "its user"): KubeConnection {
  const config = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster;
  const user = as === "its user" ? config.users[0]?.user : {};
  if (cluster === undefined || user === undefined) throw new Error(`${kubeconfig} names no cluster or no user`);
  const ca = pem(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = pem(user["client-certificate-data"], user["client-certificate"]);
  const key = pem(user["client-key-data"], user["client-key"]);
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const agent = new Agent({ connect: tls, bodyTimeout: 0 });
  const credentials: Record<string, string> = user.token ? { authorization: `Bearer ${user.token}` } : {};
  const send = (method: string, path: string, options: RequestOptions = {}): Promise<Dispatcher.ResponseData> =>
    agent.request({
      origin: cluster.server,
      path,
      method,
      headers: { accept: "application/json", ...contentType(options.body), ...credentials, ...options.headers },
      ...(options.body !== undefined && { body: encode(options.body) }),
    });
  return {
    url: cluster.server,
    request: async (method, path, options) => read(await send(method, path, options)),
    watch: async (path, options) => watchStream(await send("GET", path, options)),
    close: () => agent.destroy(),
  };
}

async function read(response: Dispatcher.ResponseData): Promise<Reply> {
  const text = await response.body.text();
  return { code: response.statusCode, headers: response.headers, text, body: parseJson(text) as KubeObject };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function contentType(body: unknown): Record<string, string> {
  return body === undefined ? {} : { "content-type": "application/json" };
}

function encode(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

function pem(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, "base64").toString("utf8");
  return file ? readFileSync(file, "utf8") : undefined;
}

export interface KubeconfigContent {
  readonly url: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export function writeKubeconfig(path: string, content: KubeconfigContent): void {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    clusters: [{ name: "test", cluster: { server: content.url, "certificate-authority-data": base64(content.caPem) } }],
    users: [
      {
        name: "admin",
        user: { "client-certificate-data": base64(content.certPem), "client-key-data": base64(content.keyPem) },
      },
    ],
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
}
