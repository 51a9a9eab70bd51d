/**
 * The events of a Service: which text each outcome of a sync gets. Emitting them, and not repeating them at every retry,
 * is `../events.ts`'s.
 */
import { describeFailure } from "../../azure/arm/failure-text.ts";
import { ArmError, type ArmFailure } from "../../azure/arm/failures.ts";
import type { Retry } from "../../azure/group-commit/commit-types.ts";
import { isRetryable } from "../../azure/group-commit/retry-policy.ts";
import { type EventText, eventText } from "../../core/events/event-reasons.ts";
import { nameOfId, parseId } from "../../core/model/ids.ts";
import { isInternalName } from "../../core/model/names.ts";
import { type Ingress, serviceKey, type Service } from "../../core/model/kubernetes.ts";
import { nounOf } from "../../core/resources/kinds.ts";
import { isAzureStep } from "../../core/service/rounds.ts";
import { SERVICES } from "../../kube/client/resources.ts";
import type { Log } from "../../core/util/log.ts";
import type { Events } from "../events.ts";
import type { AzureStep, Step } from "../../core/steps.ts";
import type { Rejection, Warning } from "../../core/outcome.ts";
import type { Told } from "../../core/view/standing.ts";
import { isTold, type Attempt } from "./next-attempt.ts";
import { errorText } from "../../core/util/text.ts";

export class ServiceEvents {
  readonly #events: Events;
  readonly #log: Log;

  constructor(events: Events, log: Log) {
    this.#events = events;
    this.#log = log;
  }

  /** Everything is as the Service asks; `steps` is what that took. */
  settled(service: Service, steps: readonly Step[], warnings: readonly Warning[]): void {
    this.#events.settle(service, warnings.map(textOfWarning));
    for (const warning of warnings) this.warned(service, warning);
    const moved = movedText(steps);
    if (moved !== undefined) this.#events.emit(SERVICES, service, moved, "all");
    if (steps.length > 0) this.#events.emit(SERVICES, service, doneText(service, steps), "all");
  }

  warned(service: Service, warning: Warning): void {
    this.#events.emitOnce(SERVICES, service, textOfWarning(warning));
  }

  rejected(service: Service, { reason, message, warnings = [] }: Rejection): void {
    for (const warning of [{ reason, message }, ...warnings]) this.warned(service, warning);
  }

  waiting(service: Service, why: string): void {
    this.#log.info(why, { service: serviceKey(service) });
  }

  /** `differences`: from what is there to what is asked for. */
  drifted(service: Service, steps: readonly AzureStep[], differences: string): void {
    const what = steps.map((step) => step.why).join("; ");
    const which = differences === "" ? "" : ` (${differences})`;
    const message = `Azure differs from what this Service asks for and is left as it is: ${what}${which}. Change the Service, or set azlb.io/drift-policy: enforce`;
    this.#events.emitOnce(SERVICES, service, eventText("DriftDetected", message));
  }

  /** A write failed and will be repeated; the sync goes on. `what`: as in `load balancer "kubernetes"`. */
  retrying(service: Service, what: string, { failure, attempts, afterMs }: Retry): void {
    this.#failed(service, new ArmError(failure, what), { afterMs, tellUser: isTold(failure, attempts - 1) });
  }

  /** The sync failed; the next one is after `afterMs`. */
  failed(service: Service, error: unknown, attempt: Attempt & { readonly afterMs: number }): void {
    this.#failed(service, error, attempt);
  }

  /** Once until the cause changes or the Service is settled: the next try's time is no news. */
  #failed(service: Service, error: unknown, { afterMs, tellUser }: Attempt & { readonly afterMs: number }): void {
    const reason = failureReason(service);
    const cause = textOf(error);
    const message = `${cause}${cause.endsWith(".") ? "" : "."} Next try in ${Math.max(1, Math.round(afterMs / 1000))} s.`;
    if (tellUser) this.#events.emitOnce(SERVICES, service, eventText(reason, message), `${reason} ${causeId(error)}`);
    else this.#events.logRetry(SERVICES, serviceKey(service), cause);
  }

  /** The Service is gone. */
  forget(service: Service): void {
    this.#events.settle(service);
  }
}

