/**
 * The shadow of the incumbent: keeps the plan of the cluster current beside it, predicts what each change of a Service or Node
 * leads to, and compares once the incumbent is done. It is given clients that can only read. When it predicts and looks is
 * `shadow-loop.ts`'s; how a change compares, and whether it is over, is decided in `core/shadow`.
 *
 *   base        the state before the change: Azure as last found settled, and the Services with what they had then
 *   prediction  the plan from the base, for what the Services and Nodes ask for now; made anew whenever these change
 *   look        Azure read anew; compared with the prediction, and made the base where the change is over
 */
import { Mirror } from "../../azure/cache/mirror.ts";
import type { ArmReader } from "../../azure/cache/resource-lists.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { ClassFilter } from "../../core/intent/ownership.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import {
  compareChange,
  type ComparedChange,
  type Prediction,
  predictionOf,
  type Present,
  type StateBefore,
} from "../../core/shadow/change.ts";
import { identityOf } from "../../core/shadow/findings.ts";
import { partsOf } from "../../core/shadow/parts.ts";
import { remember, rememberedMembers, usersPublicIPs } from "../../core/shadow/remembered.ts";
import { NO_PREDICTION, NO_STATE, reportShadowPlan } from "../../core/shadow/report-plan.ts";
import { outcomeOf, type Patience } from "../../core/shadow/settling.ts";
import { type KnownText, type ShadowReport, verdictOf } from "../../core/shadow/shadow-report.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import { observeChanges } from "../configuration-guard.ts";
import { type AzureRead, isBusy, versionsOf, withOneZoneRead } from "./azure-read.ts";
import { Scores } from "./scores.ts";
import type { ShadowMetrics } from "./shadow-metrics.ts";
import { type PlanBase, Planner, type ShadowPlan } from "./shadow-plan.ts";

export interface ShadowOptions {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly arm: ArmReader;
  readonly clock: Clock;
  readonly metrics: ShadowMetrics;
  readonly patience: Patience;
}

interface Base extends PlanBase, StateBefore {
  readonly refusedSettings: readonly string[];
}

export class Shadow {
  readonly #options: ShadowOptions;
  readonly #planner: Planner;
  readonly #scores = new Scores();
  readonly #sinceMs: number;
  readonly #arm: ArmReader;
  /** Of what still stands, by its identity: how it was explained when the change was scored. */
  #explained = new Map<string, KnownText | undefined>();
  #base: Base | undefined;
  #prediction: Prediction<ShadowPlan> | undefined;
  /** Of the last look. */
  #versions = "";
  #changedAtMs = 0;
  #predictedAtMs = 0;
  #openSinceMs: number | undefined;
  #lookedAtMs: number | undefined;
  #problem: string | undefined;
  #reads = 0;

  constructor(options: ShadowOptions) {
    this.#options = options;
    this.#planner = new Planner(options);
    this.#sinceMs = options.clock.nowMs();
    this.#arm = withOneZoneRead(options.arm);
  }

  /** The first look is done. */
  get isReady(): boolean {
    return this.#base !== undefined;
  }

  /** A change is under way, or expected. */
  get isOpen(): boolean {
    return this.#openSinceMs !== undefined;
  }

  countRead(): void {
    this.#reads += 1;
  }

  /** Why Azure cannot be read at present; `undefined`: it can. */
  set problem(problem: string | undefined) {
    this.#problem = problem;
  }

