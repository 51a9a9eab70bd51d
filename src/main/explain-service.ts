/** Renders `azlb explain` for one Service: its state (by the core), the last failure, draining nodes and recent warnings. */
import { hasAdminState, drainReasons } from "../core/admin-state/reconcile-admin-state.ts";
import type { EventReason } from "../core/events/event-reasons.ts";
import { type EndpointSlice, serviceKey } from "../core/model/kubernetes.ts";
import { explain } from "../core/plan/explain.ts";
import { pictureOfLook } from "../core/view/observed-picture.ts";
import { renderProbes } from "../core/view/probe-findings.ts";
import { ageText, line, renderWay } from "../core/view/render-detail.ts";
import { detailOf, type ServiceDetail } from "../core/view/service-detail.ts";
import { reconcileService } from "../core/service/reconcile-service.ts";
import type { Observed } from "../core/observed.ts";
import type { Decision } from "../core/steps.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { EVENTS, type KubeObject } from "../kube/client/resources.ts";
import type { WithheldService } from "../core/brake/withheld-writes.ts";
import type { ClusterView } from "./cluster-view.ts";
import { heldLeases, KUBE_SYSTEM, OWN_LEASE } from "./held-leases.ts";
import { type PlanOptions, withheldWith } from "./make-plan.ts";
import { NoSuchService } from "./no-such-service.ts";
import { endpointsOf } from "./reach-service.ts";
import { realClock } from "./real-clock.ts";

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
}

const MOST_EVENTS = 5;

export interface Explanation {
  readonly text: string;
  /** The same for programs. */
  readonly data: object;
  /** Refused, failing or held: it is not served as it asks, and time alone does not change that. */
  readonly isFailing: boolean;
}

export async function explainService(view: ClusterView, key: string, options: PlanOptions = {}): Promise<string> {
  return (await explainInFull(view, key, options)).text;
}

