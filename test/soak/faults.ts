/** Faults of every kind that the emulated Azure and the embedded Kubernetes know, armed anew at random as they are used up. */
import type { FaultControl, FaultRule } from "../support/fault-control.ts";

type Kind = Pick<FaultRule, "method" | "effect">;

const WRITES = ["PUT", "PATCH", "POST", "DELETE"];
const READS = ["GET"];

const AZURE: readonly Kind[] = [
  { method: WRITES, effect: { kind: "cutBefore" } },
  { method: WRITES, effect: { kind: "cutAfter" } },
  { method: WRITES, effect: { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 1 } },
  { method: WRITES, effect: { kind: "status", status: 409, code: "AnotherOperationInProgress" } },
  { method: WRITES, effect: { kind: "status", status: 412, code: "PreconditionFailed" } },
  { method: WRITES, effect: { kind: "status", status: 500 } },
  { method: WRITES, effect: { kind: "operation", outcome: "Failed" } },
  { method: WRITES, effect: { kind: "operation", outcome: "Canceled" } },
  { method: WRITES, effect: { kind: "delay", delayMs: 500 } },
  { method: READS, effect: { kind: "status", status: 503 } },
  { method: READS, effect: { kind: "cutBefore" } },
  { method: READS, effect: { kind: "staleRead" } },
];

const KUBERNETES: readonly Kind[] = [
  { method: WRITES, effect: { kind: "cutBefore" } },
  { method: WRITES, effect: { kind: "cutAfter" } },
  { method: WRITES, effect: { kind: "status", status: 500 } },
  { method: WRITES, effect: { kind: "status", status: 409, reason: "Conflict" } },
  { method: WRITES, effect: { kind: "status", status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 } },
  { method: WRITES, effect: { kind: "delay", delayMs: 300 } },
  { method: READS, effect: { kind: "status", status: 503 } },
  { method: READS, effect: { kind: "cutAfter" } },
];

/** Nothing is armed while more requests than this share were hit. */
const SHARE = 0.12;
/** Each kind lets up to so many requests pass first, so that they come in no order. */
const MOST_SKIPPED = 16;
/** Counts what no other delay has hit: of one kind only the first acts. */
const COUNTER: Kind = { effect: { kind: "delay", delayMs: 0 } };

export class SoakFaults {
  readonly azure: TroubledSide;
  readonly kubernetes: TroubledSide;
  readonly #kubeControl: FaultControl;
  readonly #random: () => number;

  constructor(azure: FaultControl, kubernetes: FaultControl, random: () => number) {
    this.azure = new TroubledSide(azure, AZURE, "/subscriptions/**");
    this.kubernetes = new TroubledSide(kubernetes, KUBERNETES, "/api**");
    this.#kubeControl = kubernetes;
    this.#random = random;
  }

  /** Replaces what is armed by a new draw. */
  async arm(): Promise<void> {
    await this.clear();
    await this.azure.arm(this.#random);
    await this.kubernetes.arm(this.#random);
    if (this.#random() < 0.1) await this.#kubeControl.send("PUT", "/stale-lists", {});
    if (this.#random() < 0.3) await this.#kubeControl.send("POST", "/watches/cut", {});
    if (this.#random() < 0.1) await this.#kubeControl.send("POST", "/compact");
  }

  async clear(): Promise<void> {
    await this.azure.clear();
    await this.kubernetes.clear();
    await this.#kubeControl.send("DELETE", "/stale-lists");
  }
}

/** One server: what may befall its requests, and how many were hit so far. Polls of an operation count too. */
class TroubledSide {
  /** Up to the last `clear`. */
  requests = 0;
  hit = 0;
  readonly #control: FaultControl;
  readonly #kinds: readonly Kind[];
  readonly #path: string;
  #counter = "";

  constructor(control: FaultControl, kinds: readonly Kind[], path: string) {
    this.#control = control;
    this.#kinds = kinds;
    this.#path = path;
  }

  get hitPercent(): number {
    return Math.round((100 * this.hit) / Math.max(1, this.requests));
  }

  async arm(random: () => number): Promise<void> {
    const kinds = this.hit > SHARE * this.requests ? [] : this.#kinds;
    for (const kind of kinds) {
      await this.#control.arm({ ...kind, path: this.#path, skip: Math.floor(random() * MOST_SKIPPED) });
    }
    this.#counter = await this.#control.arm({ ...COUNTER, path: this.#path, count: null });
  }

  async clear(): Promise<void> {
    const { faults } = (await this.#control.send("GET", "/faults")) as {
      faults: readonly { id: string; hits: number; effect: { kind: string } }[];
    };
    for (const { id, hits, effect } of faults) {
      if (id !== this.#counter) this.hit += hits;
      if (effect.kind === COUNTER.effect.kind) this.requests += hits;
    }
    await this.#control.clear();
  }
}
