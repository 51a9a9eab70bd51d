/**
 * The shadow of the incumbent: keeps the plan of the cluster current beside it, predicts what each change of a Service or Node
 * leads to, and compares once the incumbent is done. It is given clients that can only read. When a change is over is
 * `core/shadow/settling.ts`'s to say, and what counts as a difference `core/shadow/findings.ts`'s.
 *
 *   base        the state before the change: Azure as last found settled, and the Services with what they had then
 *   prediction  the plan from the base, for what the Services and Nodes ask for now; made anew whenever these change
 *   look        Azure read anew; compared with the prediction, and made the base where the change is over
 */
import { Mirror } from "../../azure/cache/mirror.ts";
import type { ArmReader } from "../../azure/cache/resource-lists.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { ClassFilter } from "../../core/intent/ownership.ts";
import { serviceKey, type Service } from "../../core/model/kubernetes.ts";
import { baseName } from "../../core/model/names.ts";
import { reportPlan, type ServiceEntry } from "../../core/plan/plan-report.ts";
import type { PlannedStep } from "../../core/plan/render-plan.ts";
import { specFingerprint } from "../../core/service/applied-state.ts";
import { type Finding, findingsOf, identityOf, without } from "../../core/shadow/findings.ts";
import type { ChangeContext } from "../../core/shadow/known-differences.ts";
import { ownerOfPart, type Owners, type Parts, partsOf } from "../../core/shadow/parts.ts";
import { remember, rememberedMembers, usersPublicIPs } from "../../core/shadow/remembered.ts";
import { outcomeOf, type Patience } from "../../core/shadow/settling.ts";
import {
  judged,
  type KnownText,
  type JudgedFinding,
  type ShadowReport,
  verdictOf,
} from "../../core/shadow/shadow-report.ts";
import type { ObservedAzure } from "../../core/resources/observed-azure.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import { observeChanges } from "../configuration-guard.ts";
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

interface Base extends PlanBase {
  readonly parts: Parts;
  /** Versions of all that was read. */
  readonly versions: string;
  /** Names in lower case. */
  readonly nodes: ReadonlySet<string>;
  readonly refusedSettings: readonly string[];
  /** What azlb would write in this state, whatever comes. */
  readonly standing: ReadonlySet<string>;
}

interface Prediction {
  readonly plan: ShadowPlan;
  readonly parts: Parts;
  /** What the incumbent is expected to write, beside what stands. */
  readonly expected: readonly Finding[];
  readonly text: string;
}

export class Shadow {
  readonly #options: ShadowOptions;
  readonly #planner: Planner;
  readonly #scores = new Scores();
  readonly #sinceMs: number;
  readonly #arm: ArmReader;
  /** Of what still stands, by the finding: how it was explained when the change was scored. */
  #explained = new Map<string, KnownText | undefined>();
  #base: Base | undefined;
  #prediction: Prediction | undefined;
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

