/**
 * The controller as a process of its own, which a test may kill, pause and start again at will. It dies with the test
 * process; what it last logged is kept for error messages.
 */
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { eventually } from "./eventually.ts";
import { startServer, type ServerProcess } from "./server-process.ts";

const AZLB = fileURLToPath(new URL("../../bin/azlb", import.meta.url));
const READY_WITHIN_MS = 60_000;

export interface ControllerFiles {
  readonly kubeconfig: string;
  readonly cloudConfig: string;
  /** Besides this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export class ControllerProcess {
  readonly #server: ServerProcess;
  readonly metricsUrl: string;

  private constructor(server: ServerProcess, metricsUrl: string) {
    this.#server = server;
    this.metricsUrl = metricsUrl;
  }

  /** Resolves at once; `ready` waits for it to lead with its caches filled. */
  static async start(files: ControllerFiles, flags: readonly string[] = []): Promise<ControllerProcess> {
    const port = await freePort();
    const environment = Object.entries(files.env ?? {}).map(([name, value]) => `${name}=${value}`);
    const server = startServer("env", [
      ...environment,
      AZLB,
      "controller",
      `--kubeconfig=${files.kubeconfig}`,
      `--cloud-config=${files.cloudConfig}`,
      `--bind-address=127.0.0.1`,
      `--health-port=${port}`,
      ...(flags.some((flag) => flag.startsWith("--leader-elect")) ? [] : ["--leader-elect=false"]),
      ...flags,
    ]);
    return new ControllerProcess(server, `http://127.0.0.1:${port}`);
  }

  get pid(): number {
    return this.#server.pid;
  }

  get ended(): boolean {
    return this.#server.ended();
  }

  /** The last lines of its log. */
  get output(): string {
    return this.#server.output();
  }

  ready(): Promise<void> {
    return eventually(async () => {
      if (this.ended) throw new Error(`the controller ended: ${this.output}`);
      const { ok } = await fetch(`${this.metricsUrl}/readyz`);
      if (!ok) throw new Error(`the controller is not ready: ${this.output}`);
    }, READY_WITHIN_MS);
  }

  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.pid, name);
  }

  /** Dies on the spot; resolves once it is gone. */
  async kill(): Promise<void> {
    if (!this.ended) this.signal("SIGKILL");
    await this.#server.stop();
  }

  /** In good order. */
  stop(): Promise<void> {
    return this.#server.stop();
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
