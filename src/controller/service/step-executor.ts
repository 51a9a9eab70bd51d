/**
 * Carries out the steps of a decision as writes, to Azure and to the Service. Resolves once the write is over;
 * rejects with the failure, or with `RefusedError` where the user must change something.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import type { Priority } from "../../azure/budget/budget.ts";
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import type { Committed, ArmBody } from "../../azure/group-commit/commit-types.ts";
import type { LoadBalancer } from "../../core/model/arm.ts";
import { nameOfId } from "../../core/model/ids.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import type { AzureStep, ReadRequest, Step } from "../../core/steps.ts";
import type { Warning } from "../../core/service/service-intent.ts";
import type { Observed } from "../../core/observed.ts";
import type { AdminState } from "../admin-state/admin-state.ts";
import { writeOf } from "./azure-writes.ts";
import { RefusedError, type StepExecutor } from "./cloud-load-balancer.ts";
import type { MemberLists } from "../pools/member-list.ts";
import type { Observer } from "./observer.ts";
import { projectService } from "../projections.ts";
import type { ServiceMemory } from "./service-memory.ts";
import type { ServiceWriter } from "./service-writer.ts";
import type { Turns } from "../turns.ts";

export interface StepExecutorOptions {
  readonly observer: Observer;
  readonly commit: GroupCommit;
  readonly services: ServiceWriter;
  readonly members: MemberLists;
  readonly memory: ServiceMemory;
  readonly onWarning: (service: Service | undefined, warning: Warning) => void;
  readonly turns: Turns;
  readonly adminState?: Pick<AdminState, "refreshed" | "joined"> | undefined;
}

export class AzureStepExecutor implements StepExecutor {
  readonly #options: StepExecutorOptions;

  constructor(options: StepExecutorOptions) {
    this.#options = options;
  }

  /** What is read is followed by a decision, which has a turn of its own. */
  async observe(service: Service, needs: readonly ReadRequest[], signal: AbortSignal): Promise<Observed> {
    await this.#options.turns.next();
    return this.#options.observer.observe(service, needs, signal);
  }

  refresh(): void {
    this.#options.observer.refresh();
  }

  async apply(service: Service, step: Step): Promise<Service | undefined> {
    if ("id" in step) {
      const priority = service.metadata.deletionTimestamp === undefined ? "create" : "delete";
      await this.write(step, priority, service);
      return undefined;
    }
    const stored = await this.#options.services.apply(service, step);
    if (stored === undefined) return undefined;
    const written = projectService(stored);
    this.#options.memory.wrote(written);
    return written;
  }

  /** Also for writes that no Service asked for: pools that follow the nodes. */
  async write(step: AzureStep, priority: Priority, service?: Service): Promise<void> {
    const { commit, onWarning, adminState, members } = this.#options;
    await this.#remember(step);
    const committed = await commit.submit(writeOf(step, priority, adminState?.refreshed));
    for (const warning of warningsOf(committed)) onWarning(service, warning);
    if (committed.kind === "refused") throw new RefusedError(committed.rejection);
    if (committed.kind === "failed") throw new ArmError(committed.failure, nameOf(step));
    if (committed.kind !== "written") return;
    if (step.kind === "attachment") adminState?.joined();
    if (step.kind === "membership") await members.settle(step, committed.body as LoadBalancer);
  }

  /** Whoever may be in a pool afterwards is known to be ours before. Of machines, all nodes' names will do. */
  async #remember(step: AzureStep): Promise<void> {
    const { members, observer } = this.#options;
    if (step.kind === "membership") await members.remember(step);
    if (step.kind !== "attachment") return;
    for (const { pool } of step.fragment.join) await members.rememberNames(pool, observer.nodeNames);
  }
}

const NOUNS: Readonly<Record<AzureStep["kind"], string>> = {
  publicIP: "public IP",
  loadBalancer: "load balancer",
  membership: "pool",
  attachment: "machine or network interface",
  access: "security group",
};

function nameOf({ kind, id }: AzureStep): string {
  return `${NOUNS[kind]} "${nameOfId(id)}"`;
}

function warningsOf(committed: Committed<ArmBody>): readonly Warning[] {
  return "warnings" in committed ? committed.warnings : [];
}
