/** How a process is doing, sampled over its life: memory, and how late its health endpoint answers. */
import { readFileSync } from "node:fs";

import type { ControllerProcess } from "../support/controller-process.ts";

export interface HealthReport {
  /** The middle of each quarter of the time, and the most of all. */
  readonly rssMiB: { readonly quarters: readonly number[]; readonly most: number };
  /** What waits for the event loop waits as long. */
  readonly healthAnswerMs: { readonly median: number; readonly p99: number; readonly most: number };
}

export class HealthSamples {
  readonly #controller: ControllerProcess;
  readonly #rssMiB: number[] = [];
  readonly #answerMs: number[] = [];

  constructor(controller: ControllerProcess) {
    this.#controller = controller;
  }

  async sample(): Promise<void> {
    this.#rssMiB.push(rssMiB(this.#controller.pid));
    const askedMs = performance.now();
    await fetch(`${this.#controller.metricsUrl}/healthz`).then((answer) => answer.text());
    this.#answerMs.push(Math.round(performance.now() - askedMs));
  }

  report(): HealthReport {
    const quarter = Math.ceil(this.#rssMiB.length / 4);
    const quarters = [0, 1, 2, 3].map((at) => quantile(this.#rssMiB.slice(at * quarter, (at + 1) * quarter), 0.5));
    const [median, p99, most] = [0.5, 0.99, 1].map((share) => quantile(this.#answerMs, share));
    return {
      rssMiB: { quarters, most: quantile(this.#rssMiB, 1) },
      healthAnswerMs: { median: median ?? 0, p99: p99 ?? 0, most: most ?? 0 },
    };
  }
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function rssMiB(pid: number): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 1024);
}
