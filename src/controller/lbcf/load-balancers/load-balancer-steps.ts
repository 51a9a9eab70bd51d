/**
 * Applies `reconcileLoadBalancerObject` to one load balancer: calls its driver and stores the result. Used for LoadBalancer
 * objects and for the load balancers inside a Bind, which differ in where their state is stored.
 */
import { type EventText, eventText } from "../../../core/events/event-reasons.ts";
import { type Answer, unfinishedEvent } from "../../../core/lbcf/drivers/driver-answers.ts";
import {
  afterCreate,
  afterDeleteLoadBalancer,
  afterEnsureLoadBalancer,
  afterWaiting,
  markedCreating,
  withDeletionBlock,
  withoutWait,
} from "../../../core/lbcf/load-balancers/load-balancer-status.ts";
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { LoadBalancer, LoadBalancerStatus } from "../../../core/lbcf/objects/objects.ts";
import {
  deletionBlockOf,
  type LoadBalancerDecision,
  type LoadBalancerStep,
  reconcileLoadBalancerObject,
} from "../../../core/lbcf/load-balancers/reconcile-load-balancer-object.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { Verdict } from "../../../kube/work-queue.ts";
import { untilSettled } from "../../../core/util/until-settled.ts";
import { AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { Question } from "../drivers/retry-delays.ts";
import { FAILED_AGAIN_MS } from "../drivers/validation-memo.ts";
import { LastEnsured } from "../last-ensured.ts";
import { DONE, later, type LbcfContext, MOST_DRIVER_ROUNDS } from "../lbcf-loop.ts";

/** Where the state of one load balancer is stored and its events are sent. */
export interface LoadBalancerStorage {
  /** As stored now; `undefined` when it is gone. */
  current(): LoadBalancer | undefined;
  store(lb: LoadBalancer, status: LoadBalancerStatus): Promise<void>;
  addFinalizer(lb: LoadBalancer): Promise<void>;
  release(lb: LoadBalancer): Promise<void>;
  /** The number of records that name it. */
  records(lb: LoadBalancer): number;
  /** Why its name is not allowed in its namespace. */
  invalidName(lb: LoadBalancer): string | undefined;
  emit(lb: LoadBalancer, text: EventText | undefined): void;
}

/** What waits may come right without an event that says so: a look is cheap. */
const WAITING_AGAIN_MS = 60_000;

type Context = Pick<LbcfContext, "drivers" | "clock" | "delays" | "validations">;
type Verb = "create" | "ensure" | "delete";

export class LoadBalancerSteps {
  readonly #options: Context;
  readonly #ensured: LastEnsured;

  constructor(options: Context) {
    this.#options = options;
    this.#ensured = new LastEnsured(options.clock);
  }

  async run(storage: LoadBalancerStorage): Promise<Verdict> {
    let validation: ValidationResult | undefined;
    const round = async (): Promise<Verdict | undefined> => {
      const lb = storage.current();
      if (lb === undefined) return DONE;
      const decision = this.#decide(storage, lb, validation);
      switch (decision.kind) {
        case "settled":
          await this.#settle(storage, lb);
          return later(decision.againAfterMs);
        case "validate":
          validation = await this.#validate(lb, decision);
          return undefined;
        case "wait":
          return this.#wait(storage, lb, decision);
        case "step":
          return this.#take(storage, lb, decision.step);
      }
    };
    return untilSettled("load balancer", round, MOST_DRIVER_ROUNDS);
  }

  forget(key: string, uid: string): void {
    const { delays, validations } = this.#options;
    this.#ensured.forget(key);
    delays.forget(uid);
    validations.forget(uid);
  }

  #decide(
    storage: LoadBalancerStorage,
    loadBalancer: LoadBalancer,
    validation: ValidationResult | undefined,
  ): LoadBalancerDecision {
    const { spec, metadata } = loadBalancer;
    return reconcileLoadBalancerObject({
      loadBalancer,
      driver: this.#options.drivers.stateOf(spec.lbDriver, metadata.namespace),
      invalidName: storage.invalidName(loadBalancer),
      records: storage.records(loadBalancer),
      validation,
      sinceEnsuredMs: this.#ensured.sinceMs(keyOf(loadBalancer)),
    });
  }

  async #settle(storage: LoadBalancerStorage, lb: LoadBalancer): Promise<void> {
    const cleared = { ...lb, status: withoutWait(lb, this.#nowMs()) };
    await this.#store(storage, lb, withDeletionBlock(cleared, deletionBlockOf(lb), this.#nowMs()));
  }

  async #validate(
    lb: LoadBalancer,
    { operation, oldAttributes }: Extract<LoadBalancerDecision, { kind: "validate" }>,
  ): Promise<ValidationResult> {
    const { drivers, validations } = this.#options;
    const { lbDriver, lbSpec, attributes } = lb.spec;
    const driver = drivers.of(lbDriver, lb.metadata.namespace);
    if (driver === undefined) return { kind: "failed", message: "the driver does not exist" };
    const ask = (): Promise<ValidationResult> => driver.validateLoadBalancer(lb, operation, oldAttributes);
    // its answer depends on what other objects claim, and costs no call
    if (lbDriver === AZURE_DRIVER) return ask();
    return validations.of(drivers.question(lb.metadata, lbDriver, [operation, lbSpec, attributes, oldAttributes]), ask);
  }

  async #wait(
    storage: LoadBalancerStorage,
    lb: LoadBalancer,
    { reason, message }: Extract<LoadBalancerDecision, { kind: "wait" }>,
  ): Promise<Verdict> {
    const status = afterWaiting(lb, reason, message, this.#nowMs());
    if (status !== lb.status) storage.emit(lb, eventText(reason, message));
    await this.#store(storage, lb, status);
    return later(reason === "WebhookFailed" ? FAILED_AGAIN_MS : WAITING_AGAIN_MS);
  }

  /** `undefined`: continue with the next step. */
  async #take(storage: LoadBalancerStorage, lb: LoadBalancer, step: LoadBalancerStep): Promise<Verdict | undefined> {
    switch (step.kind) {
      case "addFinalizer":
        await storage.addFinalizer(lb);
        return undefined;
      case "markCreating":
        await storage.store(lb, markedCreating(lb, this.#nowMs()));
        return undefined;
      case "removeFinalizer":
        if (step.why === "forgotten") storage.emit(lb, forgotten(lb));
        await storage.release(lb);
        return DONE;
      case "create":
      case "ensure":
      case "delete":
        return this.#ask(storage, lb, step.kind);
    }
  }

  async #ask(storage: LoadBalancerStorage, lb: LoadBalancer, verb: Verb): Promise<Verdict | undefined> {
    const { drivers, delays } = this.#options;
    const { lbDriver, attributes } = lb.spec;
    const driver = drivers.of(lbDriver, lb.metadata.namespace);
    if (driver === undefined) return { kind: "retry" };
    const question = drivers.question(lb.metadata, lbDriver, [verb, attributes]);
    const waitMs = delays.remainingMs(question);
    if (waitMs !== undefined) return later(waitMs);
    const onRetry = (msg: string): void =>
      storage.emit(lb, unfinishedEvent(`${verb}LoadBalancer`, { status: "Error", msg }));
    if (verb === "create") {
      const answer = await driver.createLoadBalancer(lb, onRetry);
      return this.#follow(storage, lb, question, answer, afterCreate(lb, answer, this.#nowMs()));
    }
    if (verb === "ensure") {
      const answer = await driver.ensureLoadBalancer(lb, onRetry);
      return this.#follow(storage, lb, question, answer, afterEnsureLoadBalancer(lb, answer, this.#nowMs()));
    }
    const answer = await driver.deleteLoadBalancer(lb, onRetry);
    const next = await this.#follow(storage, lb, question, answer, afterDeleteLoadBalancer(lb, answer, this.#nowMs()));
    if (next === undefined) await storage.release(lb);
    return next ?? DONE;
  }

  async #follow(
    storage: LoadBalancerStorage,
    lb: LoadBalancer,
    question: Question,
    answer: Answer,
    { status, event }: { readonly status: LoadBalancerStatus; readonly event: EventText | undefined },
  ): Promise<Verdict | undefined> {
    if (answer.status === "Succ") this.#ensured.note(keyOf(lb));
    const next = this.#options.delays.after(question, answer);
    await this.#store(storage, lb, status);
    storage.emit(lb, event);
    return next;
  }

  async #store(storage: LoadBalancerStorage, lb: LoadBalancer, status: LoadBalancerStatus): Promise<void> {
    if (status !== lb.status) await storage.store(lb, status);
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

function forgotten({ status, spec }: LoadBalancer): EventText {
  const what = JSON.stringify(status.lbInfo ?? spec.lbSpec);
  return eventText("ForgottenLoadBalancer", `let go by hand: ${what} may still exist`);
}
