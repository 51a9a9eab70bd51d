/**
 * Steps as the writes that they lead to: those on one resource leave together, merged into what is seen of it. This is
 * what the group commit does, done without any Azure, by the same merges: for predictions and plans.
 */
import {
  type AzureStep,
  type Bodies,
  type Fragments,
  isStepOf,
  type Kind,
  type StepOf,
} from "../resources/azure-step.ts";
import { KINDS } from "../resources/kinds.ts";
import type { ObservedAzure } from "../resources/observed-azure.ts";

/** All steps of one kind on one resource. */
export type WriteOf<K extends Kind> = {
  readonly [Each in K]: {
    readonly kind: Each;
    readonly id: string;
    readonly steps: readonly StepOf<Each>[];
    readonly fragments: readonly Fragments[Each][];
  };
}[K];
export type Write = WriteOf<Kind>;

/** In the order of the first step on each. */
export function byResource(steps: readonly AzureStep[]): Write[] {
  const groups = Map.groupBy(steps, ({ kind, id }) => `${kind} ${id.toLowerCase()}`);
  return [...groups.values()].flatMap((group) => group.slice(0, 1).map((first) => writeOf(first, group)));
}

function writeOf<K extends Kind>({ kind, id }: StepOf<K>, group: readonly AzureStep[]): WriteOf<K> {
  const steps = group.filter((step) => isStepOf(kind, step));
  return { kind, id, steps, fragments: steps.map(({ fragment }) => fragment) };
}

/** `undefined`: not there. */
export interface Written<Body> {
  readonly before: Body | undefined;
  /** As we send it: Azure adds to it. */
  readonly after: Body | undefined;
}

export function written<K extends Kind>(azure: ObservedAzure, { kind, id, fragments }: WriteOf<K>): Written<Bodies[K]> {
  const { find, merge } = KINDS[kind];
  const before = find(azure, id);
  const { outcome } = merge(before, fragments);
  return { before, after: "body" in outcome ? outcome.body : outcome.kind === "delete" ? undefined : before };
}

/** Azure as it will be seen once the writes are done, one after the other. */
export function afterWrites(azure: ObservedAzure, writes: readonly Write[]): ObservedAzure {
  return runsOf(writes).reduce(afterRun, azure);
}

/** Those of one kind that follow each other: none of them changes what another is merged into. */
function runsOf(writes: readonly Write[]): Write[][] {
  const runs: Write[][] = [];
  for (const write of writes) {
    const run = runs.at(-1);
    if (run?.[0]?.kind === write.kind) run.push(write);
    else runs.push([write]);
  }
  return runs;
}

function afterRun<K extends Kind>(azure: ObservedAzure, run: readonly WriteOf<K>[]): ObservedAzure {
  const [first] = run;
  const replaceAll = first && KINDS[first.kind].replaceAll;
  if (replaceAll === undefined) return run.reduce(afterWrite, azure);
  return replaceAll(azure, new Map(run.map((write) => [write.id, written(azure, write).after])));
}

function afterWrite<K extends Kind>(azure: ObservedAzure, write: WriteOf<K>): ObservedAzure {
  return KINDS[write.kind].replace(azure, write.id, written(azure, write).after);
}
