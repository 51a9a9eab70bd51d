/** Clients that connect, read a greeting and close, over and over; counts the connections that fail. */
import { connect, createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const GREETING = "hello";
/** Far longer than a busy machine needs: after that the connection counts as lost. */
const ANSWER_WITHIN_MS = 30_000;

/** The server behind every live pod. */
export async function startGreeter(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(GREETING);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export class ConnectingClients {
  connections = 0;
  /** Refused, or closed before the greeting. */
  refused = 0;
  /** No greeting within the time limit. */
  unanswered = 0;
  slowestMs = 0;
  readonly #port: number;
  #isRunning = true;
  readonly #working: readonly Promise<void>[];

  constructor(port: number, clients: number, everyMs: number) {
    this.#port = port;
    this.#working = Array.from({ length: clients }, () => this.#work(everyMs));
  }

  get failures(): number {
    return this.refused + this.unanswered;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#working);
  }

  async #work(everyMs: number): Promise<void> {
    while (this.#isRunning) {
      this.connections += 1;
      const startMs = performance.now();
      const outcome = await this.#connect();
      if (outcome !== "greeted") this[outcome] += 1;
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
      await delay(everyMs);
    }
  }

  #connect(): Promise<"greeted" | "refused" | "unanswered"> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      let received = "";
      const end = (otherwise: "refused" | "unanswered"): void => {
        socket.destroy();
        resolve(received === GREETING ? "greeted" : otherwise);
      };
      socket.setTimeout(ANSWER_WITHIN_MS, () => end("unanswered"));
      socket.on("data", (data) => (received += data.toString()));
      socket.on("end", () => end("refused"));
      socket.on("error", () => end("refused"));
    });
  }
}
