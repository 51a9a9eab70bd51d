/**
 * Keeps the account of each drain: writes it on the Node once Down is in effect, and of an announced eviction counts and
 * reports how much of the notice was left. The notice may come after Down is in effect: the account is completed then. What
 * an account holds is `core/admin-state/drain-account.ts`'s.
 */
import { evictedLateEvent, evictionEvent } from "../../core/admin-state/admin-state-events.ts";
import {
  ACCOUNT_ANNOTATION,
  accountOf,
  type DrainAccount,
  type EvictionNotice,
  noticeLeft,
  renderAccount,
} from "../../core/admin-state/drain-account.ts";
import { readPreemptionAnnotation } from "../../core/admin-state/preemption-annotation.ts";
import { drainReasons } from "../../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import { errorText } from "../../core/util/text.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import { NODES } from "../../kube/client/resources.ts";
import type { Metrics } from "../metrics.ts";
import type { AdminStateEvents } from "./admin-state-events.ts";

export interface DrainAccountsOptions {
  readonly client: KubeClient;
  readonly events: Pick<AdminStateEvents, "evicted">;
  readonly metrics: Pick<Metrics, "noticeLeft" | "evictions">;
  readonly clock: Clock;
  readonly log: Log;
  /** What is known of the eviction of a node. */
  readonly noticeOf: (node: Node) => EvictionNotice | undefined;
}

const ATTEMPTS = 5;
const RETRY_MS = 1_000;

export class DrainAccounts {
  readonly #options: DrainAccountsOptions;
  /** By UID: of nodes that are Down, and whose notice has not come. */
  readonly #unannounced = new Map<string, DrainAccount>();
  /** By UID: the writes of one node go one after the other. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(options: DrainAccountsOptions) {
    this.#options = options;
  }

  /** Down is in effect in every pool; `seenMs`: when the taint was seen, of the wall clock. */
  down(node: Node, seenMs: number, pools: readonly string[]): void {
    const known = accountOf(node);
    if (known?.notice !== undefined) return; // an earlier process has written it
    const fresh = { reasons: drainReasons(node), seenMs, downMs: this.#options.clock.nowMs(), pools };
    this.#complete(node, known ?? fresh, known !== undefined);
  }

  /** A notice about the node has come. */
  noticed(node: Node): void {
    const account = this.#unannounced.get(node.metadata.uid);
    if (account !== undefined) this.#complete(node, account, true);
  }

  /** The drain is over. */
  over(node: Node): void {
    this.#unannounced.delete(node.metadata.uid);
    if (node.metadata.annotations?.[ACCOUNT_ANNOTATION] !== undefined) this.#write(node, null);
  }

  /** The Node is deleted; `isDown`: Down was in effect. A node whose taint a user had removed was not to be Down. */
  gone(node: Node, isDown: boolean): void {
    this.#unannounced.delete(node.metadata.uid);
    const isRestored = drainReasons(node).length === 0 && readPreemptionAnnotation(node) !== undefined;
    const notice = isDown || isRestored ? undefined : this.#options.noticeOf(node);
    if (notice !== undefined) this.#missed(node, notice, "removed");
  }

  /** The Node had gone when the controller started, and nothing says that it was drained in time. */
  foundGone(node: Node, notice: EvictionNotice): void {
    this.#missed(node, notice, "found gone");
  }

  #missed(node: Node, notice: EvictionNotice, how: "removed" | "found gone"): void {
    const { metrics, events, clock } = this.#options;
    const nowMs = clock.nowMs();
    metrics.noticeLeft.observe({}, Math.min(0, notice.dueMs - nowMs) / 1000);
    metrics.evictions.inc({ outcome: "too_late" });
    events.evicted(node, evictedLateEvent(notice, how, nowMs));
  }

  #complete(node: Node, account: DrainAccount, isWritten: boolean): void {
    const { metrics, events, noticeOf } = this.#options;
    const whole: DrainAccount = { ...account, notice: noticeOf(node) };
    const left = noticeLeft(whole);
    if (left === undefined) {
      this.#unannounced.set(node.metadata.uid, account);
      if (!isWritten) this.#write(node, renderAccount(account));
      return;
    }
    this.#unannounced.delete(node.metadata.uid);
    this.#write(node, renderAccount(whole));
    metrics.noticeLeft.observe({}, left);
    metrics.evictions.inc({ outcome: left >= 0 ? "in_time" : "too_late" });
    events.evicted(node, evictionEvent(whole));
  }

  #write(node: Node, annotation: string | null): void {
    const { uid } = node.metadata;
    const before = this.#writing.get(uid) ?? Promise.resolve();
    const writing = before
      .then(() => this.#patch(node, annotation))
      .finally(() => {
        if (this.#writing.get(uid) === writing) this.#writing.delete(uid);
      });
    this.#writing.set(uid, writing);
  }

  /** Never fails: the account is not worth more than a few attempts. */
  async #patch({ metadata: { name, uid } }: Node, annotation: string | null): Promise<void> {
    const { client, clock, log } = this.#options;
    const merge = { metadata: { annotations: { [ACCOUNT_ANNOTATION]: annotation } } };
    for (let attempt = 1; ; attempt++) {
      try {
        await client.patch(NODES, { name }, { merge }, { uid });
        return;
      } catch (error) {
        const isGone = isFailure(error, "notFound", "conflict"); // or another Node has the name
        if (isGone) return;
        if (attempt === ATTEMPTS || !isFailure(error, "transient", "throttled"))
          return log.warn(`the account of the drain of ${name} was not written: ${errorText(error)}`);
        await clock.sleep(RETRY_MS * attempt);
      }
    }
  }
}