function failureReason({ metadata }: Service): "SyncLoadBalancerFailed" | "DeleteLoadBalancerFailed" {
  return metadata.deletionTimestamp === undefined ? "SyncLoadBalancerFailed" : "DeleteLoadBalancerFailed";
}

/** A failure as the API shows it: the same words as in the event. */
export function failureTold(service: Service, error: unknown): Told {
  const isThrottled = error instanceof ArmError && error.failure.kind === "throttled";
  return { reason: failureReason(service), message: textOf(error), ...(isThrottled && { isThrottled }) };
}

/** The same of a call that will be repeated. */
export function retryTold(service: Service, what: string, { failure }: Retry): Told {
  return failureTold(service, new ArmError(failure, what));
}

function textOfWarning({ reason, message }: Warning): EventText {
  return eventText(reason, message);
}

/** It left one load balancer, and was then written to another of the same kind. */
function movedText(steps: readonly Step[]): EventText | undefined {
  const written = steps.filter((step) => step.kind === "loadBalancer");
  const left = written.find(({ fragment }) => fragment.shell === undefined);
  const joined = left && written.slice(written.indexOf(left)).find(({ fragment }) => fragment.shell !== undefined);
  if (left === undefined || joined === undefined) return undefined;
  const [from, to] = [nameOfId(left.id), nameOfId(joined.id)];
  if (from === to || isInternalName(from) !== isInternalName(to)) return undefined;
  return eventText("LoadBalancerMoved", `Moved from load balancer "${from}" to "${to}"`);
}

/** `service`: as it was before. */
function doneText(service: Service, steps: readonly Step[]): EventText {
  const isGone = steps.some((step) => step.kind === "removeFinalizer");
  if (isGone) return eventText("DeletedLoadBalancer", "Deleted load balancer");
  const published = steps.findLast((step) => step.kind === "updateStatus");
  const addresses = addressesOf(published?.ingress);
  const before = addressesOf(service.status.loadBalancer.ingress);
  const at = addresses === "" ? "" : `: ${addresses}`;
  const instead = at === "" || before === "" || before === addresses ? "" : ` instead of ${before}`;
  return eventText("EnsuredLoadBalancer", `Ensured load balancer${at}${instead}${writtenText(steps)}`);
}

function addressesOf(ingress: readonly Ingress[] = []): string {
  return ingress.map(({ ip }) => ip).join(", ");
}

/** An event is a sentence or two, and a Service may have a hundred machines. */
const MOST_NAMED = 5;

function writtenText(steps: readonly Step[]): string {
  const written = [...new Set(steps.filter(isAzureStep).map(({ id }) => resourceText(id)))];
  if (written.length === 0) return "";
  const more = written.length > MOST_NAMED ? ` and ${written.length - MOST_NAMED} more` : "";
  return `. Written: ${written.slice(0, MOST_NAMED).join(", ")}${more}`;
}

/** As in `load balancer "kubernetes"`. */
function resourceText(id: string): string {
  const { provider, type } = parseId(id) ?? { provider: "", type: "" };
  return `${nounOf(`${provider}/${type}`)} "${nameOfId(id)}"`;
}

/** What makes two failures the same. Azure's words of one that passes vary: they name servers and times. */
function causeId(error: unknown): string {
  if (!(error instanceof ArmError) || !isRetryable(error.failure)) return textOf(error);
  const { kind, code }: ArmFailure = error.failure;
  return `${error.doing} ${kind} ${code}`;
}

function textOf(error: unknown): string {
  if (error instanceof ArmError) return describeFailure(error.failure, error.doing);
  return errorText(error);
}
