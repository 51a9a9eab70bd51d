/**
 * What answers behind the load balancers of a sandbox that a person starts: an HTTP server for each node, which says which
 * node it stands for. The data plane of the emulator forwards every port of the node to it.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface SandboxBackends {
  close(): Promise<void>;
}

/** `map`: enters them in the member table of the data plane. */
export async function startBackends(
  nodes: readonly { readonly name: string; readonly ip: string }[],
  map: (table: Readonly<Record<string, Readonly<Record<"*", number>>>>) => Promise<void>,
): Promise<SandboxBackends> {
  const backends = await Promise.all(nodes.map(async ({ name, ip }) => ({ ip, server: await listen(name) })));
  const close = async (): Promise<void> => void (await Promise.all(backends.map(({ server }) => end(server))));
  try {
    await map(Object.fromEntries(backends.map(({ ip, server }) => [ip, { "*": portOf(server) }])));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

async function listen(node: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(`node ${node} answers ${request.method ?? ""} ${request.url ?? ""}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function end(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
