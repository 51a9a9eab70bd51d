/**
 * The control endpoint, through which tests and users inject faults into the embedded API: plain HTTP on loopback,
 * separate from the Kubernetes API, closed to web pages; documented in docs/embedded-kubernetes.md.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { refusalOf } from "../../shared/control-guard.ts";
import { BadInput, choiceOf, countOf, type Fields, fieldsOf, onlyKeys, parseJson, textOf } from "../../shared/input.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";
import { parseKubeFault } from "./faults.ts";
import type { FaultInjectingApi } from "./fault-injecting-api.ts";
import type { WatchHub } from "./watch-hub.ts";
import { LOOPBACK } from "../../shared/loopback.ts";

export interface Controlled {
  readonly api: EmbeddedApi;
  readonly faultInjection: FaultInjectingApi;
  readonly watches: WatchHub;
}

type Route = (controlled: Controlled, body: string, id: string) => unknown;

const ROUTES: Readonly<Record<string, Route>> = {
  "GET /": ({ api }) => ({ revision: api.state.revision, endpoints: Object.keys(ROUTES) }),
  "GET /watches": ({ watches }) => ({ watches: watches.list() }),
  "POST /watches/cut": cutWatches,
  "POST /compact": ({ api }) => {
    api.compact();
    return { compactedRevision: api.state.compactedRevision };
  },
  "PUT /stale-lists": staleLists,
  "DELETE /stale-lists": ({ faultInjection }) => {
    faultInjection.staleRevision = undefined;
    return {};
  },
  "GET /faults": ({ faultInjection }) => ({ faults: faultInjection.faults.list() }),
  "POST /faults": ({ faultInjection }, body) => faultInjection.faults.arm(parseKubeFault(parseJson(body, "fault"))),
  "DELETE /faults": ({ faultInjection }) => ({ cleared: faultInjection.faults.clear() }),
  "DELETE /faults/{id}": ({ faultInjection }, _body, id) => ({ cleared: faultInjection.faults.clear(id) }),
};

function bodyFields(body: string, keys: readonly string[], where: string): Fields {
  const fields = body.trim() === "" ? {} : fieldsOf(parseJson(body, where), where);
  onlyKeys(fields, keys, where);
  return fields;
}

function cutWatches({ watches }: Controlled, body: string): unknown {
  const fields = bodyFields(body, ["how", "collection"], "cut");
  const how = choiceOf(fields["how"] ?? "destroy", ["close", "destroy"], "cut.how");
  const collection = fields["collection"] === undefined ? undefined : textOf(fields, "collection", "cut");
  return { cut: watches.cut(how, collection) };
}

function staleLists({ api, faultInjection }: Controlled, body: string): unknown {
  const fields = bodyFields(body, ["revision"], "stale-lists");
  faultInjection.staleRevision = countOf(fields, "revision", "stale-lists", 1, api.state.revision);
  return { revision: faultInjection.staleRevision };
}

export async function listenForControl(
  controlled: Controlled,
  port: number,
): Promise<{ server: Server; port: number }> {
  const server = createServer((message, response) => {
    serve(controlled, message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function serve(controlled: Controlled, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  const { status, body } = answer(controlled, message, Buffer.concat(chunks).toString());
  response.writeHead(status, { "Content-Type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}

function answer(controlled: Controlled, message: IncomingMessage, body: string): { status: number; body: unknown } {
  const { headers, socket } = message;
  const forbidden = refusalOf({ headers, port: socket.localPort ?? 0, hasBody: body !== "" });
  if (forbidden !== undefined) return refusal(forbidden.status, forbidden.code, forbidden.message);
  const path = new URL(message.url ?? "/", "http://control").pathname;
  const id = /^\/faults\/([^/]+)$/.exec(path)?.[1] ?? "";
  const asked = `${message.method ?? "GET"} ${id === "" ? path : "/faults/{id}"}`;
  const route = ROUTES[asked];
  if (route === undefined) {
    return refusal(404, "NotFound", `no such control endpoint: ${asked}; known: ${Object.keys(ROUTES).join(", ")}`);
  }
  try {
    return { status: 200, body: route(controlled, body, id) };
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    return refusal(400, "BadInput", error.message);
  }
}

/** The error format of the Azure emulator's control endpoint. */
function refusal(status: number, code: string, message: string): { status: number; body: unknown } {
  return { status, body: { error: { code, message } } };
}
