/** `bin/azlb` as a process: run to its end, or until it says something and is asked to end. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { eventually } from "./eventually.ts";

const AZLB = resolve(import.meta.dirname, "../../bin/azlb");
const WITHIN_MS = 90_000;
/** Tests start many processes; what the last one compiled saves the next one half of its start. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), "azlb-compile-cache") };

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class AzlbProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #isOver = false;
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(AZLB, args, {
      env: { ...process.env, ...COMPILE_CACHE, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#ended = once(this.#child, "close").finally(() => (this.#isOver = true));
  }

  get output(): string {
    return this.#stdout + this.#stderr;
  }

  /** Resolves once its output has this; rejects when it ends without. */
  async says(pattern: RegExp): Promise<void> {
    await eventually(() => assert.ok(this.#isOver || pattern.test(this.output), this.output), WITHIN_MS);
    assert.match(this.output, pattern);
  }

  async ended(): Promise<Ended> {
    const late = setTimeout(() => this.#child.kill("SIGKILL"), WITHIN_MS);
    await this.#ended;
    clearTimeout(late);
    return { code: this.#child.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  end(signal: "SIGINT" | "SIGTERM"): Promise<Ended> {
    this.#child.kill(signal);
    return this.ended();
  }
}

export function runAzlb(...args: readonly string[]): Promise<Ended> {
  return new AzlbProcess(args).ended();
}
