/** Clients that connect, hear a word from whoever answers, and hang up; over and over. */
import { connect, createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const WORD = "hello";
const ANSWER_WITHIN_MS = 5_000;

/** What listens behind every pod that is alive. */
export async function startGreeter(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(WORD);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export class ConnectingClients {
  connections = 0;
  failures = 0;
  readonly #port: number;
  #isRunning = true;
  readonly #working: readonly Promise<void>[];

  constructor(port: number, clients: number, everyMs: number) {
    this.#port = port;
    this.#working = Array.from({ length: clients }, () => this.#work(everyMs));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#working);
  }

  async #work(everyMs: number): Promise<void> {
    while (this.#isRunning) {
      this.connections += 1;
      if (!(await this.#connect())) this.failures += 1;
      await delay(everyMs);
    }
  }

  #connect(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      let heard = "";
      const end = (): void => {
        socket.destroy();
        resolve(heard === WORD);
      };
      socket.setTimeout(ANSWER_WITHIN_MS, end);
      socket.on("data", (data) => (heard += data.toString()));
      socket.on("end", end);
      socket.on("error", end);
    });
  }
}
