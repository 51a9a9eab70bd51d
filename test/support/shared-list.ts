/**
 * The smallest resource that many share: a list of parts, each marked with its owner. What group commit is tested on,
 * with a merge that can be checked by eye.
 */
import assert from "node:assert/strict";

import type { ArmBody, Merge } from "../../src/azure/group-commit/commit-types.ts";
import { WriteKind } from "../../src/azure/group-commit/write-kind.ts";
import { ACCEPTED, type Answer, type Merged } from "../../src/core/outcome.ts";

interface Part {
  readonly name: string;
  readonly owner: string;
  readonly value: number;
}

export interface SharedList extends ArmBody {
  readonly properties: { readonly parts?: readonly Part[]; readonly provisioningState?: string };
}

/** All that the owner wants there. */
export interface ListFragment {
  readonly owner: string;
  readonly parts: readonly Part[];
}

export function wanted(owner: string, ...values: number[]): ListFragment {
  return { owner, parts: values.map((value, at) => ({ name: `${owner}-${at}`, owner, value })) };
}

interface Store {
  read(id: string): object | undefined;
}

/** The list that stands at an id. */
export function listAt(arm: Store, id: string): SharedList {
  return findList(arm, id) ?? assert.fail(`there is no list at ${id}`);
}

export function findList(arm: Store, id: string): SharedList | undefined {
  const body = arm.read(id);
  return body !== undefined && isList(body) ? body : undefined;
}

function isList(body: object): body is SharedList {
  return "properties" in body;
}

/** Negative values cannot stand; without any part the list goes. */
export const mergeList: Merge<SharedList, ListFragment> = (seen, fragments): Merged<SharedList> => {
  const refused = fragments.filter(({ parts }) => parts.some(({ value }) => value < 0));
  const accepted = fragments.filter((each) => !refused.includes(each));
  const owners = new Set(accepted.map(({ owner }) => owner));
  const kept = (seen?.properties.parts ?? []).filter(({ owner }) => !owners.has(owner));
  const added = accepted.flatMap(({ parts }) => parts).filter((part) => !kept.includes(part));
  const parts = [...kept, ...added];
  const body = { ...seen, properties: { ...seen?.properties, parts } };
  return {
    outcome: outcomeOf(seen, body, parts),
    answers: fragments.map((each) => (refused.includes(each) ? refusal(each) : ACCEPTED)),
  };
};

export const LIST = new WriteKind("list", mergeList);

function refusal({ owner }: ListFragment): Answer {
  const rejection = { kind: "rejection", reason: "InvalidService", message: `${owner} is negative` } as const;
  return { kind: "refused", rejection };
}

function outcomeOf(
  seen: SharedList | undefined,
  body: SharedList,
  parts: readonly Part[],
): Merged<SharedList>["outcome"] {
  if (parts.length === 0) return seen === undefined ? { kind: "unchanged" } : { kind: "delete" };
  return canonical(seen?.properties.parts) === canonical(parts) ? { kind: "unchanged" } : { kind: "put", body };
}

function canonical(parts: readonly Part[] = []): string {
  return JSON.stringify(parts.map((part) => `${part.name} ${part.value}`).sort());
}
