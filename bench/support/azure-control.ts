/** A client of the emulator's control endpoint: its settings, and the audit log of the requests that Azure received. */

export interface AuditEntry {
  readonly sequence: number;
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly type: string | null;
  readonly verb: string | null;
  readonly poll: boolean;
  readonly status: number;
  readonly durationMs: number;
  readonly operationMs: number | null;
  readonly diff: readonly { readonly changes: readonly { readonly path: string; readonly after?: unknown }[] }[];
}

/** A resource as the emulator keeps it. */
interface StoredResource {
  readonly id: string;
  readonly body: unknown;
}

export class AzureControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Requests since the given sequence number, polls and sign-ins included. */
  async audit(after = 0): Promise<readonly AuditEntry[]> {
    const { entries } = (await this.#get(`/audit?after=${after}`)) as { entries: readonly AuditEntry[] };
    return entries;
  }

  /** Sequence number of the latest request; 0 before the first. */
  async lastSequence(): Promise<number> {
    const { entries } = (await this.#get("/audit?limit=1")) as { entries: readonly AuditEntry[] };
    return entries.at(-1)?.sequence ?? 0;
  }

  /** Everything that there is, read at once and without a call that counts. */
  async resources(): Promise<readonly StoredResource[]> {
    const { resources } = (await this.#get("/state")) as { resources: readonly StoredResource[] };
    return resources;
  }

  /** Latency, throttling and the rest: docs/emulator.md. */
  async change(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#ask("PATCH", "/settings", settings);
  }

  #get(path: string): Promise<unknown> {
    return this.#ask("GET", path);
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!response.ok) throw new Error(`${method} ${path} of the control endpoint: ${response.status}`);
    return response.json();
  }
}

/** `PUT loadBalancers` → how many; polls and sign-ins don't count. */
export function countCalls(entries: readonly AuditEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { verb, type, poll } of entries) {
    if (poll || verb === null || type === null) continue;
    const name = `${verb} ${type.slice(type.indexOf("/") + 1)}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

export function countReads(entries: readonly AuditEntry[]): number {
  return entries.filter(({ verb, poll }) => !poll && (verb === "GET" || verb === "LIST")).length;
}

export function countWrites(entries: readonly AuditEntry[]): number {
  return entries.filter(({ verb, poll }) => !poll && verb !== null && verb !== "GET" && verb !== "LIST").length;
}
