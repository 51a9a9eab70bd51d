/** Real servers on loopback that stand for what runs on the nodes; each tells its name to every client that connects. */
import { createSocket } from "node:dgram";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

export interface Backend {
  readonly name: string;
  /** Of 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** Greets with `name\n`, then sends back what it gets; keeps its side open until the client has ended its own. */
export async function echoBackend(name: string): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => {});
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });
  return { name, ...(await listening(server)), close: () => closed(server, () => sockets.forEach((s) => s.destroy())) };
}

export interface HttpBackend extends Backend {
  /** What it answers to `/healthz`; anything else is answered with 200 and its name. */
  healthStatus: number;
  /** `GET /healthz HTTP/1.1 host: …`, as they came. */
  readonly probes: { readonly path: string; readonly host: string | undefined }[];
}

/** With a certificate it speaks HTTPS. */
export async function httpBackend(
  name: string,
  certificate?: { readonly certPem: string; readonly keyPem: string },
): Promise<HttpBackend> {
  const probes: HttpBackend["probes"][number][] = [];
  const answer: Parameters<typeof createHttpServer>[1] = (request, response) => {
    const isProbe = request.url === "/healthz";
    if (isProbe) probes.push({ path: request.url ?? "", host: request.headers.host });
    response.writeHead(isProbe ? backend.healthStatus : 200).end(name);
  };
  const server =
    certificate === undefined
      ? createHttpServer(answer)
      : createHttpsServer({ cert: certificate.certPem, key: certificate.keyPem }, answer);
  const backend: HttpBackend = {
    name,
    ...(await listening(server)),
    healthStatus: 200,
    probes,
    close: () => closed(server, () => server.closeAllConnections()),
  };
  return backend;
}

/** Answers each datagram with `name: datagram`. */
export async function udpBackend(name: string): Promise<Backend> {
  const socket = createSocket("udp4", (datagram, { address, port }) => {
    socket.send(`${name}: ${datagram.toString()}`, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { name, port: socket.address().port, close: () => new Promise((resolve) => socket.close(resolve)) };
}

async function listening(server: Server): Promise<{ port: number }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port };
}

function closed(server: Server, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    cut();
  });
}
