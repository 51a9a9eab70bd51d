/**
 * Receives traces as a collector does (OTLP over HTTP, both encodings) and keeps the spans. Reads the wire itself, by the field
 * numbers of opentelemetry-proto's trace.proto, so that nothing of the exporter's is on this side. What is not OTLP is answered
 * with 400 and kept as a problem.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it has none. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly atNs: bigint }[];
  /** Span ids. */
  readonly links: readonly string[];
  /** 2: error. */
  readonly status: number;
  readonly problem: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[] = [];
  readonly problems: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request).then(
        () => response.writeHead(200, { "content-type": request.headers["content-type"] ?? "" }).end(emptyFor(request)),
        (error: unknown) => {
          this.problems.push(String(error));
          response.writeHead(400).end();
        },
      );
    });
  }

  static async open(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage): Promise<void> {
    const { url = "", headers, method } = request;
    this.requests.push({ path: url, headers });
    const sent = await buffer(request);
    if (method !== "POST" || url !== "/v1/traces") throw new Error(`${method} ${url} is no export of traces`);
    const body = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    this.spans.push(...(isJson(request) ? fromJson(body) : fromProtobuf(body)));
  }
}

function isJson({ headers }: IncomingMessage): boolean {
  const type = headers["content-type"];
  if (type !== "application/json" && type !== "application/x-protobuf") throw new Error(`content-type ${type}`);
  return type === "application/json";
}

function emptyFor(request: IncomingMessage): string {
  return isJson(request) ? "{}" : "";
}

type Json = Readonly<Record<string, unknown>>;

/** The JSON mapping of OTLP: ids in hex, 64-bit numbers as text. */
function fromJson(body: Buffer): ReceivedSpan[] {
  const listed = (value: unknown): readonly Json[] => (value as readonly Json[] | undefined) ?? [];
  const text = (value: unknown): string => (value as string | undefined) ?? "";
  const attributesOf = (value: unknown): Json =>
    Object.fromEntries(listed(value).map(({ key, value: held }) => [text(key), valueOf(held as Json)]));
  const valueOf = (value: Json): unknown => {
    const { arrayValue, intValue } = value;
    if (arrayValue !== undefined) return listed((arrayValue as Json)["values"]).map(valueOf);
    return intValue === undefined ? Object.values(value)[0] : Number(intValue);
  };
  const spanOf = (span: Json, resource: Json): ReceivedSpan => ({
    traceId: hexOf(text(span["traceId"]), 32),
    spanId: hexOf(text(span["spanId"]), 16),
    parentSpanId: text(span["parentSpanId"]),
    name: text(span["name"]),
    kind: span["kind"] as number,
    startNs: BigInt(text(span["startTimeUnixNano"])),
    endNs: BigInt(text(span["endTimeUnixNano"])),
    attributes: attributesOf(span["attributes"]),
    events: listed(span["events"]).map(({ name, timeUnixNano }) => ({
      name: text(name),
      atNs: BigInt(text(timeUnixNano)),
    })),
    links: listed(span["links"]).map(({ spanId }) => text(spanId)),
    status: ((span["status"] as Json | undefined)?.["code"] as number | undefined) ?? 0,
    problem: text((span["status"] as Json | undefined)?.["message"]),
    resource,
  });
  const { resourceSpans } = JSON.parse(body.toString()) as Json;
  return listed(resourceSpans).flatMap(({ resource, scopeSpans }) =>
    listed(scopeSpans).flatMap(({ spans }) =>
      listed(spans).map((span) => spanOf(span, attributesOf((resource as Json)["attributes"]))),
    ),
  );
}

function hexOf(id: string, length: number): string {
  if (id.length !== length || !/^[0-9a-f]+$/.test(id)) throw new Error(`"${id}" is no id`);
  return id;
}

/** Numbers of the fields of trace.proto, common.proto and resource.proto. */
function fromProtobuf(body: Buffer): ReceivedSpan[] {
  return new Message(body).messages(1).flatMap((resourceSpans) => {
    const [resource] = resourceSpans.messages(1);
    const attributes = resource === undefined ? {} : attributesOf(resource.messages(1));
    const spans = resourceSpans.messages(2).flatMap((scopeSpans) => scopeSpans.messages(2));
    return spans.map((span) => spanOfMessage(span, attributes));
  });
}

function spanOfMessage(span: Message, resource: Json): ReceivedSpan {
  const [status] = span.messages(15);
  return {
    traceId: hexOf(span.bytes(1).toString("hex"), 32),
    spanId: hexOf(span.bytes(2).toString("hex"), 16),
    parentSpanId: span.bytes(4).toString("hex"),
    name: span.bytes(5).toString(),
    kind: Number(span.number(6)),
    startNs: span.number(7),
    endNs: span.number(8),
    attributes: attributesOf(span.messages(9)),
    events: span.messages(11).map((event) => ({ name: event.bytes(2).toString(), atNs: event.number(1) })),
    links: span.messages(13).map((link) => link.bytes(2).toString("hex")),
    status: Number(status?.number(3) ?? 0n),
    problem: status?.bytes(2).toString() ?? "",
    resource,
  };
}

function attributesOf(pairs: readonly Message[]): Json {
  return Object.fromEntries(pairs.map((pair) => [pair.bytes(1).toString(), anyValueOf(pair.messages(2)[0])]));
}

function anyValueOf(value: Message | undefined): unknown {
  if (value === undefined) return undefined;
  if (value.has(1)) return value.bytes(1).toString();
  if (value.has(2)) return value.number(2) === 1n;
  if (value.has(3)) return Number(value.number(3));
  if (value.has(5)) return value.messages(5)[0]?.messages(1).map(anyValueOf);
  throw new Error("an attribute of a kind that azlb does not write");
}

/** A message of protobuf's wire format, by field number. */
class Message {
  readonly #fields = new Map<number, (Buffer | bigint)[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes[at++];
        if (byte === undefined) throw new Error("the body ends too early");
        value |= BigInt(byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    const taken = (length: number): Buffer => {
      if (at + length > bytes.length) throw new Error("the body ends too early");
      at += length;
      return bytes.subarray(at - length, at);
    };
    const valueOf = (wireType: number): Buffer | bigint => {
      if (wireType === 0) return varint();
      if (wireType === 1) return taken(8).readBigUInt64LE();
      if (wireType === 2) return taken(Number(varint()));
      if (wireType === 5) return BigInt(taken(4).readUInt32LE());
      throw new Error(`wire type ${wireType}`);
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      const values = this.#fields.get(tag >> 3) ?? [];
      this.#fields.set(tag >> 3, values);
      values.push(valueOf(tag & 7));
    }
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  bytes(field: number): Buffer {
    const value = this.#fields.get(field)?.[0];
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  }

  number(field: number): bigint {
    const value = this.#fields.get(field)?.[0];
    return typeof value === "bigint" ? value : 0n;
  }

  messages(field: number): readonly Message[] {
    return (this.#fields.get(field) ?? []).map(
      (value) => new Message(Buffer.isBuffer(value) ? value : Buffer.alloc(0)),
    );
  }
}