  /** Predicts anew, from the base. Does nothing before the first look. */
  async replan(signal: AbortSignal): Promise<void> {
    const base = this.#base;
    if (base === undefined) return;
    const before = this.#prediction?.text;
    const prediction = await this.#predict(base, base.parts, base.standing, signal);
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
    const mirror = new Mirror({ client: this.#arm, config });
    await this.replan(signal);
    if (this.#base === undefined || (await this.#isOver(this.#base, mirror, services, signal))) {
      await this.#settle(mirror, services, signal);
    }
    this.#lookedAtMs = clock.nowMs();
    this.#problem = undefined;
    metrics.looked(this.#lookedAtMs);
    this.#count();
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
    const [after, owners] = [partsOf(azure), this.#owners(base)];
    const compared = { before: base.parts, predicted: prediction.parts, after, writes: azureWrites(plan), owners };
    const all = findingsOf(compared);
    const findings = all.filter((finding) => !base.standing.has(identityOf(finding)));
    const moved = [...without(after, base.parts), ...without(base.parts, after)]
      .map((part) => ownerOfPart(part, owners))
      .filter(({ isOwn }) => isOwn);
    const isUntouched = versions === base.versions;
    // the incumbent has written what stood
    const isCaughtUp = !isUntouched && all.length - findings.length < base.standing.size;
    const isOpen = findings.length > 0 || moved.length > 0 || prediction.expected.length > 0 || isCaughtUp;
    this.#openSinceMs = isOpen ? (this.#openSinceMs ?? this.#nowMs) : undefined;
    const outcome = outcomeOf(
      {
        nowMs: this.#nowMs,
        openSinceMs: this.#openSinceMs,
        changedAtMs: this.#changedAtMs,
        predictedAtMs: this.#predictedAtMs,
        isBusy: isBusy(azure),
        isUntouched,
        isAsPredicted: findings.length === 0,
      },
      this.#options.patience,
    );
    if (outcome === "idle" || outcome === "waiting") return outcome === "idle";
    const concerned = new Set([
      ...this.#changedServices(base, prediction.plan.services),
      ...findings.flatMap(({ service }) => service ?? []),
      ...moved.flatMap((owner) => (owner.isOwn ? (owner.service ?? []) : [])),
    ]);
    const context = { ...this.#context(base, prediction.plan, plan), concerned, isUntouched };
    this.#score(outcome === "unsettled", concerned, judged(findings, context));
    return true;
  }

  #score(isUnsettled: boolean, services: ReadonlySet<string>, findings: readonly JudgedFinding[]): void {
    const { clock, metrics } = this.#options;
    const verdict = isUnsettled ? "unsettled" : verdictOf(findings);
    for (const finding of findings) this.#explained.set(identityOf(finding), finding.known);
    const at = new Date(clock.nowMs()).toISOString();
    this.#scores.add({ at, verdict, services: [...services].sort(), findings });
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

  report(): ShadowReport {
    const { config, clock } = this.#options;
    const { plan } = this.#prediction ?? {};
    const shown = reportPlan({
      steps: plan?.steps ?? [],
      ends: plan?.ends ?? new Map(),
      before: plan?.before ?? [],
      after: plan?.after ?? [],
      placeholders: plan?.placeholders ?? new Set(),
      unreadable: plan?.unreadable ?? [],
      drift: { services: [], steps: [] },
    });
    const changing = this.#changingServices();
    const isPending = ({ service, outlook }: ServiceEntry): boolean =>
      changing.has(service) && outlook !== "refused" && outlook !== "unreadable";
    return {
      clusterName: config.clusterName,
      home: config.resourceGroup,
      since: new Date(this.#sinceMs).toISOString(),
      lookedAt: this.#lookedAtMs === undefined ? null : new Date(this.#lookedAtMs).toISOString(),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      refusedSettings: this.#base?.refusedSettings ?? [],
      services: (plan?.before.length ?? 0) + (plan?.unreadable.length ?? 0),
      entries: shown.entries.filter((entry) => !isPending(entry)),
      summary: shown.summary,
      findings: this.#standing(),
      pending:
        this.#openSinceMs === undefined
          ? null
          : {
              since: new Date(clock.nowMs() - (this.#nowMs - this.#openSinceMs)).toISOString(),
              entries: shown.entries.filter(isPending),
              findings: this.#prediction?.expected ?? [],
            },
      changes: this.#scores.changes,
      scores: this.#scores.byService,
      recent: this.#scores.recent,
      reads: this.#reads,
    };
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** What is seen through the mirror is the state before the next change. */
  async #settle(mirror: Mirror, services: readonly Service[], signal: AbortSignal): Promise<void> {
    const { config, classFilter, cache } = this.#options;
    const former = this.#base?.remembered ?? new Map<string, Service>();
    const nodes = cache.nodes.store.snapshot;
    const members = rememberedMembers(config, await mirror.loadBalancers(signal), nodes);
    const first = { mirror, remembered: remember(services, new Map(), former), members };
    const plan = await this.#planner.plan(first, signal);
    const azure = await this.#planner.azure(mirror, plan.groups, signal);
    const { refused } = await observeChanges({ config, classFilter, cache, mirror }, signal);
    const base: Base = {
      ...first,
      remembered: remember(services, plan.ends, first.remembered),
      parts: partsOf(azure),
      versions: versionsOf(azure),
      nodes: new Set(nodes.map(({ metadata }) => metadata.name.toLowerCase())),
      refusedSettings: refused.map(({ message }) => message),
      standing: new Set(),
    };
    const prediction = await this.#predict(base, base.parts, base.standing, signal);
    this.#base = { ...base, standing: new Set(prediction.expected.map(identityOf)) };
    this.#prediction = { ...prediction, expected: [] };
    this.#explained = new Map([...this.#explained].filter(([identity]) => this.#base?.standing.has(identity)));
    this.#versions = base.versions;
    this.#changedAtMs = this.#predictedAtMs = this.#nowMs;
    this.#openSinceMs = undefined;
  }

  async #predict(
    base: PlanBase & Pick<Base, "nodes">,
    before: Parts,
    standing: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Prediction> {
    const plan = await this.#planner.plan(base, signal);
    const [end] = plan.after;
    const parts = end === undefined ? before : partsOf(end);
    const writes = azureWrites(plan);
    const all = findingsOf({ before, predicted: parts, after: before, writes, owners: this.#owners(base) });
    const expected = all.filter((finding) => !standing.has(identityOf(finding)));
    return { plan, parts, expected, text: JSON.stringify([writes, [...parts.keys()]]) };
  }

  /** By their names: the Services that there are, and those that were before the change. */
  #owners({ remembered }: Pick<Base, "remembered">): Owners {
    const { config, cache } = this.#options;
    const services = [...remembered.values(), ...cache.services.store.snapshot];
    return {
      config,
      services: new Map(services.map((one) => [baseName(one.metadata.uid).toLowerCase(), serviceKey(one)])),
    };
  }

  #changedServices({ remembered }: Base, services: readonly Service[]): string[] {
    return services
      .filter((service) => {
        const before = remembered.get(service.metadata.uid);
        if (before === undefined) return service.spec.type === "LoadBalancer";
        const isLeaving = service.metadata.deletionTimestamp !== before.metadata.deletionTimestamp;
        return isLeaving || specFingerprint(service) !== specFingerprint(before);
      })
      .map(serviceKey);
  }

  #context(base: Base, ...plans: readonly ShadowPlan[]): Omit<ChangeContext, "concerned" | "isUntouched"> {
    const { config, cache } = this.#options;
    const names = cache.nodes.store.snapshot.map(({ metadata }) => metadata.name.toLowerCase());
    const refused = plans.flatMap(({ ends }) => [...ends].flatMap(([key, { kind }]) => (kind === "reject" ? key : [])));
    const services = plans[0]?.services ?? [];
    return { config, services, refused: new Set(refused), nodes: base.nodes.union(new Set(names)) };
  }

  /** Services that ask for something else than before, while that is under way. */
  #changingServices(): ReadonlySet<string> {
    const [base, prediction] = [this.#base, this.#prediction];
    if (base === undefined || prediction === undefined || this.#openSinceMs === undefined) return new Set();
    return new Set(this.#changedServices(base, prediction.plan.services));
  }

  /** What azlb would write now, beside what the change under way asks for. */
  #standing(): JudgedFinding[] {
    const [base, prediction] = [this.#base, this.#prediction];
    if (base === undefined || prediction === undefined) return [];
    const { plan, parts } = prediction;
    const compared = { before: base.parts, predicted: parts, after: base.parts, writes: azureWrites(plan) };
    const all = findingsOf({ ...compared, owners: this.#owners(base) });
    const findings = all.filter((finding) => base.standing.has(identityOf(finding)));
    const concerned = new Set(plan.services.map(serviceKey));
    const known = judged(findings, { ...this.#context(base, plan), concerned, isUntouched: false });
    return known.map((finding) => {
      const scored = this.#explained.get(identityOf(finding));
      return scored === undefined ? finding : { ...finding, known: scored };
    });
  }

  #count(): void {
    const { metrics } = this.#options;
    const { services, entries, findings, pending } = this.report();
    const waiting = pending?.entries.length ?? 0;
    const other = entries.filter(({ outlook }) => outlook === "refused" || outlook === "unreadable").length;
    const something = entries.length - other;
    metrics.set({ nothing: services - entries.length - waiting, something, expected: waiting, other });
    metrics.differ(findings);
  }
}

function azureWrites({ steps }: Pick<ShadowPlan, "steps">): readonly PlannedStep[] {
  return steps.filter(({ verb }) => verb !== "patch");
}

type AzureRead = Pick<ObservedAzure, "loadBalancers" | "listed" | "securityGroup">;
type Versioned = { readonly id: string; readonly etag?: unknown; readonly properties?: unknown };

function resourcesOf({ loadBalancers, listed, securityGroup }: AzureRead): readonly Versioned[] {
  const lists = Object.values(listed).flatMap((groups) => [...groups.values()].flat());
  return [...loadBalancers, ...lists, ...(securityGroup === undefined ? [] : [securityGroup])];
}

/** Equal while no client writes. */
function versionsOf(azure: AzureRead): string {
  const versions = resourcesOf(azure).map(({ id, etag }) => [id.toLowerCase(), etag]);
  return JSON.stringify([versions, [...partsOf(azure).keys()]]);
}

function isBusy(azure: AzureRead): boolean {
  return resourcesOf(azure).some(({ properties }) => {
    const state = typeof properties === "object" && properties !== null && "provisioningState" in properties;
    return state && (properties.provisioningState === "Updating" || properties.provisioningState === "Deleting");
  });
}

/** Zones never change, and each look has a mirror of its own. */
function withOneZoneRead(arm: ArmReader): ArmReader {
  const answers = new Map<string, Promise<unknown>>();
  return {
    find: (id, options) => arm.find(id, options),
    list: (path, options) => arm.list(path, options),
    get: async <Body>(id: string, options: Parameters<ArmReader["get"]>[1]): Promise<Body> => {
      const known = answers.get(id);
      if (known !== undefined) return known as Promise<Body>;
      const asked = arm.get<Body>(id, options);
      answers.set(id, asked);
      return asked.catch((error: unknown) => {
        answers.delete(id);
        throw error;
      });
    },
  };
}
