/**
 * Asks Azure what its probes have found of a rule's members, for whoever looks at a Service. An answer is kept for a moment, those
 * who ask at once share a question, and there are so many questions in a minute and no more, however many look: Azure counts each
 * as a write.
 */
import type { Clock } from "../../core/util/clock.ts";
import { errorText } from "../../core/util/text.ts";
import type { ArmClient } from "../arm/arm-client.ts";
import { ArmError } from "../arm/failures.ts";

const KEPT_MS = 15_000;
const WITHIN_MS = 5_000;
const MINUTE_MS = 60_000;
const MOST_IN_A_MINUTE = 60;
const RIGHT = "Microsoft.Network/loadBalancers/loadBalancingRules/health/action";

interface Question {
  readonly atMs: number;
  readonly answer: Promise<unknown>;
}

export class ProbeResults {
  readonly #client: Pick<ArmClient, "query" | "budgetOf">;
  readonly #clock: Clock;
  /** By id of the rule. Those of the last minute. */
  readonly #asked = new Map<string, Question>();

  constructor(client: Pick<ArmClient, "query" | "budgetOf">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Azure's answer; an Error where there is none. Never fails. */
  of(ruleId: string): Promise<unknown> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#asked.get(ruleId);
    if (known !== undefined && nowMs - known.atMs < KEPT_MS) return known.answer;
    for (const [id, { atMs }] of this.#asked) if (nowMs - atMs >= MINUTE_MS) this.#asked.delete(id);
    if (known === undefined && this.#asked.size >= MOST_IN_A_MINUTE) {
      return Promise.resolve(new Error(`Azure is asked about ${MOST_IN_A_MINUTE} rules in a minute: look again soon`));
    }
    const { waiting, closedForMs } = this.#client.budgetOf(ruleId).shown("writes");
    if (waiting > 0 || closedForMs > 0)
      return Promise.resolve(new Error("not asked while calls to Azure wait for their turn"));
    const answer = this.#ask(ruleId);
    this.#asked.set(ruleId, { atMs: nowMs, answer });
    return answer;
  }

  /** Nobody who looks waits for minutes. */
  async #ask(ruleId: string): Promise<unknown> {
    const ending = new AbortController();
    const late = new Error(`Azure did not answer within ${WITHIN_MS / 1_000} s`);
    const timer = this.#clock.setTimer(WITHIN_MS, () => ending.abort(late));
    try {
      return await this.#client.query(`${ruleId}/health`, { priority: "resync", signal: ending.signal });
    } catch (error) {
      return ending.signal.aborted ? late : problemOf(error);
    } finally {
      timer.cancel();
    }
  }
}

function problemOf(error: unknown): Error {
  const isDenied = error instanceof ArmError && error.failure.kind === "denied";
  return new Error(isDenied ? `no right to ask: the Azure role lacks ${RIGHT}` : errorText(error));
}
