/**
 * A resource manager in memory, small enough to be obviously right: resources by id with one ETag each, conditional
 * writes, lists, and (when told to) operations that take some polls. It validates nothing. Tests interpose what else
 * Azure may do. For real behaviour there is the emulator.
 */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../src/azure/arm/transport.ts";
import type { Clock } from "../../src/core/util/clock.ts";

type Body = Readonly<Record<string, unknown>>;

export interface MemoryArmOptions {
  readonly clock: Clock;
  /** Between the moment a request takes effect and its answer. */
  readonly replyMs?: number;
  /** How long writes take after they were accepted; absent: they are over with their answer. */
  readonly operationMs?: number;
}

interface Operation {
  readonly id: string;
  readonly deletes: boolean;
  readonly endMs: number;
  /** Of what it works on; none once it is over. */
  etag: unknown;
}

export class MemoryArm implements ArmTransport {
  static readonly url = "https://arm.test";
  readonly #options: MemoryArmOptions;
  /** By id in lower case. */
  readonly #resources = new Map<string, Body>();
  readonly #operations = new Map<string, Operation>();
  #changes = 0;
  /** Every request that arrived, oldest first. */
  readonly requests: ArmRequest[] = [];
  /** Sees each request first; what it returns or throws is the answer. */
  interpose: (request: ArmRequest) => Promise<ArmResponse | undefined> | ArmResponse | undefined = () => undefined;

  constructor(options: MemoryArmOptions) {
    this.#options = options;
  }

  async send(request: ArmRequest): Promise<ArmResponse> {
    this.requests.push(request);
    const answer = (await this.interpose(request)) ?? this.answer(request);
    if (this.#options.replyMs) await this.#options.clock.sleep(this.#options.replyMs);
    return answer;
  }

  async close(): Promise<void> {}

  /** What the request comes to, effect and answer. */
  answer(request: ArmRequest): ArmResponse {
    const id = decodeURIComponent(new URL(request.url).pathname);
    if (id.startsWith("/operations/")) return this.#poll(id);
    if (request.method === "PUT") return this.#put(id, request);
    if (request.method === "DELETE") return this.#delete(id, request);
    return isList(id) ? this.#list(id) : this.#get(id);
  }

  read(id: string): Body | undefined {
    this.#endOperations();
    return this.#resources.get(id.toLowerCase());
  }

  /** A change by another client; `undefined` removes it. */
  write(id: string, body: Body | undefined): void {
    if (body === undefined) this.#resources.delete(id.toLowerCase());
    else this.#resources.set(id.toLowerCase(), { ...body, id, name: id.split("/").at(-1), etag: this.#nextEtag() });
  }

  /** Requests of a method whose path ends so. */
  count(method: string, end = ""): number {
    return this.requests.filter((request) => {
      return request.method === method && new URL(request.url).pathname.endsWith(end);
    }).length;
  }

  #get(id: string): ArmResponse {
    const body = this.read(id);
    return body === undefined ? error(404, "ResourceNotFound") : json(200, body);
  }

  #list(path: string): ArmResponse {
    const prefix = `${path.toLowerCase()}/`;
    this.#endOperations();
    const value = [...this.#resources].filter(
      ([id]) => id.startsWith(prefix) && !id.slice(prefix.length).includes("/"),
    );
    return json(200, { value: value.map(([, body]) => body) });
  }

  #put(id: string, request: ArmRequest): ArmResponse {
    const seen = this.read(id);
    if (!holds(request, seen)) return error(412, "PreconditionFailed");
    const sent = JSON.parse(request.body ?? "{}") as { properties?: Body };
    const isLong = this.#options.operationMs !== undefined;
    const provisioningState = isLong ? "Updating" : "Succeeded";
    this.write(id, { ...sent, properties: { ...sent.properties, provisioningState } });
    return json(seen === undefined ? 201 : 200, this.read(id), isLong ? this.#operation(id, false) : {});
  }

  #delete(id: string, request: ArmRequest): ArmResponse {
    const seen = this.read(id);
    if (seen === undefined) return { status: 204, headers: {}, body: "" };
    if (!holds(request, seen)) return error(412, "PreconditionFailed");
    if (this.#options.operationMs === undefined) {
      this.write(id, undefined);
      return { status: 200, headers: {}, body: "" };
    }
    this.write(id, { ...seen, properties: { ...(seen["properties"] as Body), provisioningState: "Deleting" } });
    return { status: 202, headers: this.#operation(id, true), body: "" };
  }

  #operation(id: string, deletes: boolean): Record<string, string> {
    const path = `/operations/${++this.#changes}`;
    const endMs = this.#options.clock.monotonicMs() + (this.#options.operationMs ?? 0);
    this.#operations.set(path, { id, deletes, endMs, etag: this.#resources.get(id.toLowerCase())?.["etag"] });
    return { "azure-asyncoperation": `${MemoryArm.url}${path}` };
  }

  #poll(path: string): ArmResponse {
    const operation = this.#operations.get(path);
    if (operation === undefined) return error(404, "NotFound");
    this.#endOperations();
    const isOver = operation.endMs <= this.#options.clock.monotonicMs();
    return json(200, { status: isOver ? "Succeeded" : "InProgress" });
  }

  /** The last write wins: an operation on what was written since has no effect. */
  #endOperations(): void {
    for (const operation of this.#operations.values()) {
      const { id, deletes, endMs, etag } = operation;
      const body = this.#resources.get(id.toLowerCase());
      if (endMs > this.#options.clock.monotonicMs() || body === undefined || body["etag"] !== etag) continue;
      operation.etag = undefined;
      const properties = { ...(body["properties"] as Body), provisioningState: "Succeeded" };
      this.write(id, deletes ? undefined : { ...body, properties });
    }
  }

  #nextEtag(): string {
    return `W/"${++this.#changes}"`;
  }
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): ArmResponse {
  return { status, headers, body: JSON.stringify(body) };
}

export function error(status: number, code: string, more: { message?: string; details?: unknown[] } = {}): ArmResponse {
  return json(status, { error: { code, message: more.message ?? `${code} happened.`, details: more.details ?? [] } });
}

function holds({ headers }: ArmRequest, seen: Body | undefined): boolean {
  if (headers["if-none-match"] === "*" && seen !== undefined) return false;
  return headers["if-match"] === undefined || headers["if-match"] === seen?.["etag"];
}

/** A path below the provider with an odd number of segments names a collection. */
function isList(path: string): boolean {
  const below = /\/providers\/[^/]+\/(.+)$/.exec(path)?.[1] ?? "";
  return below.split("/").length % 2 === 1;
}
