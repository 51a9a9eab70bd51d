/**
 * Reconciles BackendRecords: asks `reconcileBackendRecord` for the next step and takes it, until there is none.
 * The handlers in `watch/` enqueue:
 *
 *   event                                              | records enqueued
 *   ---------------------------------------------------|------------------------------------------
 *   a record changed, or exists at the start           | that one
 *   a record was deleted or registered                 | unsettled ones with the same address
 *   a pod changed address or readiness, or terminates  | those of the pod
 *   a node changed address, or was deleted             | those of the node
 *   a driver was added, changed, or is healthy again   | unsettled ones of the driver
 *   a load balancer's annotations changed (`forget`)   | those of the load balancer
 */
import { type EventText, eventText } from "../../../core/events/event-reasons.ts";
import type { Answer } from "../../../core/lbcf/drivers/driver-answers.ts";
import { backendState } from "../../../core/lbcf/records/backend-state.ts";
import type { BackendRecord, RecordStatus } from "../../../core/lbcf/objects/objects.ts";
import {
  addressKey,
  reconcileBackendRecord,
  type RecordStep,
} from "../../../core/lbcf/records/reconcile-backend-record.ts";
import {
  afterDeregister,
  afterEnsure,
  afterGenerate,
  afterWait,
  type RecordUpdate,
  withoutAddress,
} from "../../../core/lbcf/records/record-status.ts";
import type { Node } from "../../../core/model/kubernetes.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { untilSettled } from "../../../core/util/until-settled.ts";
import { AddressLock } from "./address-lock.ts";
import type { BackendDriver } from "../drivers/driver.ts";
import type { Question } from "../drivers/retry-delays.ts";
import { LastEnsured } from "../last-ensured.ts";
import { DONE, later, type LbcfContext, LbcfLoop, MANY, MOST_DRIVER_ROUNDS, PRIORITY } from "../lbcf-loop.ts";
import { BACKEND_RECORDS } from "../objects/resources.ts";

export interface RecordControllerOptions extends LbcfContext {
  readonly nodeNamed: (name: string) => Node | undefined;
  /** The record's LoadBalancer or Bind has the annotation `forget`. */
  readonly isForgotten: (record: BackendRecord) => boolean;
}

const AGAIN_MS = 10_000;

type DriverStep = Extract<RecordStep, { kind: "generateAddress" | "ensure" | "drain" | "deregister" }>;

export class RecordController {
  readonly loop: LbcfLoop;
  readonly #options: RecordControllerOptions;
  readonly #lock: AddressLock;
  /** When each was last ensured. Saves calls only: without an entry the driver is asked again. */
  readonly #ensured: LastEnsured;

  constructor(options: RecordControllerOptions) {
    this.#options = options;
    this.loop = new LbcfLoop(BACKEND_RECORDS, options, (job) => this.#reconcile(job), MANY);
    this.#ensured = new LastEnsured(options.clock);
    this.#lock = new AddressLock((key) => this.loop.enqueue(key));
  }

  enqueue(records: Iterable<BackendRecord>): void {
    for (const record of records) {
      const priority = record.metadata.deletionTimestamp === undefined ? PRIORITY.change : PRIORITY.delete;
      this.loop.enqueue(keyOf(record), 0, priority);
    }
  }

  forget(record: BackendRecord): void {
    this.#ensured.forget(keyOf(record));
    this.#options.delays.forget(record.metadata.uid);
  }

  #reconcile(job: Job): Promise<Verdict> {
    return untilSettled(`record ${job.key}`, () => this.#round(job), MOST_DRIVER_ROUNDS);
  }

  /** `undefined`: continue with the next step. */
  async #round({ key }: Job): Promise<Verdict | undefined> {
    const record = this.#options.cache.records.objects.get(key);
    if (record === undefined) return DONE;
    const driver = this.#options.drivers.of(record.spec.lbDriver, record.metadata.namespace);
    const decision = this.#decide(record, driver);
    switch (decision.kind) {
      case "settled":
        return later(decision.againAfterMs);
      case "wait": {
        const { reason, message, againAfterMs } = decision;
        if (reason === "DelayedEnsureBackend") this.#emit(record, eventText(reason, message));
        await this.#store(record, afterWait(record, reason, message, this.#nowMs()));
        return later(againAfterMs);
      }
      case "step":
        return this.#take(record, decision.step, driver);
    }
  }

