/** Interprets and checks the resourceVersion of reads. */
import type { State } from "../state.ts";
import { badRequest, invalid, StatusError } from "../status-error.ts";

/** A resourceVersion as a number; 0 if absent. */
export function parseVersion(value: string | undefined): number {
  if (value === undefined || value === "") return 0;
  if (!/^\d+$/.test(value)) throw badRequest(`invalid resource version "${value}": it must be a whole number`);
  return Number(value);
}

/** Refuses a version that is higher than the current one. */
export function checkReached(state: State, version: number): void {
  if (version <= state.revision) return;
  const message = `Too large resource version: ${version}, current: ${state.revision}`;
  throw new StatusError(504, "Timeout", `Timeout: ${message}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

const LIST_OPTIONS = { group: "meta.k8s.io", plural: "listoptions", kind: "ListOptions" };

/** Refuses invalid combinations of list options. */
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
