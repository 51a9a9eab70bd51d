/** What keeps a command that only reads from its work, in words: the right that is missing, and the role that gives it. */
import { ArmError } from "../azure/arm/failures.ts";
import { errorText } from "../core/util/text.ts";

/** The API server or Azure refuses a read: no retry helps. */
export class ViewDenied extends Error {
  override readonly name = "ViewDenied";
}

/** Why a Service cannot be looked at. */
export function lookFailureText(error: unknown): string {
  return error instanceof ArmError && error.failure.kind === "denied" ? deniedText(error) : errorText(error);
}

/** With the role that a command that only reads needs. */
export function deniedText(error: ArmError): string {
  const fix =
    "assign the role Reader there to the identity of the cloud config, which is enough for commands that only read";
  return `Azure: ${missingRight(error)}: ${fix} (${error.failure.code || error.failure.status})`;
}

/** `no right to Microsoft.Network/loadBalancers/read on /subscriptions/…`. */
export function missingRight({ failure, doing }: ArmError): string {
  const { action, scope } = failure.kind === "denied" ? failure : {};
  return `no right ${action === undefined ? `for ${doing}` : `to ${action} on ${scope ?? doing}`}`;
}