  #decide(record: BackendRecord, driver: BackendDriver | undefined): ReturnType<typeof reconcileBackendRecord> {
    const { cache, nodeNamed, isForgotten } = this.#options;
    const { backend } = record.spec;
    const { namespace } = record.metadata;
    const pod = backend.kind === "Pod" ? cache.pods.store.get(`${namespace}/${backend.name}`) : undefined;
    const node = backend.kind === "Service" ? nodeNamed(backend.nodeName) : undefined;
    const address = addressKey(record);
    const sharing = address === undefined ? [] : cache.records.objects.by("address", address);
    return reconcileBackendRecord({
      record,
      backend: backendState(record, { pod, node }),
      driver: driver === undefined ? { kind: "missing" } : { kind: "found", canDrain: driver.canDrain },
      others: sharing.filter(({ metadata }) => metadata.uid !== record.metadata.uid),
      isForgotten: isForgotten(record),
      sinceEnsuredMs: this.#ensured.sinceMs(keyOf(record)),
      nowMs: this.#nowMs(),
    });
  }

  /** `undefined`: continue with the next step. */
  async #take(
    record: BackendRecord,
    step: RecordStep,
    driver: BackendDriver | undefined,
  ): Promise<Verdict | undefined> {
    const { writer } = this.#options;
    switch (step.kind) {
      case "addFinalizer":
        await writer.addRecordFinalizer(record);
        return undefined;
      case "forgetAddress":
        await this.#store(record, withoutAddress(record, this.#nowMs()));
        return undefined;
      case "removeFinalizer":
        if (step.why === "forgotten") this.#emit(record, forgotten(record));
        await writer.releaseRecord(record);
        return DONE;
      case "generateAddress":
      case "ensure":
      case "drain":
      case "deregister":
        if (driver === undefined) throw new Error("a step that needs a driver was taken without one");
        return this.#ask(record, step, driver);
    }
  }

  async #ask(record: BackendRecord, step: DriverStep, driver: BackendDriver): Promise<Verdict | undefined> {
    const question = this.#questionOf(record, step);
    const waitMs = this.#options.delays.remainingMs(question);
    if (waitMs !== undefined) return later(waitMs);
    if (step.kind === "generateAddress") {
      const answer = await this.#aside(record, () => driver.generateBackendAddr(record, step.source));
      return this.#follow(record, question, answer, afterGenerate(record, step.source, answer, this.#nowMs()));
    }
    const address = addressKey(record) ?? "";
    const intent = step.kind === "ensure" ? "ensure" : "deregister";
    const release = this.#lock.acquire(address, intent, keyOf(record));
    if (release === undefined) return later(AGAIN_MS);
    try {
      if (step.kind === "ensure") return await this.#ensure(record, question, driver);
      if (step.kind === "drain") return await this.#drain(record, question, step.untilMs, driver);
      return await this.#deregister(record, question, step.thenRelease, driver);
    } finally {
      release();
    }
  }

  #questionOf(record: BackendRecord, step: DriverStep): Question {
    const { metadata, spec, status } = record;
    const from = step.kind === "generateAddress" ? step.source : status.backendAddr;
    return this.#options.drivers.question(metadata, spec.lbDriver, [step.kind, metadata.generation, from]);
  }

  async #ensure(record: BackendRecord, question: Question, driver: BackendDriver): Promise<Verdict | undefined> {
    const answer = await this.#aside(record, () => driver.ensureBackend(record));
    if (answer.status === "Succ") this.#ensured.note(keyOf(record));
    return this.#follow(record, question, answer, afterEnsure(record, answer, this.#nowMs()));
  }

  async #drain(
    record: BackendRecord,
    question: Question,
    untilMs: number,
    driver: BackendDriver,
  ): Promise<Verdict | undefined> {
    const answer = await this.#aside(record, () => driver.drainBackend(record));
    return this.#options.delays.after(question, answer) ?? later(Math.max(0, untilMs - this.#nowMs()));
  }

  async #deregister(
    record: BackendRecord,
    question: Question,
    thenRelease: boolean,
    driver: BackendDriver,
  ): Promise<Verdict | undefined> {
    const answer = await this.#aside(record, () => driver.deregisterBackend(record));
    const next = await this.#follow(
      record,
      question,
      answer,
      afterDeregister(record, thenRelease, answer, this.#nowMs()),
    );
    if (next !== undefined || !thenRelease) return next;
    await this.#options.writer.releaseRecord(record);
    return DONE;
  }

  async #follow(
    record: BackendRecord,
    question: Question,
    answer: Answer,
    { status, event }: RecordUpdate,
  ): Promise<Verdict | undefined> {
    const next = this.#options.delays.after(question, answer);
    await this.#store(record, status);
    this.#emit(record, event);
    return next;
  }

  #aside<T>(record: BackendRecord, ask: () => Promise<T>): Promise<T> {
    return this.loop.aside(keyOf(record), ask);
  }

  async #store(record: BackendRecord, status: RecordStatus): Promise<void> {
    if (status !== record.status) await this.#options.writer.storeRecordStatus(record, status);
  }

  #emit(record: BackendRecord, text: EventText | undefined): void {
    this.#options.events.emit(BACKEND_RECORDS, record, text);
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

function forgotten({ spec: { lbName }, status: { backendAddr } }: BackendRecord): EventText {
  const message = `let go by hand: ${backendAddr || "no address"} may still be registered in load balancer "${lbName}"`;
  return eventText("ForgottenBackend", message);
}
