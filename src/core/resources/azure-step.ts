/**
 * Writes to Azure as data. A step never carries a whole shared resource: it carries the fragment that its owner wants
 * there, and the writer merges all fragments that wait for the same resource at the moment of the write. Which kinds
 * there are, and what can be done with each, is said by the table of `kinds.ts`; the types here follow from it.
 */
import type { Table } from "./kinds.ts";
import type { ResourceKind } from "./resource-kind.ts";

export type Kind = keyof Table;

/** Those that decisions see in lists of whole resource groups. */
export type ListedKind = { [K in Kind]: Table[K]["observed"] extends "byGroup" ? K : never }[Kind];

/** What a step of each kind carries. */
export interface Fragments extends FragmentsOf<Table> {}

/** What is PUT: `nicPools` writes the network interface, scale set or scale-set instance that joins the pools. */
export interface Bodies extends BodiesOf<Table> {}

type FragmentsOf<Entries> = {
  readonly [K in keyof Entries]: Entries[K] extends ResourceKind<infer Fragment, infer _Body> ? Fragment : never;
};

type BodiesOf<Entries> = {
  readonly [K in keyof Entries]: Entries[K] extends ResourceKind<infer _Fragment, infer Body> ? Body : never;
};

/**
 * A write to one Azure resource, on behalf of one owner. `id` is the resource, or the part of one, that is PUT or
 * deleted.
 */
export type StepOf<K extends Kind> = {
  readonly [Each in K]: {
    readonly kind: Each;
    readonly id: string;
    readonly fragment: Fragments[Each];
    readonly why: string;
  };
}[K];

export type AzureStep = StepOf<Kind>;

export function isStepOf<K extends Kind>(kind: K, step: { readonly kind: Kind }): step is StepOf<K> {
  return step.kind === kind;
}
