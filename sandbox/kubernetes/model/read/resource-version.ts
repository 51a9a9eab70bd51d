/** What a client's resourceVersion means for a read. */
import type { State } from "../state.ts";
import { badRequest, invalid, StatusError } from "../status-error.ts";

/** The number in a resourceVersion, 0 for none. */
export function parseVersion(value: string | undefined): number {
  if (value === undefined || value === "") return 0;
  if (!/^\d+$/.test(value)) throw badRequest(`invalid resource version "${value}": it must be a whole number`);
  return Number(value);
}

/** A version that has not happened yet cannot be read. */
export function checkReached(state: State, version: number): void {
  if (version <= state.revision) return;
  const message = `Too large resource version: ${version}, current: ${state.revision}`;
  throw new StatusError(504, "Timeout", `Timeout: ${message}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

const LIST_OPTIONS = { group: "meta.k8s.io", plural: "listoptions", kind: "ListOptions" };

/** The combinations of list options that a server refuses. */
export function checkListOptions(query: Readonly<Record<string, string>>, watching: boolean): void {
  const match = query["resourceVersionMatch"] ?? "";
  const refuse = (field: string, why: string): never => {
    throw invalid(LIST_OPTIONS, "", [{ reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` }]);
  };
  if (watching) {
    const initial = query["sendInitialEvents"];
    if (initial === undefined && match !== "") {
      refuse(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      );
    }
    if (initial !== undefined && match !== "NotOlderThan") {
      refuse("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    return;
  }
  if (query["sendInitialEvents"] !== undefined) refuse("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if (match === "") return;
  if (!query["resourceVersion"]) {
    refuse("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (query["continue"]) refuse("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  if (match !== "Exact" && match !== "NotOlderThan") {
    refuse("resourceVersionMatch", `unknown resourceVersionMatch "${match}"`);
  }
}
