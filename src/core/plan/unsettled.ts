/**
 * Every Service that is not as it asks, worst first, for `azlb explain` without an argument: one line each, with what is
 * wrong or what comes next. A failure that the controller has told of counts for more than the plan, which knows none.
 */
import { pluralize } from "../util/text.ts";
import type { PlanReport, ServiceEntry } from "./plan-report.ts";
import { entryText } from "./render-report.ts";

/** In this order. */
const STATES = ["refused", "unreadable", "failing", "loses", "waits", "to do", "drifted"] as const;
type State = (typeof STATES)[number];

export interface UnsettledService {
  readonly service: string;
  readonly state: State;
  readonly why: string;
}

/** `failures`: what the last attempt for a Service failed with, by its key. */
export function unsettledServices({ entries }: PlanReport, failures: ReadonlyMap<string, string>): UnsettledService[] {
  const listed = entries.map((entry): UnsettledService => {
    const failure = entry.outlook === "drifted" ? undefined : failures.get(entry.service);
    const state = failure === undefined || stateOf(entry) === "refused" ? stateOf(entry) : "failing";
    return { service: entry.service, state, why: state === "failing" ? (failure ?? "") : whyOf(entry) };
  });
  return listed.sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state));
}

function stateOf({ outlook }: ServiceEntry): State {
  switch (outlook) {
    case "refused":
    case "unreadable":
    case "waits":
    case "drifted":
      return outlook;
    case "moves":
    case "goes":
    case "loses":
      return "loses";
    case "changes":
    case "new":
      return "to do";
  }
}

function whyOf(entry: ServiceEntry): string {
  return entry.message ?? entryText(entry);
}

/** Needs a person: time alone does not change it. */
export function isStuck({ state }: UnsettledService): boolean {
  return state === "refused" || state === "unreadable" || state === "failing";
}

/** `namespace`: where only its Services were looked at. */
export function renderUnsettled(services: readonly UnsettledService[], settled: number, namespace?: string): string {
  const width = Math.max(0, ...services.map(({ service }) => service.length));
  const lines = services.map(({ state, service, why }) => `${state.padEnd(10)}  ${service.padEnd(width)}  ${why}`);
  const rest = `${pluralize(settled, "Service")} ${settled === 1 ? "is as it asks" : "are as they ask"}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return `${[...lines, ...(lines.length > 0 ? [""] : []), `${rest}${where}`].join("\n")}\n`;
}
