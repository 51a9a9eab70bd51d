/**
 * One pool entry with the admin state that it should have. Every writer of pool entries comes through here.
 *
 *   desired   | entry has | becomes
 *   ----------|-----------|--------------------------------------
 *   Down      | anything  | Down
 *   None      | Down      | None: ours, or left over from before
 *   None      | Up, None  | as it is: an Up is a person's
 *   undefined | anything  | as it is: not ours to decide
 */
import type { AdminState, BackendAddress } from "../model/arm.ts";

/** Answers the entry itself where it is right. */
export function correctAdminState(entry: BackendAddress, desired: AdminState | undefined): BackendAddress {
  const current = adminStateOf(entry);
  const isRight = desired === undefined || (desired === "Down" ? current === "Down" : current !== "Down");
  return isRight ? entry : { ...entry, properties: { ...entry.properties, adminState: desired } };
}

/** Azure does not echo `None`. */
export function adminStateOf(entry: BackendAddress): AdminState {
  switch ((entry.properties.adminState ?? "").toLowerCase()) {
    case "up":
      return "Up";
    case "down":
      return "Down";
    default:
      return "None";
  }
}
