/**
 * That a connection of a private link service should not exist, as data. Connections are made by the users of private
 * endpoints; the controller only takes them away before the private link service goes.
 */
import type { Owner } from "../../outcome.ts";

export interface PrivateEndpointConnectionFragment {
  readonly kind: "absent";
  readonly owner: Owner;
}

export function absentPrivateEndpointConnection(owner: Owner): PrivateEndpointConnectionFragment {
  return { kind: "absent", owner };
}
