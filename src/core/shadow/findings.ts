/**
 * Where Azure differs from a prediction: parts that are missing or too many, and what azlb would still write. Only what
 * is this cluster's counts, and what the prediction itself changes; other clients may change the rest.
 */
import type { PlannedStep } from "../plan/render-plan.ts";
import { keyOf, ownerOfPart, type Owners, type Part, type Parts } from "./parts.ts";

export interface Finding {
  /** `missing`: predicted and not there; `extra`: there and not predicted; `field`: azlb would write it otherwise. */
  readonly kind: "missing" | "extra" | "field";
  /** ARM id of the resource. */
  readonly resourceId: string;
  /** Within the resource, `loadBalancingRules/NAME/frontendPort`; empty: the resource itself. */
  readonly path: string;
  /** `namespace/name`; absent where it is of several Services, or the cluster's. */
  readonly service?: string | undefined;
  /** Of a field: what azlb would write, and what is there. */
  readonly expected?: unknown;
  readonly found?: unknown;
}

export interface Compared {
  /** Before the change. */
  readonly before: Parts;
  /** As predicted from there. */
  readonly predicted: Parts;
  /** After the change. */
  readonly after: Parts;
  /** What azlb would write to Azure after the change. */
  readonly writes: readonly PlannedStep[];
  readonly owners: Owners;
}

/** Empty where Azure has exactly the parts that were predicted, and azlb would write nothing. */
export function findingsOf({ before, predicted, after, writes, owners }: Compared): Finding[] {
  const changes = new Set([...without(predicted, before), ...without(before, predicted)].map(keyOf));
  const counted = (kind: Finding["kind"], parts: readonly Part[]): Finding[] =>
    topmost(parts).flatMap((part) => {
      const owner = ownerOfPart(part, owners);
      if (!owner.isOwn && !changes.has(keyOf(part))) return [];
      const { resourceId, path } = part;
      return [{ kind, resourceId, path, ...(owner.isOwn && { service: owner.service }) }];
    });
  const structural = [...counted("missing", without(predicted, after)), ...counted("extra", without(after, predicted))];
  const told = new Set(structural.map(keyOf));
  return [...structural, ...writes.flatMap((step) => writeFindings(step, owners)).filter((one) => !isTold(one, told))];
}

/** Parts of the one that the other lacks. */
export function without(one: Parts, other: Parts): Part[] {
  return [...one].flatMap(([key, part]) => (other.has(key) ? [] : [part]));
}

/** Without parts of what is among them. */
function topmost(parts: readonly Part[]): Part[] {
  const keys = new Set(parts.map(keyOf));
  return parts.filter((part) => !ancestorsOf(keyOf(part)).some((key) => keys.has(key)));
}

function isTold(finding: Finding, told: ReadonlySet<string>): boolean {
  const key = keyOf(finding);
  return told.has(key) || ancestorsOf(key).some((ancestor) => told.has(ancestor));
}

function ancestorsOf(key: string): string[] {
  const segments = key.split("/");
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join("/"));
}

/** One for each difference; one for a resource that would come or go whole. */
function writeFindings({ verb, id, diff, owners: keys }: PlannedStep, owners: Owners): Finding[] {
  if (verb === "patch") return [];
  const only = keys.length === 1 ? keys[0] : undefined;
  const of = (path: string): Pick<Finding, "kind" | "resourceId" | "path" | "service"> => {
    const owner = ownerOfPart({ resourceId: id, path }, owners);
    return { kind: "field", resourceId: id, path, service: (owner.isOwn ? owner.service : undefined) ?? only };
  };
  if (verb !== "update") return [of("")];
  return diff.map(({ path, before, after }) => ({ ...of(pathOf(path)), expected: after, found: before }));
}

/** `properties.probes[a].properties.port` → `probes/a/port`. */
function pathOf(path: string): string {
  return path
    .replaceAll(/\[([^\]]*)\]/g, "/$1")
    .replace(/^properties\./, "")
    .replaceAll(".properties.", "/");
}

/** The same difference found again. */
export function identityOf(finding: Finding): string {
  return JSON.stringify([finding.kind, keyOf(finding), finding.expected]);
}
