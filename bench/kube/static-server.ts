/**
 * The smallest API server that both clients work with, as a separate process: lists (whole, paged, streamed) and watches of
 * objects that were serialized beforehand, so that the server itself costs little. A POST to `…?burst=N` sends N changes to
 * every watcher of that kind.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { KINDS, type Kind } from "./objects.ts";

const LIST_VERSION = "999999";
const CHUNK_BYTES = 256 * 1024;

class Collection {
  readonly kind: Kind;
  readonly watchers = new Set<ServerResponse>();
  readonly #items: Buffer[];

  constructor(kind: Kind) {
    this.kind = kind;
    this.#items = Array.from({ length: kind.count }, (_, index) => Buffer.from(JSON.stringify(kind.make(index, 0))));
  }

  *listed(limit: number, from: number): Generator<Buffer> {
    const to = Math.min(from + limit, this.#items.length);
    const more = to < this.#items.length ? { continue: String(to) } : {};
    const { kind, apiVersion } = this.kind;
    const metadata = JSON.stringify({ resourceVersion: LIST_VERSION, ...more });
    yield Buffer.from(`{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":${metadata},"items":[`);
    for (let index = from; index < to; index++) {
      if (index > from) yield Buffer.from(",");
      yield this.#items[index]!;
    }
    yield Buffer.from("]}");
  }

  *streamed(): Generator<Buffer> {
    for (const item of this.#items) yield* this.event("ADDED", item);
    const annotations = { "k8s.io/initial-events-end": "true" };
    yield* this.event(
      "BOOKMARK",
      Buffer.from(JSON.stringify({ metadata: { resourceVersion: LIST_VERSION, annotations } })),
    );
  }

  *changes(count: number): Generator<Buffer> {
    for (let change = 0; change < count; change++) {
      const index = change % this.kind.count;
      const changed = this.kind.make(index, 1 + Math.floor(change / this.kind.count));
      yield* this.event("MODIFIED", Buffer.from(JSON.stringify(changed)));
    }
  }

  *event(type: string, object: Buffer): Generator<Buffer> {
    const { kind, apiVersion } = this.kind;
    yield Buffer.from(`{"type":"${type}","object":{"kind":"${kind}","apiVersion":"${apiVersion}",`);
    yield object.subarray(1);
    yield Buffer.from("}\n");
  }
}

/** Writes large chunks, as fast as the client reads them. */
async function send(response: ServerResponse, pieces: Iterable<Buffer>): Promise<void> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const free = response.write(Buffer.concat(gathered));
    gathered = [];
    bytes = 0;
    if (!free) await new Promise((resolve) => response.once("drain", resolve));
  };
  for (const piece of pieces) {
    gathered.push(piece);
    bytes += piece.length;
    if (bytes >= CHUNK_BYTES) await flush();
  }
  if (bytes > 0) await flush();
}

async function serve(
  collections: readonly Collection[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://bench");
  const collection = collections.find(({ kind }) => kind.path === pathname);
  if (collection === undefined) return void response.writeHead(404).end();
  response.setHeader("content-type", "application/json");
  const burst = searchParams.get("burst");
  if (burst !== null) {
    const pieces = [...collection.changes(Number(burst))];
    response.end("{}");
    for (const watcher of collection.watchers) await send(watcher, pieces);
  } else if (!searchParams.has("watch")) {
    await send(
      response,
      collection.listed(Number(searchParams.get("limit") ?? Infinity), Number(searchParams.get("continue") ?? 0)),
    );
    response.end();
  } else {
    response.flushHeaders();
    if (searchParams.has("sendInitialEvents")) await send(response, collection.streamed());
    collection.watchers.add(response);
    response.on("close", () => collection.watchers.delete(response));
  }
}

const collections = KINDS.map((kind) => new Collection(kind));
const server = createServer((request, response) => {
  serve(collections, request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