  /** Predicts anew, from the base. Does nothing before the first look. Must not overlap with another call or a look. */
  async replan(signal: AbortSignal): Promise<void> {
    const base = this.#base;
    if (base === undefined) return;
    const before = this.#prediction?.text;
    const prediction = predictionOf(base, await this.#planner.plan(base, signal), this.#present);
    this.#prediction = prediction;
    if (prediction.text !== before) this.#predictedAtMs = this.#nowMs;
    if (prediction.expected.length > 0) this.#openSinceMs ??= this.#nowMs;
    this.#count();
  }

  /** Reads Azure, compares, and scores a change that is over. */
  async look(signal: AbortSignal): Promise<void> {
    const { config, clock, cache, metrics } = this.#options;
    // before Azure is read: a Service that the incumbent lets go meanwhile still counts as being deleted
    const services = cache.services.store.snapshot;
    const mirror = new Mirror({ client: this.#arm, config, clock });
    await this.replan(signal);
    if (this.#base === undefined || (await this.#isOver(this.#base, mirror, services, signal))) {
      await this.#settle(mirror, services, signal);
    }
    this.#lookedAtMs = clock.nowMs();
    this.#problem = undefined;
    metrics.looked(this.#lookedAtMs);
    this.#count();
  }

  report(): ShadowReport {
    const { config, clock } = this.#options;
    const isoOf = (ms: number): string => new Date(ms).toISOString();
    const openMs = this.#openSinceMs === undefined ? undefined : this.#nowMs - this.#openSinceMs;
    return {
      clusterName: config.clusterName,
      home: config.resourceGroup,
      since: isoOf(this.#sinceMs),
      lookedAt: this.#lookedAtMs === undefined ? null : isoOf(this.#lookedAtMs),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      refusedSettings: this.#base?.refusedSettings ?? [],
      ...reportShadowPlan({
        before: this.#base ?? NO_STATE,
        prediction: this.#prediction ?? NO_PREDICTION,
        present: this.#present,
        openSince: openMs === undefined ? undefined : isoOf(clock.nowMs() - openMs),
        explained: this.#explained,
      }),
      changes: this.#scores.changes,
      scores: this.#scores.byService,
      recent: this.#scores.recent,
      reads: this.#reads,
    };
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  get #present(): Present {
    const { config, cache } = this.#options;
    return { config, services: cache.services.store.snapshot, nodes: cache.nodes.store.snapshot };
  }

  /** Whether nothing is under way; scores the change that was. */
  async #isOver(former: Base, mirror: Mirror, services: readonly Service[], signal: AbortSignal): Promise<boolean> {
    const azure = await this.#planner.azure(mirror, this.#prediction?.plan.groups ?? new Map(), signal);
    const versions = versionsOf(azure);
    if (versions !== this.#versions) this.#changedAtMs = this.#nowMs;
    this.#versions = versions;
    const base = await this.#withUsersPublicIPs(former, azure, signal);
    const prediction = this.#prediction;
    if (prediction === undefined) return true;
    const live = { mirror, remembered: remember(services, new Map(), base.remembered), members: base.members };
    const plan = await this.#planner.plan(live, signal);
    const change = compareChange(base, prediction, { parts: partsOf(azure), versions, plan }, this.#present);
    this.#openSinceMs = change.isOpen ? (this.#openSinceMs ?? this.#nowMs) : undefined;
    const outcome = outcomeOf(
      {
        nowMs: this.#nowMs,
        openSinceMs: this.#openSinceMs,
        changedAtMs: this.#changedAtMs,
        predictedAtMs: this.#predictedAtMs,
        isBusy: isBusy(azure),
        isUntouched: change.isUntouched,
        isAsPredicted: change.findings.length === 0,
      },
      this.#options.patience,
    );
    if (outcome === "idle" || outcome === "waiting") return outcome === "idle";
    this.#score(change, outcome === "unsettled");
    return true;
  }

  #score({ concerned, findings }: ComparedChange, isUnsettled: boolean): void {
    const { clock, metrics } = this.#options;
    const verdict = isUnsettled ? "unsettled" : verdictOf(findings);
    for (const finding of findings) this.#explained.set(identityOf(finding), finding.known);
    const at = new Date(clock.nowMs()).toISOString();
    this.#scores.add({ at, verdict, services: [...concerned].sort(), findings });
    metrics.scored(verdict);
  }

  /** The base with public IPs that users have made since; where there are any, it is predicted anew. */
  async #withUsersPublicIPs(base: Base, azure: AzureRead, signal: AbortSignal): Promise<Base> {
    const made = usersPublicIPs(azure, base.parts);
    if (made.length === 0) return base;
    for (const publicIP of made) base.mirror.seen(publicIP.id, publicIP);
    const known = partsOf({ loadBalancers: [], listed: { publicIP: new Map([["", made]]) }, securityGroup: undefined });
    const now = { ...base, parts: new Map([...base.parts, ...known]) };
    this.#base = now;
    await this.replan(signal);
    return now;
  }

  /** What is seen through the mirror is the state before the next change. */
  async #settle(mirror: Mirror, services: readonly Service[], signal: AbortSignal): Promise<void> {
    const { config, classFilter, cache } = this.#options;
    const nodes = cache.nodes.store.snapshot;
    const members = rememberedMembers(config, await mirror.loadBalancers(signal), nodes);
    const first = { mirror, remembered: remember(services, new Map(), this.#base?.remembered ?? new Map()), members };
    const { ends, groups } = await this.#planner.plan(first, signal);
    const azure = await this.#planner.azure(mirror, groups, signal);
    const { refused } = await observeChanges({ config, classFilter, cache, mirror }, signal);
    const base: Base = {
      ...first,
      remembered: remember(services, ends, first.remembered),
      parts: partsOf(azure),
      versions: versionsOf(azure),
      nodes,
      refusedSettings: refused.map(({ message }) => message),
      standing: new Set(),
    };
    const prediction = predictionOf(base, await this.#planner.plan(base, signal), this.#present);
    const standing = new Set(prediction.expected.map(identityOf));
    this.#base = { ...base, standing };
    this.#prediction = { ...prediction, expected: [] };
    this.#explained = new Map([...this.#explained].filter(([identity]) => standing.has(identity)));
    this.#versions = base.versions;
    this.#changedAtMs = this.#predictedAtMs = this.#nowMs;
    this.#openSinceMs = undefined;
  }

  #count(): void {
    const { metrics } = this.#options;
    const { services, entries, findings, pending } = this.report();
    const expected = pending?.entries.length ?? 0;
    const other = entries.filter(({ outlook }) => outlook === "refused" || outlook === "unreadable").length;
    const something = entries.length - other;
    metrics.set({ nothing: services - entries.length - expected, something, expected, other });
    metrics.differ(findings);
  }
}
