/** Faults of every kind that the emulated Azure and the embedded Kubernetes know, armed anew at random as they are used up. */
import type { FaultControl, FaultWish } from "../support/fault-control.ts";

type Effect = FaultWish["effect"];

const WRITES = ["PUT", "PATCH", "POST", "DELETE"];
const AZURE_PATH = "/subscriptions/**";

const AZURE: readonly { readonly method: readonly string[]; readonly effect: Effect }[] = [
  { method: WRITES, effect: { kind: "cutBefore" } },
  { method: WRITES, effect: { kind: "cutAfter" } },
  { method: WRITES, effect: { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 1 } },
  { method: WRITES, effect: { kind: "status", status: 409, code: "AnotherOperationInProgress" } },
  { method: WRITES, effect: { kind: "status", status: 412, code: "PreconditionFailed" } },
  { method: WRITES, effect: { kind: "status", status: 500 } },
  { method: WRITES, effect: { kind: "operation", outcome: "Failed" } },
  { method: WRITES, effect: { kind: "operation", outcome: "Canceled" } },
  { method: WRITES, effect: { kind: "delay", delayMs: 500 } },
  { method: ["GET"], effect: { kind: "status", status: 503 } },
  { method: ["GET"], effect: { kind: "cutBefore" } },
  { method: ["GET"], effect: { kind: "staleRead" } },
];

const KUBERNETES: readonly Effect[] = [
  { kind: "cutBefore" },
  { kind: "cutAfter" },
  { kind: "status", status: 500 },
  { kind: "status", status: 409, reason: "Conflict" },
  { kind: "status", status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 },
  { kind: "delay", delayMs: 300 },
];

/** One request in so many is hit, as near as the board allows: each kind waits for its share of requests to pass. */
const ONE_IN = 8;

export class Troubles {
  readonly #azure: FaultControl;
  readonly #kubernetes: FaultControl;
  readonly #random: () => number;
  /** Requests that were hit, up to the last stir. */
  readonly hit = { azure: 0, kubernetes: 0 };

  constructor(azure: FaultControl, kubernetes: FaultControl, random: () => number) {
    this.#azure = azure;
    this.#kubernetes = kubernetes;
    this.#random = random;
  }

  /** Replaces what is armed by a new draw. */
  async stir(): Promise<void> {
    await this.calm();
    const skip = (): number => Math.floor(this.#random() * ONE_IN * 2);
    for (const { method, effect } of AZURE) await this.#azure.arm({ method, path: AZURE_PATH, skip: skip(), effect });
    for (const effect of KUBERNETES)
      await this.#kubernetes.arm({ path: "/api/**", method: WRITES, skip: skip(), effect });
    if (this.#random() < 0.3) await this.#kubernetes.send("POST", "/watches/cut", {});
    if (this.#random() < 0.1) await this.#kubernetes.send("POST", "/compact");
  }

  async calm(): Promise<void> {
    for (const [side, control] of [
      ["azure", this.#azure],
      ["kubernetes", this.#kubernetes],
    ] as const) {
      const { faults } = (await control.send("GET", "/faults")) as { faults: readonly { hits: number }[] };
      this.hit[side] += faults.reduce((sum, fault) => sum + fault.hits, 0);
      await control.clear();
    }
  }
}
