/** The HTTPS server: authentication, bodies and streams. The model decides every answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

import { JournalWriteError } from "../../shared/journal.ts";
import type { Answer, ApiRequest, Reply, User } from "../model/contract.ts";
import { methodNotAllowed, StatusError, unsupportedMediaType } from "../model/status-error.ts";
import { authenticate, type Credentials, impersonation } from "./authenticate.ts";
import { mediaType, readBody } from "./body.ts";
import { CUT } from "./fault-injecting-api.ts";
import type { WatchHub } from "./watch-hub.ts";
import { writeAnswer } from "./write-answer.ts";
import { LOOPBACK } from "../../shared/loopback.ts";

export interface KubeServerOptions {
  readonly port: number;
  readonly certPem: string;
  readonly keyPem: string;
  readonly caPem: string;
  readonly credentials: Credentials;
  /** Answers a request: the model with injected faults. */
  handle(request: ApiRequest): Promise<Reply | typeof CUT>;
  readonly watches: WatchHub;
  log(line: string): void;
}

const UNAUTHORIZED = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "Unauthorized",
  reason: "Unauthorized",
  code: 401,
};

/** Opens the port; the returned server is listening. */
export async function listen(options: KubeServerOptions): Promise<{ server: Server; port: number }> {
  const tls = {
    cert: options.certPem,
    key: options.keyPem,
    ca: options.caPem,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = createServer(tls, (message, response) => {
    serve(options, message, response).catch((error: unknown) => fail(options, response, error));
  });
  server.keepAliveTimeout = 90_000;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, LOOPBACK, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function serve(options: KubeServerOptions, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const user = authenticate(message, options.credentials);
  if (user === undefined) {
    message.resume();
    return writeAnswer(message, response, answerOf(401, UNAUTHORIZED));
  }
  const request = await requestOf(message, user);
  const reply = "kind" in request ? request : await options.handle(request);
  if (response.destroyed) return;
  if (reply === CUT) return void message.socket.destroy();
  if (reply.kind === "answer") return writeAnswer(message, response, reply);
  options.watches.serve(reply, response);
}

async function requestOf(message: IncomingMessage, user: User): Promise<ApiRequest | Answer> {
  const url = new URL(message.url ?? "/", "https://kubernetes");
  const parsed = await readBody(message);
  if (parsed.tooLarge) return refused(new StatusError(413, "RequestEntityTooLarge", "the request body is above 3 MiB"));
  if (parsed.unsupported) {
    return refused(unsupportedMediaType(`the body of the request was in an unknown format: ${mediaType(message)}`));
  }
  if (message.method === undefined || message.method === "HEAD") return refused(methodNotAllowed());
  const impersonated = impersonation(message);
  return {
    method: message.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    accept: message.headers.accept ?? "",
    contentType: mediaType(message),
    user,
    ...(impersonated === undefined ? {} : { impersonated }),
    userAgent: message.headers["user-agent"] ?? "",
    body: parsed.body,
    ...(parsed.problem === undefined ? {} : { bodyProblem: parsed.problem }),
  };
}

function answerOf(status: number, body: unknown): Answer {
  return { kind: "answer", status, body };
}

function refused(error: StatusError): Answer {
  return answerOf(error.code, error.toStatus());
}

/** Answers 503 for a change that the disk refused and 500 for an unexpected error, and logs it; the server keeps running. */
function fail(options: KubeServerOptions, response: ServerResponse, error: unknown): void {
  if (response.destroyed || (error as NodeJS.ErrnoException).code === "ECONNRESET") return;
  options.log(`kube: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  if (response.headersSent) return void response.destroy();
  const status =
    error instanceof JournalWriteError
      ? new StatusError(503, "ServiceUnavailable", error.message)
      : new StatusError(500, "InternalError", `Internal error occurred: ${String(error)}`);
  response.writeHead(status.code, { "Content-Type": "application/json" }).end(JSON.stringify(status.toStatus()));
}
