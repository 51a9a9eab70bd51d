/** All laws together, and what they found. */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { Process } from "../environment/timeline.ts";
import type { Leaving } from "../network/network.ts";
import type { Witness, World } from "../environment/simulation.ts";
import { DRIFT_PERIOD_MS } from "../environment/controller-instance.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { AddressLaw } from "./address-law.ts";
import { judgeBackends } from "./lbcf-quiescence.ts";
import { baseIn, baseOf } from "./azure-state.ts";
import { BackendLaw } from "./backend-law.ts";
import { FinalizerLaw } from "./finalizer-law.ts";
import { ForeignLaw } from "./foreign-law.ts";
import { GateLaw } from "./gate-law.ts";
import type { Law, Violation } from "./law.ts";
import { LeaseLaw } from "./lease-law.ts";
import { RecordLaw } from "./record-law.ts";
import { judgeQuiescence, type RemainingPlan } from "./quiescence.ts";

/** How long a doomed node may stay in service while nothing disturbs us. */
const DRAIN_WITHIN_MS = 30_000;

export class Judge implements Witness {
  readonly violations: Violation[] = [];
  /** Writes of controllers that Azure accepted. */
  ourWrites = 0;
  #settledWrites = 0;
  /** When somebody else last changed something in Azure. */
  #editedMs = Number.NEGATIVE_INFINITY;
  readonly #world: World;
  readonly #laws: readonly Law[];
  readonly #finalizers: FinalizerLaw;
  readonly #addresses: AddressLaw;
  readonly #backends: BackendLaw;
  readonly #records: RecordLaw;
  readonly #gates: GateLaw;
  /** Base → class of its Service. */
  readonly #classes = new Map<string, string | undefined>();

  constructor(world: World) {
    this.#world = world;
    const { azure, cluster, config, timeline, setup } = world;
    const services = () => cluster.objects("services");
    const report = (law: string, what: string): void => this.#report(law, what);
    this.#finalizers = new FinalizerLaw({ report, azure: azure.state, services });
    this.#addresses = new AddressLaw({
      report,
      azure: azure.state,
      services,
      config,
      putBack: this.#finalizers.exempt,
    });
    this.#backends = new BackendLaw({
      report,
      azure: azure.state,
      nowMs: () => timeline.elapsedMs,
      nodes: () => cluster.objects("nodes"),
      isBasic: setup.isBasic === true,
    });
    this.#records = new RecordLaw({ report, azure: azure.state, cluster, nowMs: () => timeline.elapsedMs });
    this.#gates = new GateLaw({ report, cluster, records: this.#records });
    this.#laws = [
      new ForeignLaw(report, (name, who) => this.#isOthers(name, who)),
      this.#addresses,
      this.#finalizers,
      this.#backends,
      ...(setup.hasBackends === true ? [this.#records] : []),
      ...(setup.hasGates === true ? [this.#gates] : []),
      new LeaseLaw(
        report,
        () => world.leaseHolder,
        (process) => setup.isElected && !process.startsWith("rival"),
      ),
    ];
    cluster.api.subscribe((entry) => this.#onChange(entry));
  }

  onWrite(write: ArmWrite): void {
    const isOurs = /^(one|two|rival)-/.test(write.who);
    if (isOurs && write.isAccepted) this.ourWrites += 1;
    if (!isOurs && write.isAccepted) this.#editedMs = this.#world.timeline.elapsedMs;
    for (const law of this.#laws) {
      if (!write.isAccepted) {
        if (isOurs) law.onRefused?.(write);
      } else if (isOurs) law.onOurWrite?.(write);
      else law.onOthersWrite?.(write);
    }
  }

  onSettled(): void {
    for (const law of this.#laws) law.onSettled?.();
  }

  onSend(leaving: Leaving): void {
    for (const law of this.#laws) law.onSend?.(leaving);
  }

  onTold(process: Process, collection: string, revision: number): void {
    for (const law of this.#laws) law.onTold?.(process, collection, revision);
  }

  /** `whose`: the name of the process. */
  onFailure(whose: string, error: unknown): void {
    this.#report("crash", `${whose}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Between two actions. */
  judgeMoment(): void {
    const { timeline, disturbedMs, troubles } = this.#world;
    // what others overwrite is found at the next look at everything
    const calmSinceMs = Math.max(disturbedMs, troubles.lastHitMs, this.#editedMs + 1.2 * DRIFT_PERIOD_MS);
    for (const { node, pool, sinceMs } of this.#backends.inService()) {
      const forMs = timeline.elapsedMs - Math.max(calmSinceMs, sinceMs);
      if (forMs > DRAIN_WITHIN_MS) this.#report("drain", `doomed ${node} is in service in ${pool} for ${forMs} ms`);
    }
  }

  /** Nobody has done anything for long: what is left to do must not need a restart. */
  judgeSettled({ steps }: RemainingPlan): void {
    if (steps.length > 0) this.#report("settled", `without a restart there is still to be done: ${steps.join("; ")}`);
  }

  /** `most`: what the history may have cost. */
  judgeWrites(most: number): void {
    if (this.ourWrites > most) this.#report("thrift", `${this.ourWrites} writes to Azure, and not ${most}`);
    this.#settledWrites = this.ourWrites;
  }

  /** Some time after new controllers were started where all was settled. */
  judgeEnd(plan: RemainingPlan): void {
    const more = this.ourWrites - this.#settledWrites;
    if (more > 0) this.#report("thrift", `${more} writes to Azure after a restart where all was settled`);
    const excuses = { finalizers: this.#finalizers, addresses: this.#addresses };
    const report = (law: string, what: string): void => this.#report(law, what);
    judgeQuiescence(this.#world, plan, excuses, report);
    if (this.#world.setup.hasBackends === true) judgeBackends(this.#world, this.#records, report);
    if (this.#world.setup.hasGates === true) this.#gates.judgeSettled();
  }

  #onChange(entry: HistoryEntry): void {
    if (entry.collection === "services") {
      const { type, loadBalancerClass } = entry.object["spec"] as { type?: string; loadBalancerClass?: string };
      const base = baseOf(entry.object.metadata.uid ?? "");
      if (entry.type === "DELETED") this.#classes.delete(base); // who shares what it left may take it away
      else if (type === "LoadBalancer") this.#classes.set(base, loadBalancerClass);
    }
    for (const law of this.#laws) law.onChange?.(entry);
  }

  #isOthers(name: string, who: string): boolean {
    const base = baseIn(name);
    if (base === undefined || !this.#classes.has(base)) return false;
    return this.#classes.get(base) !== (who.startsWith("rival-") ? RIVAL_CLASS : undefined);
  }

  #report(law: string, what: string): void {
    this.violations.push({ law, what, atMs: this.#world.timeline.elapsedMs });
    this.#world.trace.add(`!! ${law}: ${what}`);
  }
}
