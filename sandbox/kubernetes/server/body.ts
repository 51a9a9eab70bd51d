/** Reads a request's body and parses it from any of the media types that kubectl sends. */
import type { IncomingMessage } from "node:http";

import { parse as parseYaml } from "yaml";

import { decodeProtobuf, PROTOBUF } from "./protobuf/decode.ts";

/** The limit of kube-apiserver. */
const BODY_LIMIT = 3 * 1024 * 1024;

export interface ParsedBody {
  readonly body?: unknown;
  readonly problem?: string;
  readonly tooLarge?: boolean;
  readonly unsupported?: boolean;
}

export async function readBody(message: IncomingMessage): Promise<ParsedBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  if (size > BODY_LIMIT) return { tooLarge: true };
  return size === 0 ? {} : parseBody(Buffer.concat(chunks), mediaType(message));
}

/** The media type without parameters; absent means JSON. */
export function mediaType(message: IncomingMessage): string {
  const type = message.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  return type === "" ? "application/json" : type;
}

function parseJsonOrYaml(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return parseYaml(text) as unknown;
  }
}

function parseBody(bytes: Buffer, type: string): ParsedBody {
  try {
    if (type === PROTOBUF) return { body: decodeProtobuf(bytes) };
    // Apply configurations are called YAML, though most clients send JSON.
    if (type.endsWith("yaml") && bytes[0] === 0x7b) return { body: parseJsonOrYaml(bytes.toString()) };
    if (type.endsWith("yaml")) return { body: parseYaml(bytes.toString()) as unknown };
    if (type.endsWith("json") || type === "*/*") return { body: JSON.parse(bytes.toString()) as unknown };
    return { unsupported: true };
  } catch (error) {
    return { problem: `the body of the request could not be decoded: ${(error as Error).message}` };
  }
}
