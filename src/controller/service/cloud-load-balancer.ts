/**
 * The four verbs of the designs, for one Service at a time; any number of Services run side by side, because what they
 * share is merged by the writers behind `apply`.
 *
 * Each verb is the same loop: observe, decide, apply, until settled. Nothing is remembered between rounds but the Service
 * as the controller's last patch left it, since the cache may lag behind that.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import type { Ingress, Service } from "../../core/model/kubernetes.ts";
import type { AzureStep, Decision, ReadRequest, Step } from "../../core/steps.ts";
import { makesPrivateLink } from "../../core/service/private-links.ts";
import type { Kind } from "../../core/resources/azure-step.ts";
import { APPLIED_ANNOTATION, isChanging } from "../../core/service/applied-state.ts";
import { publishedIngress, reconcileService } from "../../core/service/reconcile-service.ts";
import { differsWithoutDeletions } from "../../core/plan/left-drift.ts";
import { renderDifferences } from "../../core/plan/render-plan.ts";
import { isRepair } from "../../core/service/drift-policy.ts";
import { isTotalLoss } from "../../core/service/total-loss.ts";
import type { Rejection, Warning } from "../../core/outcome.ts";
import type { DecisionTurns } from "../../core/util/clock.ts";
import { untilSettled } from "../../core/util/until-settled.ts";
import type { Brake } from "../brake/brake.ts";
import type { Observed } from "../../core/observed.ts";

export type SyncOutcome =
  /** `steps`: what had to be done for it. */
  | { readonly kind: "settled"; readonly steps: readonly Step[]; readonly warnings: readonly Warning[] }
  /** A user must change something first. */
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Something else has to end first: looked at again a little later. */
  | { readonly kind: "waiting"; readonly why: string }
  /** Azure differs from an unchanged Service, and the drift policy says to leave it. */
  | { readonly kind: "drifted"; readonly steps: readonly AzureStep[]; readonly differences: string };

export interface SyncOptions {
  readonly signal: AbortSignal;
  /** May what the Service owns be written now? Under some drift policies a difference is left and reported. */
  readonly mayRepair: boolean;
  /** May what is gone entirely be made again, even so? */
  readonly mayRestore?: boolean;
  /** It was refused on what had just been read: if it still is, Azure is not read anew for that. */
  readonly wasRefused?: boolean;
  /** Called before each step is taken. */
  readonly onStep?: (step: Step) => void;
}

export interface CloudLoadBalancerOptions {
  readonly observer: ServiceObserver;
  readonly executor: StepExecutor;
  /** What is read is followed by a decision, which has a turn of its own. */
  readonly turns: Pick<DecisionTurns, "next">;
  /** Absent: nothing is withheld. */
  readonly brake?: Pick<Brake, "admit">;
}

/** What the loop needs of `observer.ts`; tests have their own. */
export interface ServiceObserver {
  /** Everything the core may look at for this Service, with what it asked to read; throws where a read fails. */
  observe(service: Service, needs: readonly ReadRequest[], signal: AbortSignal): Promise<Observed>;
  /** What was seen, of this kind or of all, may be old: the next `observe` reads Azure itself. */
  refresh(kind?: Kind): void;
}

/** What the loop needs of `step-executor.ts`; tests have their own. */
export interface StepExecutor {
  /** Makes one step true; resolves with the Service as it is afterwards where the step wrote to it. */
  apply(service: Service, step: Step, signal: AbortSignal): Promise<Service | undefined>;
  /** The Service is on its way to writing these resources, and no others. */
  expect(service: Service, ids: readonly string[]): void;
}

