/** Sends an answer: long lists in chunks, large bodies compressed if the client accepts gzip. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";

import type { Answer } from "../model/contract.ts";

const COMPRESS_FROM_BYTES = 128 * 1024;
const ITEMS_PER_PIECE = 100;

export async function writeAnswer(message: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  response.statusCode = answer.status;
  response.setHeader("Content-Type", answer.contentType ?? "application/json");
  response.setHeader("Cache-Control", "no-cache, private");
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  const warnings = answer.warnings ?? [];
  if (warnings.length > 0)
    response.setHeader(
      "Warning",
      warnings.map((text) => `299 - ${JSON.stringify(text)}`),
    );
  if (typeof answer.body === "string" || answer.body instanceof Uint8Array) return end(response, answer.body);
  const items = (answer.body as { items?: unknown }).items;
  if (Array.isArray(items) && items.length > ITEMS_PER_PIECE) {
    return stream(message, response, pieces(answer.body as { items: unknown[] }));
  }
  const text = JSON.stringify(answer.body);
  return text.length < COMPRESS_FROM_BYTES ? end(response, text) : stream(message, response, [text]);
}

function end(response: ServerResponse, content: string | Uint8Array): void {
  response.setHeader("Content-Length", Buffer.byteLength(content));
  response.end(content);
}

/** Serializes a list in chunks, so that a long one neither blocks the event loop nor becomes one huge string. */
function* pieces(body: { items: unknown[] }): Iterable<string> {
  const { items, ...head } = body;
  yield `${JSON.stringify(head).slice(0, -1)},"items":[`;
  for (let at = 0; at < items.length; at += ITEMS_PER_PIECE) {
    const text = items
      .slice(at, at + ITEMS_PER_PIECE)
      .map((item) => JSON.stringify(item))
      .join(",");
    yield at === 0 ? text : `,${text}`;
  }
  yield "]}";
}

async function stream(message: IncomingMessage, response: ServerResponse, texts: Iterable<string>): Promise<void> {
  const source = Readable.from(texts, { objectMode: true, highWaterMark: 1 });
  if (!/\bgzip\b/.test(message.headers["accept-encoding"]?.toString() ?? "")) return pipeline(source, response);
  response.setHeader("Content-Encoding", "gzip");
  return pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), response);
}
