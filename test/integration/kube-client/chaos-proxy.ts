/**
 * A proxy of bytes between a client and a server, which does to connections what networks do. TLS passes through
 * it, so neither end can tell it from a bad line.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class ChaosProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #mode: "pass" | "freeze" | "refuse" = "pass";
  /** Connections that were accepted so far. */
  accepted = 0;

  private constructor(targetPort: number) {
    this.#listener = createServer({ allowHalfOpen: true }, (client) => this.#accept(client, targetPort));
  }

  static async before(targetPort: number): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#listener.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Tears every connection (RST). */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Tears every connection after a few more bytes, so in the middle of a line. */
  cutWithin(bytes: number): void {
    for (const { client, server } of this.#pairs) {
      server.unpipe(client);
      server.once("data", (chunk: Buffer) => {
        client.write(chunk.subarray(0, bytes), () => client.resetAndDestroy());
        server.destroy();
      });
      server.resume();
    }
  }

  /** The server's side ends (FIN), the client's stays open; nothing more is forwarded. */
  halfClose(): void {
    for (const { client, server } of this.#pairs) {
      silence(client, server);
      client.end();
    }
  }

  /** Nothing passes, nothing closes; what comes meanwhile is lost for ever. New connections freeze as well. */
  freeze(): void {
    this.#mode = "freeze";
    for (const { client, server } of this.#pairs) silence(client, server);
  }

  /** As if a firewall forgot the connections: these freeze for ever, new ones work. */
  forget(): void {
    for (const { client, server } of this.#pairs) silence(client, server);
  }

  /** Holds everything back; `mend` lets it through. */
  stall(): void {
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  refuse(): void {
    this.#mode = "refuse";
    this.cut();
  }

  mend(): void {
    this.#mode = "pass";
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#listener.close(resolve));
  }

  #accept(client: Socket, targetPort: number): void {
    this.accepted += 1;
    if (this.#mode === "refuse") return void client.resetAndDestroy();
    const server = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    const pair = { client, server };
    this.#pairs.add(pair);
    for (const socket of [client, server]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
    if (this.#mode === "freeze") return silence(client, server);
    client.pipe(server);
    server.pipe(client);
  }
}

/** Swallows everything from now on; only a client that gives up is noticed. */
function silence(client: Socket, server: Socket): void {
  client.once("end", () => client.destroy());
  client.unpipe(server);
  server.unpipe(client);
  client.resume();
  server.resume();
}
