/**
 * The built-in driver `lbcf-azure`: a LoadBalancer is an Azure load balancer with a pool (`azure-load-balancers.ts`), a
 * backend is an entry of that pool. An entry has no port (the rule has), so records of one address share one entry;
 * `reconcile-backend-record.ts` decides which of them may remove it.
 */
import type { Priority } from "../../../azure/budget/limits.ts";
import type { ArmBody, Committed } from "../../../azure/group-commit/commit-types.ts";
import { poolHolder } from "../../../core/lbcf/azure/azure-claims.ts";
import { addressMistake, poolConflict, poolOf, recordMistake } from "../../../core/lbcf/azure/azure-record.ts";
import { parametersMistake, parseAzureAttributes } from "../../../core/lbcf/azure/azure-spec.ts";
import { type BackendChange, entryName } from "../../../core/lbcf/azure/merge-backends.ts";
import type { StaticAddresses } from "../../../core/lbcf/azure/static-addresses.ts";
import type {
  Answer,
  CreatedLoadBalancer,
  EnsuredBackend,
  GeneratedAddress,
  JudgedPods,
  ValidationResult,
} from "../../../core/lbcf/drivers/driver-answers.ts";
import type { BackendQuestion } from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { BackendRecord, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import type { AdminState } from "../../../core/model/arm.ts";
import { virtualNetworkId } from "../../../core/model/ids.ts";
import type { BackendDriver, OnRetry } from "../drivers/driver.ts";
import { addressOf, answerOf, asAnswer, SUCC } from "./azure-answers.ts";
import { AzureLoadBalancers, type AzureLoadBalancersOptions } from "./azure-load-balancers.ts";
import type { BackendBatcher } from "./backend-batcher.ts";

export interface AzureDriverOptions extends AzureLoadBalancersOptions {
  readonly batcher: BackendBatcher;
  /** The admin state that the backend's node requires; `undefined` when the controller does not set it. */
  readonly adminStateOf: (record: BackendRecord) => AdminState | undefined;
  readonly staticAddresses: StaticAddresses;
  /** How many records of the record's load balancer no driver has answered yet. */
  readonly unanswered: (record: BackendRecord) => number;
}

export class AzureDriver implements BackendDriver {
  readonly canDrain: boolean;
  readonly #options: AzureDriverOptions;
  readonly #loadBalancers: AzureLoadBalancers;

  constructor(options: AzureDriverOptions) {
    this.#options = options;
    this.#loadBalancers = new AzureLoadBalancers(options);
    this.canDrain = options.config.enableAdminState;
  }

  validateLoadBalancer(lb: LoadBalancer): Promise<ValidationResult> {
    return this.#loadBalancers.validate(lb);
  }

  createLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer<CreatedLoadBalancer>> {
    return this.#loadBalancers.create(lb, onRetry);
  }

  ensureLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer> {
    return this.#loadBalancers.ensure(lb, onRetry);
  }

  deleteLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer> {
    return this.#loadBalancers.delete(lb, onRetry);
  }

  validateBackend({ parameters }: BackendQuestion): Promise<ValidationResult> {
    const message = parametersMistake(parameters);
    return Promise.resolve(message === undefined ? { kind: "valid" } : { kind: "refused", message });
  }

  generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<GeneratedAddress>> {
    return Promise.resolve(addressOf(record, source));
  }

  ensureBackend(record: BackendRecord): Promise<Answer<EnsuredBackend>> {
    return asAnswer(() => this.#ensure(record));
  }

  drainBackend(record: BackendRecord): Promise<Answer> {
    const states = new Map([[this.#entryOf(record).toLowerCase(), "Down" as const]]);
    return this.#changed(record, { kind: "states", states }, "drain");
  }

  deregisterBackend(record: BackendRecord): Promise<Answer> {
    return this.#changed(record, { kind: "absent", name: this.#entryOf(record) }, "delete");
  }

  async #ensure(record: BackendRecord): Promise<Answer<EnsuredBackend>> {
    const attributes = parseAzureAttributes(record.spec.lbAttributes);
    const change = {
      kind: "present" as const,
      name: this.#entryOf(record),
      ipAddress: record.status.backendAddr,
      adminState: () => this.#options.adminStateOf(record),
      atMost: "mistake" in attributes ? Number.MAX_SAFE_INTEGER : attributes.maxBackends,
    };
    const { config, staticAddresses } = this.#options;
    const mistake = recordMistake(record, config) ?? addressMistake(record, staticAddresses) ?? this.#conflict(record);
    if (mistake !== undefined) return { status: "Fail", msg: mistake };
    const committed = await this.#change(record, change, "create");
    const answer = answerOf(committed);
    if (answer.status !== "Succ") return answer;
    const [warning] = "warnings" in committed ? committed.warnings : [];
    return { ...SUCC, injectedInfo: {}, ...(warning && { reason: warning.reason, msg: warning.message }) };
  }

  /** The driver has no knowledge of pods beyond their objects. */
  judgePodDeregister(): Promise<JudgedPods> {
    return Promise.resolve({ kind: "failed", message: "lbcf-azure does not judge pods" });
  }

  /** Leaving is always allowed; entering a pool only where the record's LoadBalancer may use it. */
  #conflict(record: BackendRecord): string | undefined {
    const holder = poolHolder(poolOf(record), this.#options.claims());
    return poolConflict(record, holder);
  }

  #changed(record: BackendRecord, change: BackendChange["change"], priority: Priority): Promise<Answer> {
    return asAnswer(async () => {
      const mistake = recordMistake(record, this.#options.config);
      if (mistake !== undefined) return { status: "Fail", msg: mistake };
      return answerOf(await this.#change(record, change, priority));
    });
  }

  #change(record: BackendRecord, change: BackendChange["change"], priority: Priority): Promise<Committed<ArmBody>> {
    const { config, batcher, unanswered } = this.#options;
    return batcher.submit({
      poolId: poolOf(record),
      change: { virtualNetworkId: virtualNetworkId(config), change },
      dedupKey: record.metadata.uid,
      priority,
      namespace: record.metadata.namespace,
      readFirst: record.spec.ensurePolicy.policy === "Always",
      ...(change.kind === "present" && { outstanding: () => unanswered(record) }),
    });
  }

  #entryOf(record: BackendRecord): string {
    return entryName(this.#options.config.clusterName, poolOf(record), record.status.backendAddr);
  }
}