/** A merge found that the Service's part cannot stand where it would go, until a user changes something. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.message);
    this.rejection = rejection;
  }
}

export class CloudLoadBalancer {
  readonly #options: CloudLoadBalancerOptions;

  constructor(options: CloudLoadBalancerOptions) {
    this.#options = options;
  }

  /** The status that Azure stands for now. Reads only. @design GetLoadBalancer */
  async getLoadBalancer(service: Service, signal: AbortSignal): Promise<{ ingress: readonly Ingress[] } | undefined> {
    let needs: readonly ReadRequest[] = [];
    const published = await untilSettled(`Service ${service.metadata.name}`, async () => {
      const found = publishedIngress(await this.#observe(service, needs, signal));
      if (found.kind !== "read") return found;
      needs = [...needs, ...found.needs];
      return undefined;
    });
    return published.kind === "present" ? { ingress: published.ingress } : undefined;
  }

  /** Everything the Service asks for is there afterwards, and nothing that it no longer asks for. @design EnsureLoadBalancer */
  ensureLoadBalancer(service: Service, options: SyncOptions): Promise<SyncOutcome> {
    return this.#settle(service, options);
  }

  /** The same as ensure, as the documents have it. @design UpdateLoadBalancer */
  updateLoadBalancer(service: Service, options: SyncOptions): Promise<SyncOutcome> {
    return this.#settle(service, options);
  }

  /**
   * Security rules, then the load balancer's parts, then the public IP, then the finalizer. The Service itself says that
   * it is to go (deleting, or no longer of type LoadBalancer); the core reads it there. @design EnsureLoadBalancerDeleted
   */
  ensureLoadBalancerDeleted(service: Service, options: Pick<SyncOptions, "signal" | "onStep">): Promise<SyncOutcome> {
    return this.#settle(service, { ...options, mayRepair: true });
  }

  async #settle(service: Service, options: SyncOptions): Promise<SyncOutcome> {
    try {
      return await this.#rounds(service, options);
    } catch (error) {
      if (error instanceof RefusedError) return { kind: "rejected", rejection: error.rejection };
      throw error;
    } finally {
      this.#options.executor.expect(service, []);
    }
  }

  async #rounds(first: Service, { signal, mayRestore = false, ...options }: SyncOptions): Promise<SyncOutcome> {
    let { mayRepair } = options;
    let service = first;
    let needs: readonly ReadRequest[] = [];
    const taken: Step[] = [];
    const warnings: Warning[] = [];
    let isFresh = options.wasRefused ?? false;
    let hasFreshLinks = false;
    /** Differences that were seen once: a Service that went between the reads of one look may have removed them since. */
    let suspected: string | undefined;
    /** How often everything of the Service was found gone, each time by new reads. */
    let losses = 0;
    const refresh = (): void => {
      this.#options.observer.refresh();
      isFresh = true;
    };
    return untilSettled(`Service ${service.metadata.name}`, async (): Promise<SyncOutcome | undefined> => {
      signal.throwIfAborted();
      const observed = await this.#observe(service, needs, signal);
      const decision: Decision = reconcileService(observed);
      switch (decision.kind) {
        case "read":
          needs = [...needs, ...decision.needs];
          return undefined;
        case "act": {
          if (!hasFreshLinks && makesPrivateLink(observed, decision.steps)) {
            this.#options.observer.refresh("privateLinkService");
            hasFreshLinks = true;
            return undefined;
          }
          warnings.push(...decision.warnings);
          const repairs = mayRepair ? [] : decision.steps.filter(isRepair);
          if (repairs.length > 0) {
            if (!mayRestore || !isTotalLoss(observed, decision.steps)) {
              if (!differsWithoutDeletions(observed))
                return { kind: "settled", steps: taken, warnings: distinct(warnings) };
              const outcome = drifted(observed, repairs);
              if (outcome.differences === suspected) return outcome;
              suspected = outcome.differences;
              return undefined;
            }
            if (++losses < LOSSES_BELIEVED) {
              refresh();
              return undefined;
            }
            mayRepair = true;
            warnings.push(RESTORED);
          }
          const withheld = await this.#options.brake?.admit(observed, decision.steps, signal);
          if (withheld !== undefined) return { kind: "rejected", rejection: withheld };
          for (const step of decision.steps) options.onStep?.(step);
          if (decision.leadsTo !== undefined) this.#options.executor.expect(service, decision.leadsTo);
          try {
            service = (await this.#applyAll(service, decision.steps, signal)) ?? service;
          } catch (error) {
            if (isFresh || !refersToMissing(error)) throw error;
            refresh();
            return undefined;
          }
          mayRepair ||= decision.steps.some(beginsChange);
          taken.push(...decision.steps);
          return undefined;
        }
        case "settled":
          await this.#mark(service, decision.applied, signal);
          return { kind: "settled", steps: taken, warnings: distinct([...warnings, ...decision.warnings]) };
        case "wait":
          // what it waits for is Azure's to do, and no write of the controller will show it
          for (const kind of ["loadBalancer", "publicIP"] as const) this.#options.observer.refresh(kind);
          return { kind: "waiting", why: decision.why };
        case "reject":
          if (isFresh) return { kind: "rejected", rejection: decision.rejection };
          refresh(); // what it asks for may have been made a moment ago
          return undefined;
      }
    });
  }

  async #observe(service: Service, needs: readonly ReadRequest[], signal: AbortSignal): Promise<Observed> {
    const { observer, turns } = this.#options;
    await turns.next();
    return observer.observe(service, needs, signal);
  }

  /** A Service that was taken over as it is bears no mark yet; from now on a difference is drift. */
  async #mark(service: Service, applied: string | undefined, signal: AbortSignal): Promise<void> {
    if (applied === undefined || service.metadata.annotations?.[APPLIED_ANNOTATION] === applied) return;
    const ingress = service.status.loadBalancer.ingress ?? [];
    await this.#options.executor.apply(
      service,
      { kind: "updateStatus", ingress, applied, why: "it is as it asks for" },
      signal,
    );
  }

  /** The steps of one round don't depend on each other. All are tried; the first failure is thrown. */
  async #applyAll(service: Service, steps: readonly Step[], signal: AbortSignal): Promise<Service | undefined> {
    const results = await Promise.allSettled(steps.map((step) => this.#options.executor.apply(service, step, signal)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return results.map((result) => (result.status === "fulfilled" ? result.value : undefined)).find(Boolean);
  }
}

/** Each round says the same of what it finds. */
function distinct(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [`${warning.reason} ${warning.message}`, warning])).values()];
}

/** As often as that must be seen before it counts: once by what is known, then by two lists. */
const LOSSES_BELIEVED = 3;

const RESTORED: Warning = {
  reason: "LoadBalancerRestored",
  message: "everything that this Service had on its load balancer was gone from Azure, and was made again",
};

/** What it names was there when it was last seen, and is gone: another client, or a controller of another class, has deleted it. */
function refersToMissing(error: unknown): boolean {
  return error instanceof ArmError && error.failure.code === "InvalidResourceReference";
}

function drifted(observed: Observed, steps: readonly AzureStep[]): Extract<SyncOutcome, { kind: "drifted" }> {
  return { kind: "drifted", steps, differences: renderDifferences(observed, steps, observed.config.resourceGroup) };
}

/** From now on nothing that differs is drift: such as a Service that its labels move to another load balancer. */
function beginsChange(step: Step): boolean {
  return step.kind === "updateStatus" && isChanging(step.applied);
}
