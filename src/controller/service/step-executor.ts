/**
 * Carries out the steps of a decision as writes, to Azure and to the Service. Resolves once the write is over;
 * rejects with the failure, or with `RefusedError` where the user must change something.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import type { Priority } from "../../azure/budget/limits.ts";
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import type { Committed, ArmBody, Retry, Write } from "../../azure/group-commit/commit-types.ts";
import { WriteKind } from "../../azure/group-commit/write-kind.ts";
import { nameOfId } from "../../core/model/ids.ts";
import { serviceKey, type Ingress, type Service } from "../../core/model/kubernetes.ts";
import type { AzureStep, Bodies, Fragments, Kind, StepOf } from "../../core/resources/azure-step.ts";
import { isBodyOf, KINDS } from "../../core/resources/kinds.ts";
import type { Step, ServiceStep } from "../../core/steps.ts";
import type { Warning } from "../../core/outcome.ts";
import type { AdminState } from "../admin-state/admin-state.ts";
import { RefusedError, type StepExecutor } from "./cloud-load-balancer.ts";
import type { MemberLists } from "../pools/member-list.ts";
import type { Observer } from "./observer.ts";
import type { WriteThroughStore } from "../../kube/cache/store.ts";
import { projectService, type CachedService } from "../projections.ts";
import { APPLIED_ANNOTATION } from "../../core/service/applied-state.ts";
import { CLASS_ANNOTATION, FINALIZER, type ClassFilter } from "../../core/intent/ownership.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import { SERVICES, type KubeObject } from "../../kube/client/resources.ts";

export interface StepExecutorOptions {
  readonly observer: Pick<Observer, "nodeNames">;
  readonly commit: GroupCommit;
  readonly services: Pick<ServiceWriter, "apply">;
  readonly members: Pick<MemberLists, "remember" | "rememberNames" | "settle">;
  /** Where the answers to writes of Services go. */
  readonly written: Pick<WriteThroughStore<CachedService>, "wrote">;
  readonly onWarning: (service: Service | undefined, warning: Warning) => void;
  /** A write failed and will be repeated. `what`: as in `load balancer "kubernetes"`. */
  readonly onRetry: (service: Service | undefined, what: string, retry: Retry) => void;
  readonly adminState?: Pick<AdminState, "taints" | "joined"> | undefined;
}

export class AzureStepExecutor implements StepExecutor {
  readonly #options: StepExecutorOptions;
  /** Each with the table's merge, so what is written is what a plan showed, merged into what is there at that moment. */
  readonly #kinds: WriteKinds<Kind> = {};

  constructor(options: StepExecutorOptions) {
    this.#options = options;
  }

  async apply(service: Service, step: Step, signal: AbortSignal): Promise<Service | undefined> {
    if ("id" in step) {
      const priority = service.metadata.deletionTimestamp === undefined ? "create" : "delete";
      await this.write(step, priority, { service, signal });
      return undefined;
    }
    const stored = await this.#options.services.apply(service, step);
    if (stored === undefined) return undefined;
    const written = projectService(stored);
    this.#options.written.wrote(written);
    return written;
  }

  expect(service: Service, ids: readonly string[]): void {
    this.#options.commit.expect(serviceKey(service), ids);
  }

  /** `by`: the Service that asks for it, and the signal that withdraws it; no Service asks for pools that follow the nodes. */
  async write(step: AzureStep, priority: Priority, by?: { service: Service; signal: AbortSignal }): Promise<void> {
    const { onWarning, onRetry, adminState, members } = this.#options;
    const service = by?.service;
    await this.#remember(step);
    const committed = await this.#commit(step, {
      priority,
      onRetry: (retry) => onRetry(service, nameOf(step), retry),
      namespace: service?.metadata.namespace,
      ...(by && { signal: by.signal }),
    });
    // whatever the outcome: an attempt whose answer was lost may have joined the network interface
    if (step.kind === "nicPools") adminState?.joined();
    for (const warning of warningsOf(committed)) onWarning(service, warning);
    if (committed.kind === "refused") throw new RefusedError(committed.rejection);
    if (committed.kind === "withdrawn") by?.signal.throwIfAborted();
    if (committed.kind === "failed") throw new ArmError(committed.failure, nameOf(step));
    if (committed.kind !== "written") return;
    // of a part, the group commit answers the whole resource
    const whole: unknown = committed.body;
    if (step.kind === "backendPool" && isBodyOf("loadBalancer", whole)) await members.settle(step, whole);
  }

  /** What no Service owns has no key: its newest write takes the place of an older one that still waits. */
  #commit<K extends Kind>(
    step: StepOf<K>,
    options: Pick<Write<Bodies[K], Fragments[K]>, "priority" | "namespace" | "onRetry" | "signal">,
  ): Promise<Committed<Bodies[K]>> {
    const { id, kind, fragment } = step;
    const owner = KINDS[kind].ownerOf?.(fragment);
    return this.#options.commit.submit<Bodies[K], Fragments[K], Bodies[K]>({
      id,
      kind: writeKindOf(kind, this.#kinds, this.#options.adminState?.taints),
      fragment,
      ...(owner && { dedupKey: owner.key }),
      ...options,
    });
  }

  /**
   * Every name that may be in a pool afterwards is recorded before. Of machines, all nodes' names will do, and those that the
   * decision was made for: their Nodes may be gone since.
   */
  async #remember(step: AzureStep): Promise<void> {
    const { members, observer } = this.#options;
    if (step.kind === "backendPool") await members.remember(step);
    if (step.kind === "loadBalancer" && step.fragment.records !== undefined)
      await members.rememberNames(`${step.id}/backendAddressPools/`, step.fragment.records);
    if (step.kind !== "nicPools") return;
    const { join, nodes = [] } = step.fragment;
    for (const { pool } of join) await members.rememberNames(pool, [...new Set([...observer.nodeNames, ...nodes])]);
  }
}

