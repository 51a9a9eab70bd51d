/** The example driver of `examples/lbcf`, as a process of its own, the way a user would run it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { reusablePort } from "../../support/reusable-port.ts";

export interface ToyDriver {
  readonly url: string;
  /** Load balancer id → its attributes and servers. */
  table(): Promise<Readonly<Record<string, ToyLoadBalancer>>>;
  stop(): Promise<void>;
}

interface ToyLoadBalancer {
  readonly attributes: Readonly<Record<string, string>>;
  readonly servers: Readonly<Record<string, { readonly weight: number }>>;
}

const PROGRAM = join(import.meta.dirname, "../../../examples/lbcf/toy-driver/server.mjs");

/** On any port, or on one it had before. */
export async function startToyDriver(port?: number): Promise<ToyDriver> {
  const env = { ...process.env, PORT: String(port ?? (await reusablePort())) };
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(line.replace("listening on ", "")));
    child.once("exit", (code) => reject(new Error(`the toy driver ended with ${code}`)));
  });
  return {
    url,
    table: async () => (await (await fetch(`${url}/servers`)).json()) as Record<string, ToyLoadBalancer>,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
