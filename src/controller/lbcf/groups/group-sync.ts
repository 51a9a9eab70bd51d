/**
 * Applies `reconcileBackendGroup` to one group of backends: answers its questions (drivers, the API server), then deletes,
 * updates and creates records. Used for BackendGroups and Binds, which differ in how their load balancers are looked up
 * and where their status is stored.
 */
import { pluralize } from "../../../core/util/text.ts";
import { untilSettled } from "../../../core/util/until-settled.ts";
import { MOST_DRIVER_ROUNDS } from "../lbcf-loop.ts";
import type { JudgedPods, ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { DeregistrationLimit } from "../../../core/lbcf/groups/deregistration-limit.ts";
import { type EventText, eventText } from "../../../core/events/event-reasons.ts";
import { groupStatus, groupEvents } from "../../../core/lbcf/groups/group-status.ts";
import type { Lookup } from "../../../core/lbcf/groups/load-balancer-use.ts";
import type { BackendGroup, BackendRecord, GroupStatus } from "../../../core/lbcf/objects/objects.ts";
import {
  type GroupActions,
  type GroupDecision,
  type ObservedGroup,
  reconcileBackendGroup,
  registeredCount,
} from "../../../core/lbcf/groups/reconcile-backend-group.ts";
import type { Clock } from "../../../core/util/clock.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";
import type { Drivers } from "../drivers/drivers.ts";
import type { GroupCluster } from "./group-cluster.ts";
import type { LbcfMetrics } from "../lbcf-metrics.ts";
import { FAILED_AGAIN_MS, REFUSED_AGAIN_MS, type ValidationMemo } from "../drivers/validation-memo.ts";
import { validateGroup } from "./validate-group.ts";
import { type RecordWriter, writeRecords } from "./write-records.ts";

export interface GroupSyncOptions {
  readonly records: WriteThroughStore<BackendRecord>;
  readonly cluster: Pick<GroupCluster, "known" | "confirmed">;
  readonly drivers: Drivers;
  readonly validations: ValidationMemo;
  readonly writer: RecordWriter;
  readonly metrics: LbcfMetrics;
  readonly deregistrationLimit: DeregistrationLimit;
  readonly clock: Clock;
}

export interface GroupOutcome {
  /** To be stored. */
  readonly status: GroupStatus;
  /** Events to send. */
  readonly texts: readonly EventText[];
  /** A failed write of a record; the caller throws it after storing the status. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Set when a driver refused or did not answer, or judged pods: its answer may change without an event. */
  readonly againAfterMs: number | undefined;
}

const JUDGE_AGAIN_MS = 60_000;

interface Answers {
  readonly validations: Map<string, ValidationResult>;
  judged: JudgedPods | undefined;
  confirmed: ObservedGroup["cluster"] | undefined;
  vanished: number;
}

export class GroupSync {
  readonly #options: GroupSyncOptions;

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  async run(group: BackendGroup, loadBalancers: ReadonlyMap<string, Lookup>): Promise<GroupOutcome> {
    const { records } = this.#options;
    const own = records.by("owner", `${group.kind} ${keyOf(group)}`).filter((record) => isOwn(group, record));
    const answers: Answers = { validations: new Map(), judged: undefined, confirmed: undefined, vanished: 0 };
    const actions = await this.#decide(group, loadBalancers, own, answers);
    const failed = await writeRecords(this.#options.writer, group, actions);
    const after = records.by("owner", `${group.kind} ${keyOf(group)}`).filter((record) => isOwn(group, record));
    const nowMs = this.#options.clock.nowMs();
    const disagreement = disagreementOf(answers, actions);
    const { judged } = answers;
    const result = { group, actions, registered: registeredCount(after), disagreement, judged, failed, nowMs };
    return {
      status: groupStatus(result),
      texts: [...groupEvents(result), ...(failed === undefined ? synced(actions) : [])],
      failure: failed,
      againAfterMs: againAfterMs(answers, disagreement),
    };
  }

  forget(uid: string): void {
    this.#options.validations.forget(uid);
  }

  #decide(
    group: BackendGroup,
    loadBalancers: ReadonlyMap<string, Lookup>,
    records: readonly BackendRecord[],
    answers: Answers,
  ): Promise<GroupActions> {
    const round = async (): Promise<GroupActions | undefined> => {
      const decision = reconcileBackendGroup({
        group,
        cluster: answers.confirmed ?? this.#options.cluster.known(group),
        loadBalancers,
        records,
        isTaken: (name) => this.#isTaken(group, name),
        validations: answers.validations,
        judged: answers.judged,
        isConfirmed: answers.confirmed !== undefined,
        deregistrationLimit: this.#options.deregistrationLimit,
      });
      if (decision.kind === "act") return decision;
      await this.#answer(group, decision, answers);
      return undefined;
    };
    return untilSettled(`group ${keyOf(group)}`, round, MOST_DRIVER_ROUNDS);
  }

  #isTaken({ metadata }: BackendGroup, name: string): boolean {
    const record = this.#options.records.get(`${metadata.namespace}/${name}`);
    return record !== undefined && record.metadata.owner?.uid !== metadata.uid;
  }

  async #answer(group: BackendGroup, decision: Exclude<GroupDecision, GroupActions>, answers: Answers): Promise<void> {
    const { drivers, cluster, metrics } = this.#options;
    switch (decision.kind) {
      case "validate":
        await Promise.all(
          decision.loadBalancers.map(async ({ name, loadBalancer }) => {
            answers.validations.set(name, await validateGroup(group, name, loadBalancer, this.#options));
          }),
        );
        return;
      case "judge": {
        const driver = drivers.of(decision.driver, group.metadata.namespace);
        answers.judged =
          driver === undefined
            ? { kind: "failed", message: `there is no driver "${decision.driver}"` }
            : await driver.judgePodDeregister(decision.pods);
        return;
      }
      case "confirm":
        metrics.confirmations.inc();
        answers.vanished = decision.vanished;
        answers.confirmed = await cluster.confirmed(group); // throws if a read fails: then no record is deleted
    }
  }
}

/** Excludes records of an earlier group with the same name. */
function isOwn(group: BackendGroup, { metadata: { owner } }: BackendRecord): boolean {
  return owner?.uid === group.metadata.uid;
}

function synced({ creates, updates, deletes }: GroupActions): readonly EventText[] {
  const changes = creates.length + updates.length + deletes.length;
  const message = `${pluralize(changes, "backend record")} changed`;
  return changes === 0 ? [] : [eventText("SuccSyncedBackendGroup", message)];
}

function disagreementOf({ confirmed, vanished }: Answers, { deletes }: GroupActions): string | undefined {
  if (confirmed === undefined || deletes.length >= vanished) return undefined;
  const alive = vanished - deletes.length;
  return `${alive} of ${vanished} backends that had vanished from the watch are still there; they stay registered`;
}

function againAfterMs({ validations, judged }: Answers, disagreement: string | undefined): number | undefined {
  const kinds = [...validations.values()].map(({ kind }) => kind);
  if (disagreement !== undefined || kinds.includes("failed")) return FAILED_AGAIN_MS;
  if (kinds.includes("refused")) return REFUSED_AGAIN_MS;
  return judged === undefined ? undefined : JUDGE_AGAIN_MS;
}
