/**
 * One write to Azure as people want to see it: how many fragments left in it, for whom, what it changed, how long it took,
 * and Azure's name for the call, which its support asks for.
 */
import { type Difference, diff } from "../plan/plan-diff.ts";
import { nameOfId, wholeOf } from "../model/ids.ts";
import { pluralize } from "../util/text.ts";
import { ANOTHER_SERVICE } from "./fix.ts";

/** As the controller notes it. */
export interface NotedWrite {
  readonly id: string;
  readonly verb: string;
  /** When Azure had answered for good; milliseconds since 1970. */
  readonly endedMs: number;
  readonly durationMs: number;
  /** Fragments that left together. */
  readonly size: number;
  /** Keys of the Services whose fragments they were; a pool has none. */
  readonly owners: readonly string[];
  readonly outcome: string;
  readonly message?: string | undefined;
  readonly requestId?: string | undefined;
  readonly changes: WriteChanges;
}

export interface WriteChanges {
  readonly summary: string;
  readonly lines: readonly ChangeLine[];
  /** Besides `lines`. */
  readonly more: number;
}

interface ChangeLine {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

export interface WriteView extends Omit<NotedWrite, "endedMs" | "owners"> {
  /** Counts on; the newest is the highest. */
  readonly sequence: number;
  readonly resource: string;
  readonly ended: string;
  readonly services: readonly string[];
}

const MOST_LINES = 30;
const MOST_TEXT = 160;
const MOST_OWNERS = 50;

/** Fields that Azure sets by itself at every write. */
const OWN_FIELDS = /(^|\.)(etag|provisioningState|resourceGuid|lastModified\w*)$/;

/** `undefined`: what was there is not known; `null`: nothing was. */
export function changesOf(before: unknown, after: unknown): WriteChanges {
  if (before === undefined || after === undefined) return { summary: "", lines: [], more: 0 };
  if (before === null) return { summary: "created", lines: [], more: 0 };
  if (after === null) return { summary: "deleted", lines: [], more: 0 };
  const found = diff(before, after).filter(({ path }) => !OWN_FIELDS.test(path));
  return {
    summary: summaryOf(found),
    lines: found.slice(0, MOST_LINES).map(lineOf),
    more: Math.max(0, found.length - MOST_LINES),
  };
}

const NOUNS: Readonly<Record<string, string>> = {
  frontendIPConfigurations: "frontend",
  loadBalancingRules: "rule",
  probes: "probe",
  backendAddressPools: "pool",
  loadBalancerBackendAddresses: "member",
  securityRules: "security rule",
};

/** As in `3 rules and 1 frontend added, 2 members changed`. */
function summaryOf(found: readonly Difference[]): string {
  const parts = {
    added: new Map<string, Set<string>>(),
    removed: new Map<string, Set<string>>(),
    changed: new Map<string, Set<string>>(),
  };
  for (const { path, before, after } of found) {
    const steps = [...path.matchAll(/(\w+)\[([^\]]+)\]/g)].filter(([, list = ""]) => list in NOUNS);
    const [whole = "", list = ""] = steps.at(-1) ?? [];
    if (steps.length > 1 && list !== "loadBalancerBackendAddresses") continue; // Azure lists in each part what refers to it
    const isWhole = path.endsWith(whole) && whole !== "";
    const verb = isWhole && before === undefined ? "added" : isWhole && after === undefined ? "removed" : "changed";
    const noun = NOUNS[list] ?? "setting";
    const names = parts[verb].get(noun) ?? new Set();
    parts[verb].set(noun, names.add(whole === "" ? path : path.slice(0, path.indexOf(whole) + whole.length)));
  }
  return Object.entries(parts)
    .filter(([, nouns]) => nouns.size > 0)
    .map(([verb, nouns]) => `${[...nouns].map(([noun, names]) => pluralize(names.size, noun)).join(" and ")} ${verb}`)
    .join(", ");
}

function lineOf({ path, before, after }: Difference): ChangeLine {
  return {
    path: path.replaceAll("properties.", ""),
    ...(before !== undefined && { before: short(before) }),
    ...(after !== undefined && { after: short(after) }),
  };
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
}

/** `mayKnow`: which Services the reader may know. */
export function writeView(
  { endedMs, owners, ...write }: NotedWrite,
  sequence: number,
  mayKnow: (key: string) => boolean = () => true,
): WriteView {
  const services = [...new Set(owners)].slice(0, MOST_OWNERS).map((key) => (mayKnow(key) ? key : ANOTHER_SERVICE));
  const whole = wholeOf(write.id);
  const part = whole === write.id ? "" : ` / ${nameOfId(write.id)}`;
  return {
    ...write,
    sequence,
    resource: `${nameOfId(whole)}${part}`,
    ended: new Date(endedMs).toISOString(),
    services,
  };
}