export async function explainInFull(view: ClusterView, key: string, options: PlanOptions): Promise<Explanation> {
  const service = view.services.find((one) => serviceKey(one) === key);
  if (service === undefined) throw new NoSuchService(key, view.find(key));
  const { namespace, name, uid } = service.metadata;
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name},involvedObject.uid=${uid}`;
  const [observed, events, changes, endpoints] = await Promise.all([
    view.observe(service),
    view.client.list<Event>(EVENTS, { namespace, fieldSelector }),
    view.changes(),
    endpointsOf(view, namespace ?? "default", name),
  ]);
  const sorted = events.items.toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)));
  const decision = reconcileService(observed);
  const problems = [
    ...changes.refused.map(({ message }) => ({
      kind: "held",
      message: `the controller writes nothing, for no Service: ${message}`,
    })),
    ...withheldProblems(await withheldWith(view, observed, options)),
    ...failureProblems(decision, sorted),
    ...(decision.kind === "act" && !isAttended(sorted) ? await absenceProblems(view) : []),
  ];
  const throttles = throttleProblems(sorted, view.throttledUntil());
  const told = [...throttles, ...problems];
  const { lines: standLines, stand } = explain(observed);
  const detail = detailBy(observed, endpoints, options);
  const probes = await view.probes(observed);
  const lines = [
    ...told.map(({ kind, message }) => line(kind, message)),
    ...standLines,
    ...renderWay(detail),
    ...renderProbes(probes),
    ...(typeof endpoints === "string" ? [line("endpoints", `not looked at: ${endpoints}`)] : []),
    ...drainLines(observed),
  ];
  const text = [...lines, ...eventLines(sorted, lines), ""].join("\n");
  const data = {
    ...knownOf(detail),
    probes: probes.items,
    ...stand,
    problems: told,
    lastWarnings: lastWarnings(sorted).map(warningOf),
  };
  return { text, data, isFailing: problems.length > 0 || decision.kind === "reject" };
}

/** What holds a Service up, beside what is wrong with it. */
interface Problem {
  readonly kind: string;
  readonly message: string;
}

/** Without what only the controller knows: since when, the next try, and what follows from these. */
function knownOf(detail: ServiceDetail): object {
  const {
    attention: _,
    since: _since,
    nextTry: _next,
    fix: _fix,
    reason: _reason,
    message: _message,
    ...known
  } = detail;
  return known;
}

/** As the API shows it. */
function detailBy(
  observed: Observed,
  endpoints: readonly EndpointSlice[] | string,
  options: PlanOptions,
): ServiceDetail {
  const seen = typeof endpoints === "string" ? undefined : endpoints;
  const shown = { showsOthers: true, mostMembers: Number.MAX_SAFE_INTEGER };
  return detailOf(pictureOfLook(observed, seen), observed.service, options.driftPolicy ?? "report", shown);
}

const ATTENDED_MS = 60_000;

/** A controller has told something of it lately. */
function isAttended(sorted: readonly Event[]): boolean {
  return sorted.some((event) => Date.parse(timeOf(event)) > realClock.nowMs() - ATTENDED_MS);
}

/** Nothing will be done where no controller runs; a user who may not read Leases is not told so. */
async function absenceProblems({ client }: ClusterView): Promise<Problem[]> {
  try {
    if ((await heldLeases(client, realClock.nowMs())).has(OWN_LEASE)) return [];
  } catch (error) {
    if (isFailure(error, "forbidden")) return [];
    throw error;
  }
  const exception = "one with --leader-elect=false holds none";
  const message = `no controller holds the Lease ${KUBE_SYSTEM}/${OWN_LEASE}: nothing is done until one runs (${exception})`;
  return [{ kind: "controller", message }];
}

function withheldProblems(withheld: WithheldService | undefined): Problem[] {
  if (withheld === undefined) return [];
  const lost = withheld.addresses.join(", ");
  const message = `too many unchanged Services would lose an address at once, this one ${lost}: azlb plan shows all of it`;
  return [{ kind: "withheld", message }];
}

const FAILED: ReadonlySet<string> = new Set<EventReason>(["SyncLoadBalancerFailed", "DeleteLoadBalancerFailed"]);
const DONE: ReadonlySet<string> = new Set<EventReason>(["EnsuredLoadBalancer", "DeletedLoadBalancer"]);

/** The error of the last attempt, if there is work left: the core's plan does not know it. */
function failureProblems({ kind }: Decision, sorted: readonly Event[]): Problem[] {
  const last = sorted.findLast(({ reason = "" }) => FAILED.has(reason) || DONE.has(reason));
  const isOpen = kind === "act";
  if (!isOpen || last === undefined || DONE.has(last.reason ?? "")) return [];
  return [{ kind: "failed", message: `${last.message} (${whenText(last)})` }];
}

/** As `failure-text.ts` renders a failure that Azure has told to wait after. */
const THROTTLED = /Azure throttles this subscription for (\d+) s\./;

/** `readUntil`: for the reads of this command. What the controller's writes wait for, their event tells. */
function throttleProblems(sorted: readonly Event[], readUntil: Date | undefined): Problem[] {
  const last = sorted.findLast(({ reason = "" }) => FAILED.has(reason) || DONE.has(reason));
  const seconds = Number(THROTTLED.exec(last?.message ?? "")?.[1] ?? 0);
  const writeUntil = new Date(Date.parse(last?.lastTimestamp ?? "") + 1000 * seconds);
  const isAhead = (until: Date | undefined): until is Date =>
    until !== undefined && until.getTime() > realClock.nowMs();
  const throttled = (what: string, until: Date): Problem => ({
    kind: "throttled",
    message: `Azure throttles ${what} until ${until.toISOString()}`,
  });
  return [
    ...(isAhead(readUntil) ? [throttled("reads", readUntil)] : []),
    ...(isAhead(writeUntil) ? [throttled("writes", writeUntil)] : []),
  ];
}

function timeOf({ lastTimestamp }: Event): string {
  return lastTimestamp ?? "";
}

/** Nodes that get no new connections of any Service. */
function drainLines({ config, nodes }: Observed): string[] {
  if (!hasAdminState(config)) return [];
  const draining = nodes
    .map((node) => ({ name: node.metadata.name, why: drainReasons(node) }))
    .filter(({ why }) => why.length > 0)
    .map(({ name, why }) => `${name} (${why.join(", ")})`);
  return draining.length === 0 ? [] : [`draining    no new connections go to ${draining.join(", ")}`];
}

function lastWarnings(events: readonly Event[]): readonly Event[] {
  return events.filter((event) => event.type === "Warning").slice(-MOST_EVENTS);
}

function warningOf({ reason, message, count, lastTimestamp }: Event): object {
  return { reason, message, count, last: lastTimestamp ?? undefined };
}

/** `events`: oldest first. A message that the lines above contain is not repeated. */
function eventLines(events: readonly Event[], above: readonly string[]): string[] {
  const last = lastWarnings(events);
  if (last.length === 0) return ["warnings    none"];
  const text = ({ message = "" }: Event): string =>
    above.some((line) => line.includes(message)) ? "see above" : message;
  return ["warnings", ...last.map((event) => `  ${event.reason} (${whenText(event)}): ${text(event)}`)];
}

/** Count and age of an event: a warning is kept for an hour, even if its cause is gone. */
function whenText({ count = 1, lastTimestamp }: Event): string {
  const ms = realClock.nowMs() - Date.parse(lastTimestamp ?? "");
  const age = Number.isNaN(ms) ? "" : `${ageText(ms)} ago`;
  const times = count > 1 ? `${count} times` : "";
  return [times, age].filter((part) => part !== "").join(", last ") || "once";
}
