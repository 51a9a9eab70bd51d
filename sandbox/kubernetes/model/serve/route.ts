/** Parses the path of a request. */
export type Route =
  | { readonly kind: "page"; readonly path: string }
  | { readonly kind: "resource"; readonly target: Target };

export interface Target {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/**
 *   /api/v1/… and /apis/<group>/<version>/…, then
 *     <plural>[/<name>[/<subresource>]]                            everywhere, or cluster-scoped
 *     namespaces/<namespace>/<plural>[/<name>[/<subresource>]]     inside a namespace
 */
export function parseRoute(path: string): Route {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  const core = parts[0] === "api";
  const rest = parts.slice(core ? 2 : 3);
  if ((!core && parts[0] !== "apis") || rest.length === 0) return { kind: "page", path: `/${parts.join("/")}` };
  const group = core ? "" : (parts[1] ?? "");
  const version = (core ? parts[1] : parts[2]) ?? "";
  // A third segment names a resource in the namespace, except status and finalize, the namespace's subresources.
  const isNamespaced =
    rest[0] === "namespaces" && rest.length > 2 && !(core && ["status", "finalize"].includes(rest[2] ?? ""));
  const [plural = "", name, ...sub] = isNamespaced ? rest.slice(2) : rest;
  const subresource = sub.length === 0 ? undefined : sub.join("/");
  return {
    kind: "resource",
    target: { group, version, namespace: isNamespaced ? rest[1] : undefined, plural, name, subresource },
  };
}

/** A malformed segment stays encoded: it names no resource. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
