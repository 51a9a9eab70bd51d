/**
 * A driver behind webhooks, which speaks LBCF's protocol over HTTP (`webhook-client.ts`). Its health is probed for its
 * object's conditions only: LBCF never called healthz, so a driver that does not answer it is called all the same.
 */
import type { Random } from "../../../core/util/clock.ts";
import type { JudgedPods } from "../../../core/lbcf/drivers/driver-answers.ts";
import type {
  GeneratedAddress,
  Answer,
  CreatedLoadBalancer,
  EnsuredBackend,
} from "../../../core/lbcf/drivers/driver-answers.ts";
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { BackendRecord, LoadBalancer, Pod, StringMap } from "../../../core/lbcf/objects/objects.ts";
import {
  addressAnswer,
  createAnswer,
  deregisterAnswer,
  ensureAnswer,
  healthOf,
  judgedPodsOf,
  plainAnswer,
  type Reply,
  validationOf,
} from "../../../core/lbcf/drivers/webhook-answers.ts";
import {
  backendRequest,
  type BackendQuestion,
  type BackendObject,
  createLoadBalancerRequest,
  generateBackendAddrRequest,
  type Hook,
  judgePodDeregisterRequest,
  loadBalancerRequest,
  validateBackendRequest,
  validateLoadBalancerRequest,
} from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { BackendDriver } from "./driver.ts";
import { WebhookClient, type WebhookClientOptions } from "./webhook-client.ts";
import { randomUuid } from "./uuid.ts";
import { errorText } from "../../../core/util/text.ts";

export interface WebhookDriverOptions extends WebhookClientOptions {
  readonly random: Random;
  /** The full objects of a record's backend, read from the API server; `undefined` when it has changed or is gone. */
  readonly backendObjectOf: (record: BackendRecord, source: string) => Promise<BackendObject | undefined>;
  readonly fullPods: (pods: readonly Pod[]) => Promise<readonly object[]>;
}

/** The cache will have the pod or node as the API server has it by then. */
const CHANGED_AGAIN_MS = 1_000;

export interface Health {
  readonly healthy: boolean;
  readonly message: string;
}

export class WebhookDriver implements BackendDriver {
  readonly canDrain = false;
  readonly #options: WebhookDriverOptions;
  readonly #client: WebhookClient;
  #health: Health | undefined;

  constructor(options: WebhookDriverOptions) {
    this.#options = options;
    this.#client = new WebhookClient(options);
  }

  /** The last answer of its healthz; `undefined` when it has none, or was not asked yet. */
  get health(): Health | undefined {
    return this.#health;
  }

  /** Calls its healthz. `undefined` when the answer tells no health. */
  async probe(): Promise<Health | undefined> {
    try {
      this.#health = healthOf(await this.#client.probe());
    } catch (error) {
      this.#health = { healthy: false, message: errorText(error) };
    }
    return this.#health;
  }

  validateLoadBalancer(
    lb: LoadBalancer,
    operation: "Create" | "Update",
    oldAttributes: StringMap,
  ): Promise<ValidationResult> {
    return this.#judge("validateLoadBalancer", validateLoadBalancerRequest(lb, operation, oldAttributes));
  }

  createLoadBalancer(lb: LoadBalancer): Promise<Answer<CreatedLoadBalancer>> {
    return this.#ask("createLoadBalancer", createLoadBalancerRequest(lb, this.#retryId()), createAnswer);
  }

  ensureLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    const hook = "ensureLoadBalancer";
    return this.#ask(hook, loadBalancerRequest(hook, lb, this.#retryId()), (reply) => plainAnswer(hook, reply));
  }

  deleteLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    const hook = "deleteLoadBalancer";
    return this.#ask(hook, loadBalancerRequest(hook, lb, this.#retryId()), (reply) => plainAnswer(hook, reply));
  }

  validateBackend(question: BackendQuestion): Promise<ValidationResult> {
    return this.#judge("validateBackend", validateBackendRequest(question));
  }

  /** A static address is used as is, without a call. */
  async generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<GeneratedAddress>> {
    if (record.spec.backend.kind === "Static") return { status: "Succ", msg: "", backendAddr: source };
    let subject: BackendObject | undefined;
    try {
      subject = await this.#options.backendObjectOf(record, source);
    } catch (error) {
      return { status: "Error", msg: errorText(error) };
    }
    if (subject === undefined) {
      return { status: "Running", msg: "its pod or node has changed meanwhile", retryAfterMs: CHANGED_AGAIN_MS };
    }
    const request = generateBackendAddrRequest(record, subject, this.#retryId());
    return this.#ask("generateBackendAddr", request, addressAnswer);
  }

  ensureBackend(record: BackendRecord): Promise<Answer<EnsuredBackend>> {
    return this.#ask("ensureBackend", backendRequest("ensureBackend", record, this.#retryId()), ensureAnswer);
  }

  drainBackend(): Promise<Answer> {
    return Promise.resolve({ status: "Succ", msg: "" });
  }

  deregisterBackend(record: BackendRecord): Promise<Answer> {
    const hook = "deregisterBackend";
    return this.#ask(hook, backendRequest(hook, record, this.#retryId()), deregisterAnswer);
  }

  async judgePodDeregister(pods: readonly Pod[]): Promise<JudgedPods> {
    try {
      const request = judgePodDeregisterRequest(await this.#options.fullPods(pods));
      const judged = judgedPodsOf(await this.#client.call("judgePodDeregister", request));
      if (judged.kind === "failed") this.#client.count("fails", "judgePodDeregister");
      return judged;
    } catch (error) {
      return { kind: "failed", message: errorText(error) };
    }
  }

  async #judge(hook: Hook, request: object): Promise<ValidationResult> {
    try {
      const validation = validationOf(hook, await this.#client.call(hook, request));
      if (validation.kind !== "valid") this.#client.count(validation.kind === "refused" ? "fails" : "errors", hook);
      return validation;
    } catch (error) {
      return { kind: "failed", message: errorText(error) };
    }
  }

  async #ask<Result extends object>(
    hook: Hook,
    request: object,
    read: (reply: Reply) => Answer<Result>,
  ): Promise<Answer<Result>> {
    try {
      const answer = read(await this.#client.call(hook, request));
      if (answer.status === "Fail") this.#client.count("fails", hook);
      if (answer.status === "Error" || answer.status === "Invalid") this.#client.count("errors", hook);
      return answer;
    } catch (error) {
      return { status: "Error", msg: errorText(error) };
    }
  }

  #retryId(): string {
    return randomUuid(this.#options.random);
  }
}
