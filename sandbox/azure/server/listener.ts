/**
 * The HTTP(S) server: reads whole requests, sends replies. No request can end the process: unreadable requests are
 * answered with an error, a change that the disk refused with a 503, unexpected exceptions with a 500.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";

import type { IssuedCertificate } from "../../shared/certificate-authority.ts";
import { JournalWriteError } from "../../shared/journal.ts";
import { gatewayError } from "./arm-headers.ts";
import { CUT, type Answer, type HttpReply, type HttpRequest } from "./http-message.ts";
import { LOOPBACK } from "../../shared/loopback.ts";

export interface ListenOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /** Bodies above this are refused. */
  readonly maxBodyBytes: number;
  /** Enables HTTPS. */
  readonly certificate?: IssuedCertificate;
  /** Receives unexpected exceptions, which the client sees as a 500. */
  readonly onError: (error: unknown) => void;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Beyond this multiple of the limit the rest of a body is not read. */
const GIVE_UP_FACTOR = 16;
/** Longer than clients keep idle connections, so that the server never closes one under a request. */
const KEEP_ALIVE_MS = 120_000;
/** Larger than any answer. */
const UNSENT_BYTES = 64 * 1024 * 1024;

export async function listen(answer: Answer, options: ListenOptions): Promise<Listening> {
  const { certificate } = options;
  const scheme = certificate === undefined ? "http" : "https";
  const handler: RequestListener = (message, response) => {
    serve(answer, options, message, response).catch((error: unknown) => {
      options.onError(error);
      response.destroy();
    });
  };
  const server = createServer(handler);
  const front = certificate === undefined ? server : encrypted(server, certificate);
  const sockets = new Set<Socket>();
  front.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    front.once("error", reject);
    front.listen(options.port, LOOPBACK, resolve);
  });
  const { port } = front.address() as AddressInfo;
  return {
    url: `${scheme}://${LOOPBACK}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/**
 * Replaces `node:https` to avoid one defect: there, a request that arrives while the previous answer is still buffered
 * pauses the parser, and the request's next chunk fails with "Parse Error: Paused". TLS writes stay buffered until the next
 * poll of the event loop, so a fast client of a busy server loses its connection. With this high-water mark no answer
 * counts as buffered.
 */
function encrypted(server: Server, { certPem, keyPem }: IssuedCertificate): NetServer {
  const secureContext = createSecureContext({ cert: certPem, key: keyPem, minVersion: "TLSv1.2" });
  const options = { isServer: true, secureContext, ALPNProtocols: ["http/1.1"], highWaterMark: UNSENT_BYTES };
  return createNetServer((socket) => {
    socket.on("error", () => {}); // the client left before the TLS handshake
    server.emit("connection", new TLSSocket(socket, options));
  });
}

async function serve(
  answer: Answer,
  options: ListenOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = await readText(message, options.maxBodyBytes);
  if (text === undefined) return write(message, response, tooLarge(options.maxBodyBytes));
  const request = requestOf(message, text, options.certificate !== undefined);
  if (request === undefined) {
    return write(message, response, gatewayError(400, "BadRequest", "The request URI could not be parsed."));
  }
  write(message, response, await safely(answer, request, options));
}

async function safely(answer: Answer, request: HttpRequest, options: ListenOptions): Promise<HttpReply | typeof CUT> {
  try {
    return await answer(request);
  } catch (error) {
    options.onError(error);
    if (error instanceof JournalWriteError) return gatewayError(503, "ServiceUnavailable", error.message);
    const body = { error: { code: "InternalServerError", message: "An error occurred.", details: [] } };
    return { status: 500, headers: { "x-ms-failure-cause": "service" }, body };
  }
}

function tooLarge(maxBodyBytes: number): HttpReply {
  const message = `The request content size exceeds the maximum size of ${maxBodyBytes} bytes.`;
  return gatewayError(413, "RequestContentTooLarge", message, { connection: "close" });
}

/** The whole body, or `undefined` when it is larger than allowed. */
async function readText(message: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (bytes > maxBytes * GIVE_UP_FACTOR) break;
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks).toString("utf8");
}

function requestOf(message: IncomingMessage, text: string, secure: boolean): HttpRequest | undefined {
  const baseUrl = `${secure ? "https" : "http"}://${message.headers.host ?? LOOPBACK}`;
  try {
    const [rawPath = "/", ...rest] = (message.url ?? "/").split("?");
    return {
      method: message.method ?? "GET",
      path: decodeURIComponent(rawPath).replace(/\/{2,}/g, "/"),
      query: Object.fromEntries(new URLSearchParams(rest.join("?"))),
      headers: headersOf(message),
      text,
      secure,
      port: message.socket.localPort ?? 0,
      baseUrl: new URL(baseUrl).origin,
    };
  } catch {
    return undefined;
  }
}

function headersOf(message: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function write(message: IncomingMessage, response: ServerResponse, reply: HttpReply | typeof CUT): void {
  if (reply === CUT) {
    message.socket.destroy();
    return;
  }
  const text = reply.text ?? (reply.body === undefined ? "" : JSON.stringify(reply.body));
  const type = text === "" ? {} : { "content-type": "application/json; charset=utf-8" };
  const length = reply.status === 204 ? {} : { "content-length": String(Buffer.byteLength(text)) };
  response.writeHead(reply.status, { ...type, ...length, ...reply.headers });
  response.end(message.method === "HEAD" ? undefined : text);
}
