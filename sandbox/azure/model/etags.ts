/**
 * ETags and preconditions. An ETag covers a resource with all its children and derives from the resource's revision. It
 * changes exactly when the wire form changes: once for a synchronous write, twice for an asynchronous one (Updating, then
 * Succeeded), and with every added or removed back-reference.
 *
 *   Microsoft.Network  W/"<guid>"
 *   Microsoft.Compute  "<counter>" of writes only: "1" after creation, unchanged by the end of the operation
 */
import type { Resource } from "./changes.ts";
import type { ArmRequest } from "./contract.ts";
import { ArmError } from "./errors.ts";
import { derivedGuid } from "./guid.ts";

export function etagOf(resource: Pick<Resource, "type" | "guid" | "revision">): string {
  if (isCompute(resource.type)) return `"${resource.revision}"`;
  return `W/"${derivedGuid(`${resource.guid}:${resource.revision}`)}"`;
}

export function isCompute(type: string): boolean {
  return type.startsWith("Microsoft.Compute/");
}

/** Refuses a request whose preconditions the resource (or its absence) does not meet. */
export function checkPreconditions(
  request: ArmRequest,
  type: string,
  id: string,
  existing: Resource | undefined,
): void {
  const ifMatch = request.headers["if-match"];
  const ifNoneMatch = request.headers["if-none-match"];
  if (ifMatch !== undefined && !matches(ifMatch, existing)) throw mismatch(type, id, ifMatch, existing);
  if (ifNoneMatch !== undefined && existing && matches(ifNoneMatch, existing)) throw exists(type, id, ifNoneMatch);
}

function matches(header: string, existing: Resource | undefined): boolean {
  if (!existing) return false;
  const wanted = opaque(header);
  return wanted === "*" || wanted === opaque(etagOf(existing));
}

/** The value between the quotes; weak and strong, quoted and unquoted ETags compare equal. */
function opaque(etag: string): string {
  return etag.trim().replace(/^W\//, "").replaceAll('"', "");
}

function mismatch(type: string, id: string, header: string, existing: Resource | undefined): ArmError {
  if (isCompute(type)) {
    const current = existing ? etagOf(existing) : '""';
    const message = `Etag provided in if-match header "${opaque(header)}" does not match etag ${current} of resource.`;
    return new ArmError("compute", 412, { code: "PreconditionFailed", message });
  }
  const current = existing ? etagOf(existing) : 'W/""';
  return failed(
    "PreconditionFailedEtagMismatch",
    `Etag provided in if-match header W/"${opaque(header)}" does not match etag ${current} of resource ${id} ` +
      "in NRP data store.",
  );
}

function exists(type: string, id: string, header: string): ArmError {
  const message = `Resource ${id} exists, and if-none-match header ${header} asks that it does not.`;
  if (isCompute(type)) return new ArmError("compute", 412, { code: "PreconditionFailed", message });
  return failed("PreconditionFailedResourceExists", message);
}

function failed(code: string, message: string): ArmError {
  const error = { code: "PreconditionFailed", message: "Precondition failed.", details: [{ code, message }] };
  return new ArmError("network", 412, error);
}
