/**
 * Carries out the steps of a decision as writes, to Azure and to the Service. Resolves once the write is over;
 * rejects with the failure, or with `RefusedError` where the user must change something.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import type { Priority } from "../../azure/budget/budget.ts";
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import type { Committed, ArmBody } from "../../azure/group-commit/commit-types.ts";
import { WriteKind } from "../../azure/group-commit/write-kind.ts";
import { nameOfId } from "../../core/model/ids.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import type { AzureStep, Bodies, Fragments, Kind, StepOf } from "../../core/resources/azure-step.ts";
import { isBodyOf, KINDS } from "../../core/resources/kinds.ts";
import type { ReadRequest, Step } from "../../core/steps.ts";
import type { Warning } from "../../core/outcome.ts";
import type { Observed } from "../../core/observed.ts";
import type { AdminState } from "../admin-state/admin-state.ts";
import { RefusedError, type StepExecutor } from "./executor.ts";
import type { MemberLists } from "../pools/member-list.ts";
import type { Observer } from "./observer.ts";
import type { WriteThroughStore } from "../../kube/cache/store.ts";
import { projectService, type CachedService } from "../projections.ts";
import type { ServiceWriter } from "./service-writer.ts";
import type { DecisionTurns } from "../../core/util/clock.ts";

export interface StepExecutorOptions {
  readonly observer: Pick<Observer, "observe" | "refresh" | "nodeNames">;
  readonly commit: GroupCommit;
  readonly services: Pick<ServiceWriter, "apply">;
  readonly members: Pick<MemberLists, "remember" | "rememberNames" | "settle">;
  /** Where the answers to writes of Services go. */
  readonly written: Pick<WriteThroughStore<CachedService>, "wrote">;
  readonly onWarning: (service: Service | undefined, warning: Warning) => void;
  readonly turns: Pick<DecisionTurns, "next">;
  readonly adminState?: Pick<AdminState, "nodeOf" | "joined"> | undefined;
}

export class AzureStepExecutor implements StepExecutor {
  readonly #options: StepExecutorOptions;
  /** Each with the table's merge, so what is written is what a plan showed, merged into what is there at that moment. */
  readonly #kinds: { readonly [K in Kind]: WriteKind<Bodies[K], Fragments[K]> };

  constructor(options: StepExecutorOptions) {
    this.#options = options;
    this.#kinds = {
      publicIP: this.#kindOf("publicIP"),
      loadBalancer: this.#kindOf("loadBalancer"),
      backendPool: this.#kindOf("backendPool"),
      nicPools: this.#kindOf("nicPools"),
      securityGroup: this.#kindOf("securityGroup"),
    };
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
    this.#options.written.wrote(written);
    return written;
  }

  /** Also for writes that no Service asked for: pools that follow the nodes. */
  async write(step: AzureStep, priority: Priority, service?: Service): Promise<void> {
    const { onWarning, adminState, members } = this.#options;
    await this.#remember(step);
    const committed = await this.#commit(step, priority);
    for (const warning of warningsOf(committed)) onWarning(service, warning);
    if (committed.kind === "refused") throw new RefusedError(committed.rejection);
    if (committed.kind === "failed") throw new ArmError(committed.failure, nameOf(step));
    if (committed.kind !== "written") return;
    if (step.kind === "nicPools") adminState?.joined();
    // of a part, the group commit answers the whole resource
    const whole: unknown = committed.body;
    if (step.kind === "backendPool" && isBodyOf("loadBalancer", whole)) await members.settle(step, whole);
  }

  #kindOf<K extends Kind>(kind: K): WriteKind<Bodies[K], Fragments[K]> {
    const { adminState } = this.#options;
    const { metricLabel, merge, refresh } = KINDS[kind];
    const now = (fragment: Fragments[K]): Fragments[K] =>
      adminState === undefined || refresh === undefined ? fragment : refresh(fragment, adminState.nodeOf);
    return new WriteKind(metricLabel, (seen, fragments) => merge(seen, fragments.map(now)));
  }

  /** What no Service owns has no key: its newest write takes the place of an older one that still waits. */
  #commit<K extends Kind>(step: StepOf<K>, priority: Priority): Promise<Committed<Bodies[K]>> {
    const { id, kind, fragment } = step;
    const owner = KINDS[kind].ownerOf?.(fragment);
    return this.#options.commit.submit<Bodies[K], Fragments[K], Bodies[K]>({
      id,
      kind: this.#kinds[kind],
      fragment,
      ...(owner && { dedupKey: owner.key }),
      priority,
    });
  }

  /** Every name that may be in a pool afterwards is recorded before. Of machines, all nodes' names will do. */
  async #remember(step: AzureStep): Promise<void> {
    const { members, observer } = this.#options;
    if (step.kind === "backendPool") await members.remember(step);
    if (step.kind !== "nicPools") return;
    for (const { pool } of step.fragment.join) await members.rememberNames(pool, observer.nodeNames);
  }
}

function nameOf({ kind, id }: AzureStep): string {
  return `${KINDS[kind].noun} "${nameOfId(id)}"`;
}

function warningsOf(committed: Committed<ArmBody>): readonly Warning[] {
  return "warnings" in committed ? committed.warnings : [];
}