/** Made where the first step of the kind comes. */
type WriteKinds<K extends Kind> = { [Each in K]?: WriteKind<Bodies[Each], Fragments[Each]> };

function writeKindOf<K extends Kind>(
  kind: K,
  made: WriteKinds<K>,
  taints: AdminState["taints"] | undefined,
): WriteKind<Bodies[K], Fragments[K]> {
  const { metricLabel, merge, refresh } = KINDS[kind];
  const now = (fragment: Fragments[K]): Fragments[K] =>
    taints === undefined || refresh === undefined ? fragment : refresh(fragment, taints.nodeOf);
  return (made[kind] ??= new WriteKind(metricLabel, (seen, fragments) => merge(seen, fragments.map(now))));
}

function nameOf({ kind, id }: AzureStep): string {
  return `${KINDS[kind].noun} "${nameOfId(id)}"`;
}

function warningsOf(committed: Committed<ArmBody>): readonly Warning[] {
  return "warnings" in committed ? committed.warnings : [];
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The only writes to a Service: its finalizer, its status, and the mark of what is applied. Each is a patch of just
 * that, bound to the incarnation (uid) that was looked at, so a Service deleted and made anew is never touched by
 * what was decided for the old one.
 */
export class ServiceWriter {
  readonly #client: KubeClient;
  readonly #classFilter: ClassFilter;

  constructor(client: KubeClient, classFilter: ClassFilter) {
    this.#client = client;
    this.#classFilter = classFilter;
  }

  /** Resolves with the Service as the server has it now, or `undefined` when it is gone. */
  async apply(service: Service, step: ServiceStep): Promise<KubeObject | undefined> {
    const place = { namespace: service.metadata.namespace ?? "default", name: service.metadata.name };
    try {
      switch (step.kind) {
        case "addFinalizer":
          return await this.#addFinalizer(service, place);
        case "removeFinalizer":
          return await this.#removeFinalizer(service, place);
        case "updateStatus":
          return await this.#publish(service, place, step.ingress, step.applied);
      }
    } catch (error) {
      if (isFailure(error, "notFound")) return undefined;
      throw error;
    }
  }

  /** Strategic merge adds to the list: others' finalizers are safe without a version. */
  #addFinalizer({ metadata: { uid } }: Service, place: Place): Promise<KubeObject> {
    const annotations = this.#classFilter === undefined ? {} : { [CLASS_ANNOTATION]: this.#classFilter };
    const metadata = { finalizers: [FINALIZER], annotations };
    return this.#client.patch(SERVICES, place, { strategic: { metadata } }, { uid });
  }

  /** Only from the version that was decided on: after a late patch, a later version of the Service would be without it. */
  #removeFinalizer({ metadata: { uid, resourceVersion } }: Service, place: Place): Promise<KubeObject> {
    const metadata = { "$deleteFromPrimitiveList/finalizers": [FINALIZER] };
    return this.#client.patch(SERVICES, place, { strategic: { metadata } }, { uid, resourceVersion });
  }

  /**
   * One patch for both: the status subresource of a Service takes metadata too. Only on the version that was decided
   * on: an older status that was long on its way must not take the place of a newer one.
   */
  #publish(
    { metadata: { uid, resourceVersion } }: Service,
    place: Place,
    ingress: readonly Ingress[],
    applied: string | undefined,
  ): Promise<KubeObject> {
    const metadata = { annotations: { [APPLIED_ANNOTATION]: applied ?? null } };
    const status = { loadBalancer: ingress.length === 0 ? null : { ingress } };
    const only = { uid, resourceVersion };
    return this.#client.patch(SERVICES, { ...place, subresource: "status" }, { merge: { metadata, status } }, only);
  }
}
