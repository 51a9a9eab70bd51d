/** The three forms of a patch, and how preconditions travel inside each. */

interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

/** Strategic merge patches are refused for custom resources. */
export type Patch =
  | { readonly merge: object }
  | { readonly strategic: object }
  | { readonly json: readonly JsonPatchOperation[] };

/** Only that incarnation, only that version; otherwise `conflict` and nothing changes. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** What goes over the wire. Each form carries its preconditions as metadata, which the server compares. */
export function patchBody(
  patch: Patch,
  { uid, resourceVersion }: Preconditions,
): { contentType: string; body: unknown } {
  const pinned = Object.entries({ uid, resourceVersion }).filter(([, value]) => value !== undefined);
  if ("json" in patch) {
    const pins = pinned.map(([field, value]) => ({ op: "replace", path: `/metadata/${field}`, value }));
    return { contentType: "application/json-patch+json", body: [...pins, ...patch.json] };
  }
  const [strategy, change] = "merge" in patch ? ["merge", patch.merge] : ["strategic-merge", patch.strategic];
  const metadata = { ...(change as { metadata?: object }).metadata, ...Object.fromEntries(pinned) };
  return {
    contentType: `application/${strategy}-patch+json`,
    body: pinned.length === 0 ? change : { ...change, metadata },
  };
}
