/**
 * Notifies all laws of what happens in a simulation and collects the violations. Each law is a file of its own beside this
 * one.
 */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { Process } from "../environment/timeline.ts";
import type { Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";
import type { SimulationListener, Simulation } from "../environment/simulation.ts";
import { DRIFT_PERIOD_MS } from "../environment/controller-instance.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { AddressLaw } from "./address-law.ts";
import { checkLbcfQuiescence } from "./lbcf-quiescence.ts";
import { baseIn, baseOf } from "./azure-state.ts";
import { BackendLaw } from "./backend-law.ts";
import { FinalizerLaw } from "./finalizer-law.ts";
import { ForeignLaw } from "./foreign-law.ts";
import { GateLaw } from "./gate-law.ts";
import type { Law, Violation } from "./law.ts";
import { LeaseLaw } from "./lease-law.ts";
import { RecordLaw } from "./record-law.ts";
import { checkQuiescence } from "./quiescence.ts";
import type { RemainingPlan } from "./remaining-plan.ts";
import { ToldLaw } from "./told-law.ts";
import { UnseenNodes } from "./unseen-nodes.ts";

const CLUSTER_POOL = /^kubernetes(-IPv6)?$/i;
/** How long a draining node may stay in service without any disturbance. */
const DRAIN_WITHIN_MS = 30_000;

export class LawChecker implements SimulationListener {
  readonly violations: Violation[] = [];
  /** Writes by the controllers that Azure accepted. */
  ourWrites = 0;
  #settledWrites = 0;
  /** Writes that a restart may make in a settled cluster. */
  #fillings = 0;
  /** When another client last changed something in Azure. */
  #editedMs = Number.NEGATIVE_INFINITY;
  readonly #simulation: Simulation;
  readonly #laws: readonly Law[];
  readonly #finalizers: FinalizerLaw;
  readonly #addresses: AddressLaw;
  readonly #backends: BackendLaw;
  readonly #records: RecordLaw;
  readonly #gates: GateLaw;
  readonly #told: ToldLaw;
  readonly #unseen: UnseenNodes;
  /** Name prefix in Azure → class of the Service. */
  readonly #classes = new Map<string, string | undefined>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const { azure, cluster, config, timeline, setup } = simulation;
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
      slowUntilMs: (id) => azure.slowUntilMs(id),
      nowMs: () => timeline.elapsedMs,
      nodes: () => cluster.objects("nodes"),
      isList: setup.several === "list",
      isBasic: setup.isBasic === true,
    });
    this.#records = new RecordLaw({ report, azure: azure.state, cluster, nowMs: () => timeline.elapsedMs });
    this.#gates = new GateLaw({ report, cluster, records: this.#records });
    const events = () => cluster.objects("events");
    this.#told = new ToldLaw({
      report,
      azure: azure.state,
      nowMs: () => timeline.elapsedMs,
      events,
      // where LBCF is used, no Service has a pool of its own
      isPoolOfLbcf: (pool) => setup.hasBackends === true && !CLUSTER_POOL.test(pool),
    });
    this.#unseen = new UnseenNodes(() => timeline.elapsedMs);
    this.#laws = [
      new ForeignLaw(report, (name, caller) => this.#isForeignService(name, caller)),
      this.#addresses,
      this.#finalizers,
      this.#backends,
      ...(setup.hasBackends === true ? [this.#records] : []),
      ...(setup.hasGates === true ? [this.#gates] : []),
      this.#told,
      this.#unseen,
      new LeaseLaw(
        report,
        () => simulation.leaseHolder,
        (process) => setup.isElected && !process.startsWith("rival"),
      ),
    ];
    cluster.api.subscribe((entry) => this.#onChange(entry));
  }

  onWrite(write: ArmWrite): void {
    const isOurs = /^(one|two|rival)-/.test(write.caller);
    if (isOurs && write.isAccepted) this.ourWrites += 1;
    if (!isOurs && write.isAccepted) this.#editedMs = this.#simulation.timeline.elapsedMs;
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

  onSend(call: OutgoingCall): void {
    for (const law of this.#laws) law.onSend?.(call);
  }

  onFault(call: OutgoingCall, fault: Fault): void {
    for (const law of this.#laws) law.onFault?.(call, fault);
  }

  onDelivered(process: Process, collection: string, revision: number): void {
    for (const law of this.#laws) law.onDelivered?.(process, collection, revision);
  }

  onFailure(process: string, error: unknown): void {
    this.#report("crash", `${process}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Called between two actions. */
  checkBetweenActions(): void {
    const { timeline, disturbedMs, faults } = this.#simulation;
    // an edit by another client is found at the next drift check
    const calmSinceMs = Math.max(disturbedMs, faults.lastHitMs, this.#editedMs + 1.2 * DRIFT_PERIOD_MS);
    for (const { node, pool, sinceMs } of this.#backends.inService()) {
      // an outage of another pool, or of a load balancer that is not Failed, is no reason
      const forMs = timeline.elapsedMs - Math.max(calmSinceMs, sinceMs, faults.outageHitMs(pathOf(pool)));
      if (forMs > DRAIN_WITHIN_MS)
        this.#report("drain", `draining ${node} is in service in ${pool.join("/")} for ${forMs} ms`);
    }
    this.#told.checkBetweenActions();
  }

  /** Called when there has been no trouble for as long as it may take until all is right. */
  checkCalm(plan: RemainingPlan): void {
    if (plan.steps.length > 0) this.#report("calm", `steps remain in a calm: ${plan.steps.join("; ")}`);
    this.#checkQuiescence(plan);
    this.#told.checkCalm(plan, this.#simulation.cluster.objects("services"));
  }

  /** Called when everything had time to settle: nothing may be left to do. */
  checkSettled({ steps, fillings }: RemainingPlan): void {
    this.#fillings = fillings;
    if (steps.length > 0) this.#report("settled", `steps remain without a restart: ${steps.join("; ")}`);
  }

  /** `most`: the writes that the history may cost. */
  checkWriteCount(most: number): void {
    if (this.ourWrites > most) this.#report("thrift", `${this.ourWrites} writes to Azure, more than ${most}`);
    this.#settledWrites = this.ourWrites;
  }

  /** Called when everything had time to settle after `restartAll`. */
  checkAfterRestart(plan: RemainingPlan): void {
    const more = this.ourWrites - this.#settledWrites;
    if (more > this.#fillings) this.#report("thrift", `${more} writes to Azure after a restart of a settled cluster`);
    this.#checkQuiescence(plan);
  }

  #checkQuiescence(plan: RemainingPlan): void {
    const exemptions = { finalizers: this.#finalizers, addresses: this.#addresses, unseen: this.#unseen };
    const report = (law: string, what: string): void => this.#report(law, what);
    checkQuiescence(this.#simulation, plan, exemptions, report);
    if (this.#simulation.setup.hasBackends === true) checkLbcfQuiescence(this.#simulation, this.#records, report);
    if (this.#simulation.setup.hasGates === true) this.#gates.checkSettled();
  }

  #onChange(entry: HistoryEntry): void {
    if (entry.collection === "services") {
      const { type, loadBalancerClass } = entry.object["spec"] as { type?: string; loadBalancerClass?: string };
      const base = baseOf(entry.object.metadata.uid ?? "");
      if (entry.type === "DELETED") this.#classes.delete(base); // a Service that shares its frontend may remove it
      else if (type === "LoadBalancer") this.#classes.set(base, loadBalancerClass);
    }
    for (const law of this.#laws) law.onChange?.(entry);
  }

  #isForeignService(name: string, caller: string): boolean {
    const base = baseIn(name);
    if (base === undefined || !this.#classes.has(base)) return false;
    return this.#classes.get(base) !== (caller.startsWith("rival-") ? RIVAL_CLASS : undefined);
  }

  #report(law: string, what: string): void {
    this.violations.push({ law, what, atMs: this.#simulation.timeline.elapsedMs });
    this.#simulation.trace.add(`!! ${law}: ${what}`);
  }
}

function pathOf([loadBalancer, pool]: readonly [string, string]): string {
  return `loadBalancers/${loadBalancer}/backendAddressPools/${pool}`;
}
