/**
 * Credentials that stay fresh. Files (service-account tokens, certificates) are read again every minute, exec
 * plugins run again shortly before what they gave expires, and both at once when the server refuses the credentials. While
 * a file cannot be read or a plugin fails, the former credentials stay in use.
 */
import { readFile } from "node:fs/promises";

import type { Clock } from "../../core/util/clock.ts";
import type { Access, Credentials, TlsMaterial } from "./credentials.ts";
import { runExecPlugin, type ExecCredential } from "./exec-plugin.ts";
import { KubeConfigError, type ClusterAccess, type Material } from "./cluster-access.ts";
import { sameJson } from "./resources.ts";

const FILES_STAY_FRESH_MS = 60_000;
/** A token that ends while the request is under way would be refused. */
const BEFORE_EXPIRY_MS = 30_000;
/** A server that refuses everything must not cause a plugin run per request. */
const BETWEEN_RENEWALS_MS = 10_000;

export class LiveCredentials implements Credentials {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  #current: { readonly access: Access; readonly freshUntilMs: number } | undefined;
  #reading: Promise<Access> | undefined;
  #plugin: ExecCredential | undefined;
  #renewAgainMs = Number.NEGATIVE_INFINITY;

  constructor(access: ClusterAccess, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
  }

  get server(): string {
    return this.#access.server;
  }

  get proxyUrl(): string | undefined {
    return this.#access.proxyUrl;
  }

  /** Fails with a `KubeConfigError` only as long as it never succeeded. */
  access(): Promise<Access> {
    if (this.#current !== undefined && this.#clock.monotonicMs() < this.#current.freshUntilMs) {
      return Promise.resolve(this.#current.access);
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  renew(refused: Access): boolean {
    if (this.#current !== undefined && this.#current.access !== refused) return true; // renewed meanwhile
    const { identity } = this.#access;
    if (identity.kind !== "exec" && identity.kind !== "tokenFile") return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#renewAgainMs) return false;
    this.#renewAgainMs = nowMs + BETWEEN_RENEWALS_MS;
    this.#plugin = undefined;
    if (this.#current !== undefined) this.#current = { ...this.#current, freshUntilMs: nowMs };
    return true;
  }

  async #read(): Promise<Access> {
    const before = this.#current?.access;
    let access: Access;
    try {
      access = await this.#readNow();
    } catch (error) {
      if (before === undefined) throw error;
      access = before;
    }
    // The same objects when nothing changed, so that connections are kept.
    if (before !== undefined && sameJson(before, access)) access = before;
    else if (before !== undefined && sameJson(before.tls, access.tls)) access = { ...access, tls: before.tls };
    this.#current = { access, freshUntilMs: this.#clock.monotonicMs() + FILES_STAY_FRESH_MS };
    return access;
  }

  async #readNow(): Promise<Access> {
    const { ca, cert, key, tlsServerName } = this.#access;
    const [caText, certText, keyText] = await Promise.all([ca, cert, key].map(readMaterial));
    const tls: TlsMaterial = {
      ca: caText,
      cert: certText,
      key: keyText,
      servername: tlsServerName,
    };
    const plugin = await this.#askPlugin(tls);
    const headers = this.#access.server.startsWith("http:") ? {} : await this.#headers(plugin);
    return { headers, tls: plugin?.cert === undefined ? tls : { ...tls, cert: plugin.cert, key: plugin.key } };
  }

  async #askPlugin(tls: TlsMaterial): Promise<ExecCredential | undefined> {
    const { identity } = this.#access;
    if (identity.kind !== "exec") return undefined;
    const endsMs = this.#plugin?.expiresAtMs ?? Number.POSITIVE_INFINITY;
    if (this.#plugin === undefined || endsMs - BEFORE_EXPIRY_MS - FILES_STAY_FRESH_MS < this.#clock.nowMs()) {
      this.#plugin = await runExecPlugin(identity.exec, this.#access, tls);
    }
    return this.#plugin;
  }

  /** None over plain HTTP, as kubectl has it: a token must not be readable on the network. */
  async #headers(plugin: ExecCredential | undefined): Promise<Record<string, string>> {
    const { identity } = this.#access;
    switch (identity.kind) {
      case "none":
        return {};
      case "token":
        return bearer(identity.token);
      case "tokenFile":
        return bearer((await readText(identity.file, identity.field)).trim());
      case "basic": {
        const pair = Buffer.from(`${identity.username}:${identity.password}`).toString("base64");
        return { authorization: `Basic ${pair}` };
      }
      case "exec":
        return plugin?.token === undefined ? {} : bearer(plugin.token);
    }
  }
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function readMaterial(material: Material | undefined): Promise<string | undefined> {
  if (material === undefined) return undefined;
  if (material.kind === "text") return material.text;
  const text = await readText(material.file, material.field);
  if (!text.includes("-----BEGIN ")) throw new KubeConfigError(`${material.field} ${material.file} is not PEM`);
  return text;
}

async function readText(file: string, field: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new KubeConfigError(`${field} ${file} cannot be read: ${codeOf(error)}`);
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
