/**
 * What is said about a Service, where its owner looks: events on the object, and the log. The same thing is said once
 * until something else is said; the recorder behind counts repetitions that come from elsewhere.
 */
import { describeFailure } from "../../azure/arm/failure-text.ts";
import { ArmError } from "../../azure/arm/failures.ts";
import { type EventText, eventText, type WarningReason } from "../../core/events/event-reasons.ts";
import { keyOf, type Service } from "../../core/model/kubernetes.ts";
import type { Log } from "../../core/util/log.ts";
import type { AzureStep, Step } from "../../core/steps.ts";
import type { Rejection, Warning } from "../../core/service/service-intent.ts";
import type { Attempt } from "./next-attempt.ts";

export interface Recorder {
  event(object: Service, telling: EventText): void;
}

export class ServiceEvents {
  readonly #recorder: Recorder;
  readonly #log: Log;
  /** Service key → what was said last, by kind of utterance. */
  readonly #said = new Map<string, Set<string>>();

  constructor(recorder: Recorder, log: Log) {
    this.#recorder = recorder;
    this.#log = log;
  }

  /** Everything is as the Service asks; `steps` is what that took. */
  settled(service: Service, steps: readonly Step[], warnings: readonly Warning[]): void {
    const key = keyOf(service);
    const now = warnings.map((warning) => idOf(warning.reason, warning.message));
    // what is right now may be told again when it goes wrong again
    this.#said.set(key, new Set([...(this.#said.get(key) ?? [])].filter((said) => now.includes(said))));
    for (const warning of warnings) this.warned(service, warning);
    if (steps.length > 0) this.#done(service, steps);
  }

  #done(service: Service, steps: readonly Step[]): void {
    const published = steps.findLast((step) => step.kind === "updateStatus");
    const isGone = steps.some((step) => step.kind === "removeFinalizer");
    const reason = isGone ? "DeletedLoadBalancer" : "EnsuredLoadBalancer";
    const addresses = published?.ingress.map(({ ip }) => ip).join(", ");
    const message = isGone ? "Deleted load balancer" : `Ensured load balancer${addresses ? `: ${addresses}` : ""}`;
    this.#recorder.event(service, eventText(reason, message));
    this.#log.info(message, { service: keyOf(service) });
  }

  warned(service: Service, { reason, message }: Warning): void {
    this.#say(service, reason, message);
  }

  rejected(service: Service, { reason, message, warnings = [] }: Rejection): void {
    for (const warning of [{ reason, message }, ...warnings]) this.warned(service, warning);
  }

  waiting(service: Service, why: string): void {
    this.#log.info(why, { service: keyOf(service) });
  }

  drifted(service: Service, steps: readonly AzureStep[]): void {
    const what = steps.map((step) => step.why).join("; ");
    const message = `Azure differs from what this Service asks for and is left as it is: ${what}. Change the Service, or set azlb.io/drift-policy: enforce`;
    this.#say(service, "DriftDetected", message);
  }

  failed(service: Service, error: unknown, { tellUser }: Attempt): void {
    const reason =
      service.metadata.deletionTimestamp === undefined ? "SyncLoadBalancerFailed" : "DeleteLoadBalancerFailed";
    const message = textOf(error);
    if (tellUser) this.#say(service, reason, message);
    else this.#log.info(`will try again: ${message}`, { service: keyOf(service) });
  }

  forget(key: string): void {
    this.#said.delete(key);
  }

  #say(service: Service, reason: WarningReason, message: string): void {
    const key = keyOf(service);
    const said = this.#said.get(key) ?? new Set();
    const id = idOf(reason, message);
    if (said.has(id)) return;
    this.#said.set(key, said.add(id));
    this.#recorder.event(service, eventText(reason, message));
    this.#log.warn(`${reason}: ${message}`, { service: key });
  }
}

function idOf(reason: string, message: string): string {
  return `${reason} ${message}`;
}

function textOf(error: unknown): string {
  if (error instanceof ArmError) return describeFailure(error.failure, error.doing);
  return error instanceof Error ? error.message : String(error);
}
