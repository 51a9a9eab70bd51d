/**
 * A port of 127.0.0.1 that stays free while no process listens there, for servers that start again on the same port: it is
 * below the ports that the system gives to a process that asks for any.
 */
import { createServer } from "node:net";

const FIRST = 20_000;
const COUNT = 10_000;

export async function reusablePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
