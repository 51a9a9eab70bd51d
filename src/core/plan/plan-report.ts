/**
 * A plan by Service: what awaits each one, and how many resources and addresses are concerned in all. Rendered as text by
 * `render-report.ts` and as a page by `render-page.ts`.
 */
import type { Observed } from "../observed.ts";
import { parseId } from "../model/ids.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import { nounOf } from "../resources/kinds.ts";
import type { Decision } from "../steps.ts";
import { KNOWN_AFTER_APPLY } from "./known-after-apply.ts";
import { losses } from "./losses.ts";
import type { PlannedStep } from "./render-plan.ts";

/** In the order in which a report has them: what takes something away, what needs a person, everything else. */
const OUTLOOKS = [
  /** It gets another address than it publishes. */
  "moves",
  /** It goes, and its address with it. */
  "goes",
  /** A port, an access or another part of it goes. */
  "loses",
  "refused",
  "unreadable",
  "changes",
  "new",
  "waits",
  /** Azure differs from it, and the drift policy leaves that. */
  "drifted",
] as const;
type Outlook = (typeof OUTLOOKS)[number];

export interface ServiceEntry {
  /** `namespace/name`. */
  readonly service: string;
  readonly outlook: Outlook;
  /** Published now. */
  readonly before: readonly string[];
  /** Published in the end. */
  readonly after: readonly string[];
  /** What would be written for it: `create public IP, update load balancer`; empty where nothing is. */
  readonly writes: string;
  /** Why it is refused, cannot be looked at, or waits. */
  readonly message?: string;
}

export interface PlanSummary {
  /** Resources by what happens to them, by their noun. */
  readonly delete: Readonly<Record<string, number>>;
  readonly create: Readonly<Record<string, number>>;
  readonly update: Readonly<Record<string, number>>;
  /** Published addresses that Services lose which stay. */
  readonly addressesChange: number;
  /** Published addresses of Services that go. */
  readonly addressesGo: number;
  readonly refused: number;
  readonly unreadable: number;
  readonly drifted: number;
  readonly settled: number;
}

export interface Unreadable {
  readonly service: string;
  readonly message: string;
}

export interface ReportInput {
  readonly steps: readonly PlannedStep[];
  readonly ends: ReadonlyMap<string, Decision>;
  /** Each Service before its first step, and as it is expected to be in the end. */
  readonly before: readonly Observed[];
  readonly after: readonly Observed[];
  /** Addresses in `after` that are placeholders. */
  readonly placeholders: ReadonlySet<string>;
  readonly unreadable: readonly Unreadable[];
  readonly drift: DriftLeft;
}

/** Services that differ in Azure and are left so by the drift policy, and the steps that would repair them. */
interface DriftLeft {
  readonly services: readonly Observed[];
  readonly steps: readonly PlannedStep[];
}

export interface PlanReport {
  /** Those of Services that are not settled. */
  readonly entries: readonly ServiceEntry[];
  readonly summary: PlanSummary;
}

export function reportPlan(input: ReportInput): PlanReport {
  const { steps, drift, unreadable, before } = input;
  const drifted = driftEntries(drift);
  const planned = plannedEntries(input);
  const failed = unreadable.map(({ service, message }): ServiceEntry => {
    return { service, outlook: "unreadable", before: [], after: [], writes: "", message };
  });
  const entries = [...planned, ...failed, ...drifted].sort(byOutlook);
  const count = (outlook: Outlook): number => entries.filter((entry) => entry.outlook === outlook).length;
  const lost = (outlooks: readonly Outlook[]): number =>
    entries.filter(({ outlook }) => outlooks.includes(outlook)).reduce((sum, entry) => sum + lostOf(entry).length, 0);
  return {
    entries,
    summary: {
      ...countResources(steps),
      addressesChange: lost(["moves"]),
      addressesGo: lost(["goes"]),
      refused: count("refused"),
      unreadable: count("unreadable"),
      drifted: count("drifted"),
      settled: before.length - planned.length,
    },
  };
}

/** Addresses that the Service publishes now, and not in the end. */
export function lostOf({ before, after }: Pick<ServiceEntry, "before" | "after">): string[] {
  return before.filter((address) => !after.includes(address));
}

