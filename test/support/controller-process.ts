/**
 * The controller as a process of its own, which a test may kill, pause and start again at will. It dies with the test
 * process; what it last logged is kept for error messages.
 */
import { fileURLToPath } from "node:url";

import { COMPILE_CACHE } from "./azlb-process.ts";
import { eventually } from "./eventually.ts";
import { reusablePort } from "./reusable-port.ts";
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
  readonly #startAt: (port: number) => ServerProcess;
  #server: ServerProcess;
  #port: number;

  private constructor(startAt: (port: number) => ServerProcess, port: number) {
    this.#startAt = startAt;
    this.#server = startAt(port);
    this.#port = port;
  }

  /** Resolves at once; `ready` waits for it to lead with its caches filled. */
  static async start(files: ControllerFiles, flags: readonly string[] = []): Promise<ControllerProcess> {
    const environment = Object.entries({ ...COMPILE_CACHE, ...files.env }).map(([name, value]) => `${name}=${value}`);
    const startAt = (port: number): ServerProcess =>
      startServer("env", [
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
    return new ControllerProcess(startAt, await reusablePort());
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
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
      if (this.ended) await this.#startElsewhere();
      const { ok } = await fetch(`${this.metricsUrl}/readyz`);
      if (!ok) throw new Error(`the controller is not ready: ${this.output}`);
    }, READY_WITHIN_MS);
  }

  /** Another process may take the port between the choice and the start. */
  async #startElsewhere(): Promise<void> {
    if (!this.output.includes(`port ${this.#port} is in use`)) throw new Error(`the controller ended: ${this.output}`);
    this.#port = await reusablePort();
    this.#server = this.#startAt(this.#port);
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
