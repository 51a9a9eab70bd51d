/** A driver that does what a test tells it: rubbish, refusals, silence. Remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

export type Answering = (hook: string, body: Readonly<Record<string, unknown>>, headers: IncomingHttpHeaders) => Rogue;

type Rogue =
  | { readonly json: unknown; readonly afterMs?: number }
  | { readonly text: string; readonly status?: number }
  /** Never. */
  | "hang"
  /** Closes the connection. */
  | "drop";

export interface RogueDriver {
  readonly url: string;
  readonly asked: Asked[];
  answer: Answering;
  /** Closes the connections of calls that hang. */
  dropHanging(): void;
  close(): Promise<void>;
}

export interface Asked {
  readonly hook: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly atMs: number;
}

/** What a well-behaved driver answers. */
export const WELL_BEHAVED = (hook: string, body: Readonly<Record<string, unknown>>): Rogue => {
  if (hook === "healthz") return { json: { healthy: true } };
  if (hook.startsWith("validate")) return { json: { succ: true, msg: "" } };
  if (hook === "judgePodDeregister") return { json: { succ: true, doNotDeregister: [] } };
  const address = (body["podBackend"] as { pod?: { status?: { podIP?: string } } } | undefined)?.pod?.status?.podIP;
  return { json: { status: "Succ", msg: "", ...(hook === "generateBackendAddr" && { backendAddr: address }) } };
};

/** `secure`: over https, with this certificate. */
export async function startRogueDriver(
  answer: Answering = WELL_BEHAVED,
  secure?: { readonly cert: string; readonly key: string },
): Promise<RogueDriver> {
  const asked: RogueDriver["asked"] = [];
  const hanging = new Set<Socket>();
  const dropHanging = (): void => hanging.forEach((socket) => socket.destroy());
  const driver = { url: "", asked, answer, dropHanging, close: () => close(server) };
  const listener: RequestListener = (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const hook = (request.url ?? "").split("/").at(-1) ?? "";
      const body = JSON.parse(text || "{}") as Record<string, unknown>;
      const { headers } = request;
      asked.push({ hook, body, headers, atMs: performance.now() });
      const rogue = driver.answer(hook, body, headers);
      if (rogue === "hang") return void hanging.add(request.socket);
      if (rogue === "drop") return void request.socket.destroy();
      const answer = (json: unknown): void => void response.writeHead(200).end(JSON.stringify(json));
      if ("json" in rogue && rogue.afterMs !== undefined) setTimeout(() => answer(rogue.json), rogue.afterMs);
      else if ("json" in rogue) answer(rogue.json);
      else response.writeHead(rogue.status ?? 200).end(rogue.text);
    });
  };
  const server: Server = secure === undefined ? createServer(listener) : createSecureServer(secure, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  driver.url = `${secure === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}/lbcf`;
  return driver;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