function plannedEntries({ steps, ends, before, after, placeholders }: ReportInput): ServiceEntry[] {
  const byOwner = stepsByOwner(steps);
  const losing = losingBases(steps);
  return before.flatMap(({ service }, at): ServiceEntry[] => {
    const key = serviceKey(service);
    const end = ends.get(key);
    const own = byOwner.get(key) ?? [];
    if (end === undefined || (own.length === 0 && end.kind === "settled")) return [];
    const final = isLeaving(service) ? [] : addressesOf(after[at]?.service ?? service);
    const facts = {
      service: key,
      before: addressesOf(service),
      after: final.map((address) => (placeholders.has(address) ? KNOWN_AFTER_APPLY : address)),
      writes: writesText(own),
    };
    if (end.kind === "reject") return [{ ...facts, outlook: "refused", message: rejectionText(end.rejection) }];
    if (own.length === 0 && end.kind === "wait") return [{ ...facts, outlook: "waits", message: end.why }];
    const loses = losing.has(baseName(service.metadata.uid)) || own.some(isAloneIn);
    return [{ ...facts, outlook: outlookOf(service, facts, loses) }];
  });
}

function isAloneIn({ destructive, owners }: PlannedStep): boolean {
  return destructive && owners.length === 1;
}

function outlookOf(service: Service, facts: Pick<ServiceEntry, "before" | "after">, loses: boolean): Outlook {
  if (isLeaving(service)) return "goes";
  if (lostOf(facts).length > 0) return "moves";
  if (loses) return "loses";
  return facts.before.length === 0 ? "new" : "changes";
}

function isLeaving({ metadata, spec }: Service): boolean {
  return metadata.deletionTimestamp !== undefined || spec.type !== "LoadBalancer";
}

function driftEntries({ services, steps }: DriftLeft): ServiceEntry[] {
  const byOwner = stepsByOwner(steps);
  return services.map(({ service }) => {
    const addresses = addressesOf(service);
    const writes = writesText(byOwner.get(serviceKey(service)) ?? []);
    return { service: serviceKey(service), outlook: "drifted", before: addresses, after: addresses, writes };
  });
}

function rejectionText({ reason, message }: { readonly reason: string; readonly message: string }): string {
  return `${reason}: ${message}`;
}

function addressesOf({ status }: Service): string[] {
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}

function stepsByOwner(steps: readonly PlannedStep[]): Map<string, PlannedStep[]> {
  const byOwner = new Map<string, PlannedStep[]>();
  for (const step of steps) {
    for (const owner of step.owners) {
      const own = byOwner.get(owner);
      if (own === undefined) byOwner.set(owner, [step]);
      else own.push(step);
    }
  }
  return byOwner;
}

const BASE = /a[\da-f]{31}/g;

/** Bases of the names of what is lost in resources that Services share. */
function losingBases(steps: readonly PlannedStep[]): Set<string> {
  const lost = steps.filter(({ destructive }) => destructive).flatMap(({ diff }) => losses(diff));
  return new Set(lost.flatMap(({ path }) => path.match(BASE) ?? []));
}

/** `create public IP, update load balancer, security group`: each resource once, whatever the order of the writes. */
function writesText(steps: readonly PlannedStep[]): string {
  const counts = countResources(steps);
  return VERBS.flatMap((verb) => {
    const nouns = Object.keys(counts[verb]);
    return nouns.length === 0 ? [] : [`${verb} ${nouns.join(", ")}`];
  }).join("; ");
}

const VERBS = ["delete", "create", "update"] as const;
type Verb = (typeof VERBS)[number];

/** Each resource counts once: what is created and updated later is created, what is deleted at last is deleted. */
function countResources(steps: readonly PlannedStep[]): Record<Verb, Record<string, number>> {
  const fates = new Map<string, Verb>();
  for (const { id, verb } of steps) {
    if (verb === "patch") continue;
    const known = fates.get(id.toLowerCase());
    fates.set(id.toLowerCase(), known === "create" && verb === "update" ? "create" : verb);
  }
  const counts: Record<Verb, Record<string, number>> = { delete: {}, create: {}, update: {} };
  for (const [id, verb] of fates) {
    const noun = nounOfId(id);
    counts[verb][noun] = (counts[verb][noun] ?? 0) + 1;
  }
  return counts;
}

function nounOfId(id: string): string {
  const parsed = parseId(id);
  return parsed === undefined ? "resource" : nounOf(`${parsed.provider}/${parsed.type}`);
}

function byOutlook(one: ServiceEntry, other: ServiceEntry): number {
  const order = OUTLOOKS.indexOf(one.outlook) - OUTLOOKS.indexOf(other.outlook);
  return order === 0 ? one.service.localeCompare(other.service, "en", { numeric: true }) : order;
}
