/**
 * The note ` uids={a},{b}` of the mark on a Service: its UID, and those of former incarnations after which parts in Azure
 * are named. A Service that is created anew from a backup bears the mark of its former incarnation.
 */
import type { Service } from "../model/kubernetes.ts";
import { APPLIED_ANNOTATION } from "./applied-annotation.ts";

const UIDS = "uids=";
const UID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** More than that no user restores a cluster without an end in between. */
const MOST = 4;

export function readNotedUids({ metadata }: Pick<Service, "metadata">): readonly string[] {
  const notes = metadata.annotations?.[APPLIED_ANNOTATION]?.split(" ") ?? [];
  const uids = notes.find((note) => note.startsWith(UIDS))?.slice(UIDS.length) ?? "";
  return uids
    .split(",")
    .filter((uid) => UID.test(uid))
    .slice(0, MOST);
}

export function renderNotedUids(uids: readonly string[]): string[] {
  const noted = [...new Set(uids)].filter((uid) => UID.test(uid)).slice(0, MOST);
  return noted.length === 0 ? [] : [UIDS + noted.join(",")];
}
