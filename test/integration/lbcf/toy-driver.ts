/** The example drivers of `examples/lbcf/drivers`, each as a process of its own, the way a user would run it. */
import { spawn, spawnSync, type SpawnSyncOptions } from "node:child_process";
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

const FOLDER = join(import.meta.dirname, "../../../examples/lbcf/drivers");
const NODE: readonly [string, ...string[]] = [process.execPath, join(FOLDER, "node/server.mjs")];

/** On any port, or on one it had before. */
export async function startToyDriver(port?: number, [program, ...args] = NODE): Promise<ToyDriver> {
  const env = { ...process.env, PORT: String(port ?? (await reusablePort())) };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
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

export type Language = "node" | "python" | "go";

/** The program of the driver in that language; `undefined` where the machine has no tool chain for it. */
export function exampleDriver(language: Language, scratch: string): readonly [string, ...string[]] | undefined {
  if (language === "node") return NODE;
  if (language === "python") {
    return succeeds("python3", ["--version"]) ? ["python3", join(FOLDER, "python/driver.py")] : undefined;
  }
  const program = join(scratch, "driver");
  const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off" };
  return succeeds("go", ["build", "-o", program, "."], { cwd: join(FOLDER, "go"), env }) ? [program] : undefined;
}

function succeeds(program: string, args: readonly string[], options: SpawnSyncOptions = {}): boolean {
  const { error, status, stderr } = spawnSync(program, args, { ...options, encoding: "utf8" });
  if (error === undefined && status !== 0 && program === "go")
    throw new Error(`the Go driver does not build: ${stderr}`);
  return error === undefined && status === 0;
}
