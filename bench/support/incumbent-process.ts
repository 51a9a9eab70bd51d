/**
 * The incumbent's own program, cloud-controller-manager, against a sandbox: its service controller alone, with nothing in its
 * environment but what the sandbox gives it, so that it talks to loopback only. Its log tells when a sync is over.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { endProcess } from "./sandbox-process.ts";

/** Of a sandbox, as `azlb sandbox --json` prints it. */
export interface IncumbentReach {
  readonly kubeconfig: string;
  readonly cloudConfig: string;
  readonly env: Readonly<Record<string, string>>;
}

const FLAGS = [
  "--cluster-name=kubernetes",
  "--controllers=service-lb-controller",
  "--allocate-node-cidrs=false",
  "--configure-cloud-routes=false",
  "--secure-port=0",
  "--v=4", // from here on it logs the end of each sync
];
const SERVICE_SYNCED = /Finished syncing service "([^"]+)"/;
const NODES_SYNCED = /seconds to finish syncNodes/;
const KEPT_LINES = 200;

export class IncumbentProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #serviceSyncs = new Map<string, number>();
  #nodeSyncs = 0;

  constructor(binary: string, { kubeconfig, cloudConfig, env }: IncumbentReach, flags: readonly string[] = []) {
    const given = [`--kubeconfig=${kubeconfig}`, `--cloud-config=${cloudConfig}`];
    this.#child = spawn(binary, [...FLAGS, "--leader-elect=false", ...given, ...flags], {
      env: { ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (this.#child.stderr !== null) createInterface(this.#child.stderr).on("line", (line) => this.#note(line));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** How often a sync of the Service (`namespace/name`) came to its end, well or not. */
  syncsOf(service: string): number {
    return this.#serviceSyncs.get(service) ?? 0;
  }

  /** The same of nodes, which is about all Services; one for each Node that came, went or changed. */
  get nodeSyncs(): number {
    return this.#nodeSyncs;
  }

  /** The end of its log, and whether it still runs. */
  get said(): string {
    const { exitCode, signalCode } = this.#child;
    const ended = exitCode === null && signalCode === null ? [] : [`ended: ${String(exitCode ?? signalCode)}`];
    return [...this.#lines, ...ended].join("\n");
  }

  close(): Promise<void> {
    return endProcess(this.#child);
  }

  #note(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    const [, service] = SERVICE_SYNCED.exec(line) ?? [];
    if (service !== undefined) this.#serviceSyncs.set(service, this.syncsOf(service) + 1);
    if (NODES_SYNCED.test(line)) this.#nodeSyncs++;
  }
}
