/**
 * Events tell the user of a Service, or of a load balancer of LBCF, what keeps it from being served.
 *
 *   checked          | what must not happen
 *   -----------------|--------------------------------------------------------------------------------------------
 *   between actions  | Azure refuses a write for a reason that passes (429, 5xx), and ten seconds later no Warning names
 *                    | that resource, although no trouble has kept the process from writing one
 *   in a calm        | a Service is refused, and it has no Warning with that reason
 *
 * A failure is told once until the object is settled, so an earlier Warning since the last calm counts. Before a pool is
 * written in a load balancer whose last write failed, the load balancer is written: that is told as a failure of the pool,
 * or, if an admin state was to be set, on the Node. Of a pool of LBCF neither is told before the retries are given up, by the
 * record. A Service that was told that Azure throttles the subscription need not
 * be told that for its public IP, too: its name says whose it is.
 */
import type { State } from "../../sandbox/azure/model/index.ts";
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Process } from "../environment/timeline.ts";
import { SLOW_MS, type Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";
import { baseIn, baseOf, lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import type { Law, Report } from "./law.ts";
import type { RemainingPlan } from "./remaining-plan.ts";

const TOLD_WITHIN_MS = 10_000;
/** Refusals that are told when they first happen. Others are met now and then by two writers, and are told if they last. */
const TOLD_AT_ONCE = new Set([429, 500, 503]);
/** Written for a Service, or a load balancer of LBCF; pools and machines follow the nodes or the pods. */
const WRITTEN_FOR_AN_OBJECT =
  /^(PUT|DELETE) Microsoft\.Network\/(loadBalancers|publicIPAddresses|networkSecurityGroups)\/[^/]+$/i;

/** Of a pool, with the path of its load balancer. */
const POOL_WRITE = /^PUT (Microsoft\.Network\/loadBalancers\/[^/]+)\/backendAddressPools\/([^/]+)$/i;

const THROTTLED = "throttles this subscription";

export interface ToldLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly nowMs: () => number;
  readonly events: () => readonly KubeObject[];
  /** By the name of the pool; absent: none is. */
  readonly isPoolOfLbcf?: (pool: string) => boolean;
}

/** A refused write that must be told. */
interface Refused {
  readonly process: Process;
  readonly what: string;
  readonly atMs: number;
  readonly status: number;
}

export class ToldLaw implements Law {
  readonly #options: ToldLawOptions;
  #refused: Refused[] = [];
  /** Warnings since the last calm: when, and what they say. */
  #warnings: { readonly atMs: number; readonly message: string; readonly uid: string }[] = [];
  /** Paths, in lower case, of load balancers in which the last write of a pool that failed was one of LBCF. */
  readonly #failedForLbcf = new Set<string>();
  /** Until when a fault keeps a process from writing to the API server. */
  #kubeFaultMs = Number.NEGATIVE_INFINITY;

  constructor(options: ToldLawOptions) {
    this.#options = options;
  }

  onFault({ process, side, what }: OutgoingCall, { kind, status = 0 }: Fault): void {
    const atMs = this.#options.nowMs();
    if (side === "azure") this.#notePool(what, kind);
    const hindersForMs = kind === "slow" ? 2 * SLOW_MS.high : 0; // there and back
    if (side === "kube") this.#kubeFaultMs = Math.max(this.#kubeFaultMs, atMs + hindersForMs);
    else if (
      kind === "refused" &&
      TOLD_AT_ONCE.has(status) &&
      WRITTEN_FOR_AN_OBJECT.test(what) &&
      !this.#repairsForLbcf(what)
    )
      this.#refused.push({ process, what, atMs, status });
  }

  #notePool(what: string, kind: Fault["kind"]): void {
    const [, loadBalancer = "", pool = ""] = POOL_WRITE.exec(what) ?? [];
    if (pool === "" || !["fails", "cancelled"].includes(kind)) return;
    if (this.#options.isPoolOfLbcf?.(pool) === true) this.#failedForLbcf.add(loadBalancer.toLowerCase());
    else this.#failedForLbcf.delete(loadBalancer.toLowerCase());
  }

  /** A load balancer whose last write failed is written before the pool. */
  #repairsForLbcf(what: string): boolean {
    const path = what.replace(/^\w+ /, "").toLowerCase();
    if (!this.#failedForLbcf.has(path)) return false;
    const found = resourcesOf(this.#options.azure, LOAD_BALANCER).find(({ id }) => id.toLowerCase().endsWith(path));
    return found?.state === "Failed";
  }

  onChange({ collection, type, object }: HistoryEntry): void {
    if (collection !== "events" || type === "DELETED" || object["type"] !== "Warning") return;
    const { uid = "" } = object["involvedObject"] as { readonly uid?: string };
    this.#warnings.push({ atMs: this.#options.nowMs(), message: String(object["message"]), uid });
  }

  checkBetweenActions(): void {
    const { nowMs, report } = this.#options;
    const isDue = ({ atMs }: Refused): boolean => nowMs() - atMs > TOLD_WITHIN_MS;
    for (const refused of this.#refused.filter(isDue)) {
      if (!this.#isTold(refused) && !this.#isHindered(refused))
        report("told", `no event says that ${refused.what} of ${refused.process.name} failed`);
    }
    this.#refused = this.#refused.filter((refused) => !isDue(refused));
  }

  /** `services`: all that there are. */
  checkCalm({ refusals, predicted }: RemainingPlan, services: readonly KubeObject[]): void {
    this.checkBetweenActions();
    for (const { metadata } of services) {
      const key = `${metadata.namespace}/${metadata.name}`;
      const reason = predicted.has(key) ? undefined : refusals.get(key);
      if (reason === undefined || this.#hasWarning(metadata.uid, reason)) continue;
      this.#options.report("told", `${key} is refused (${reason}), and no event says so`);
    }
    this.#warnings = [];
  }

  #isTold({ what, atMs, status }: Refused): boolean {
    const quoted = this.#namesOf(what).map((name) => `"${name}"`);
    const names = [...quoted, `load balancer ${lastName(what)}, pool `].map((name) => name.toLowerCase());
    const inTime = this.#warnings.filter((one) => one.atMs <= atMs + TOLD_WITHIN_MS);
    const owner = status === 429 ? baseIn(lastName(what).replace(/^[^-]*-/, "")) : undefined;
    const isOwnerTold = inTime.some(({ uid, message }) => baseOf(uid) === owner && message.includes(THROTTLED));
    return isOwnerTold || inTime.some(({ message }) => names.some((name) => message.toLowerCase().includes(name)));
  }

  /** Of the resource, and of the pools of a load balancer. */
  #namesOf(what: string): string[] {
    const name = lastName(what);
    if (!what.toLowerCase().includes(`${LOAD_BALANCER}/`.toLowerCase())) return [name];
    const written = resourcesOf(this.#options.azure, LOAD_BALANCER).filter(({ id }) => lastName(id) === name);
    return [name, ...written.flatMap((body) => partsOf(body, "backendAddressPools").map(nameOf))];
  }

  /** Its process could not write the event in time. */
  #isHindered({ process, atMs }: Refused): boolean {
    return (
      process.isDead || process.isPaused || process.resumedMs >= atMs || this.#kubeFaultMs >= atMs - TOLD_WITHIN_MS
    );
  }

  #hasWarning(uid: string | undefined, reason: string): boolean {
    return this.#options.events().some((event) => {
      const { uid: about } = event["involvedObject"] as { readonly uid?: string };
      return about === uid && event["type"] === "Warning" && event["reason"] === reason;
    });
  }
}
