/**
 * LIST: the objects of a resource in key order. All pages show the state of the first page: a `continue` token carries
 * its revision and the last key, and expires when the history after that revision is compacted.
 */
import type { KubeObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { collectionOf, historyAfter, keyOf, sortedKeys, type State } from "../state.ts";
import { badRequest, expired, type StatusError } from "../status-error.ts";
import { checkListOptions, checkReached, parseVersion } from "./resource-version.ts";
import { type Matcher, parseMatcher } from "./selectors.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export function list(
  state: State,
  resource: Resource,
  namespace: string | undefined,
  query: Readonly<Record<string, string>>,
): Page {
  checkListOptions(query, false);
  const limit = parseLimit(query["limit"]);
  const asked = parseVersion(query["resourceVersion"]);
  checkReached(state, asked);
  const token = query["continue"] ? parseToken(query["continue"]) : undefined;
  if (token !== undefined && asked > 0) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const exact = query["resourceVersionMatch"] === "Exact" ? asked : undefined;
  const snapshot = snapshotAt(state, resource.collection, token?.revision ?? exact ?? state.revision);
  const { matches, selected } = parseMatcher(resource, namespace, query);
  return page(snapshot, matches, selected, limit, token);
}

interface Snapshot {
  readonly revision: number;
  readonly keys: readonly string[];
  get(key: string): KubeObject | undefined;
}

/** The collection at a revision: the current objects with later changes undone. */
function snapshotAt(state: State, collection: string, revision: number): Snapshot {
  const { objects } = collectionOf(state, collection);
  const keys = sortedKeys(collectionOf(state, collection));
  if (revision >= state.revision) return { revision: state.revision, keys, get: (key) => objects.get(key) };
  if (revision < state.compactedRevision) throw gone();
  const undone = new Map<string, KubeObject | undefined>();
  for (const entry of historyAfter(state, revision)) {
    if (entry.collection !== collection) continue;
    const key = keyOf(entry.object);
    if (!undone.has(key)) undone.set(key, entry.previous);
  }
  const then = new Set([...keys, ...undone.keys()].filter((key) => !undone.has(key) || undone.get(key) !== undefined));
  return { revision, keys: [...then].sort(), get: (key) => (undone.has(key) ? undone.get(key) : objects.get(key)) };
}

function page(snapshot: Snapshot, matches: Matcher, selected: boolean, limit: number, token: Token | undefined): Page {
  const items: KubeObject[] = [];
  let last = "";
  let more = 0;
  for (const key of snapshot.keys) {
    if (token !== undefined && key <= token.after) continue;
    const object = snapshot.get(key);
    if (object === undefined || !matches(object)) continue;
    if (limit > 0 && items.length === limit) {
      more += 1;
      continue;
    }
    items.push(object);
    last = key;
  }
  const resourceVersion = String(snapshot.revision);
  if (more === 0) return { items, resourceVersion };
  const next = Buffer.from(JSON.stringify({ revision: snapshot.revision, after: last })).toString("base64url");
  return { items, resourceVersion, continue: next, ...(selected ? {} : { remainingItemCount: more }) };
}

interface Token {
  readonly revision: number;
  readonly after: string;
}

function parseToken(text: string): Token {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as Partial<Token>;
    if (typeof token.revision === "number" && typeof token.after === "string") return token as Token;
  } catch {
    // Fall through: not a token of this server.
  }
  throw badRequest("continue key is not valid: take it from the metadata.continue of the page before");
}

function parseLimit(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": the limit must be a whole number`);
  return Math.max(0, Number(text));
}

function gone(): StatusError {
  return expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
  );
}
