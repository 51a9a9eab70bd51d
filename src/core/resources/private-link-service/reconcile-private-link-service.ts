/**
 * What must be written to one private link service; and, where its frontend is about to go, in which order it goes: its
 * connections first.
 */
import type { PrivateLinkService } from "../../model/arm.ts";
import type { Owner } from "../../outcome.ts";
import { absentPrivateEndpointConnection } from "../private-endpoint-connection/fragment.ts";
import { type Reconciled, reconciled } from "../reconciled.ts";
import type { PrivateLinkServiceFragment } from "./fragment.ts";
import { mergePrivateLinkService } from "./merge-private-link-service.ts";
import { frontendsOf } from "./private-link-services.ts";

/** `seen` is absent where it is yet to be made. */
export function reconcilePrivateLinkService(
  id: string,
  seen: PrivateLinkService | undefined,
  fragment: PrivateLinkServiceFragment,
): Reconciled<"privateLinkService"> {
  return reconciled(mergePrivateLinkService(seen, [fragment]), () => ({
    kind: "privateLinkService",
    id,
    fragment,
    why: whyOf(fragment, seen),
  }));
}

function whyOf(fragment: PrivateLinkServiceFragment, seen: PrivateLinkService | undefined): string {
  const { key } = fragment.owner;
  if (fragment.kind === "absent") return `${key} leaves the frontend that it stands on`;
  if (fragment.kind === "handedOver") return `${key} leaves it to ${fragment.to}`;
  return `${seen === undefined ? "made for" : "as asked by"} ${key}`;
}

/** `frontends`: ids, in lower case, of those that are about to go; where it stands on others too, it stays there. */
export function releasePrivateLinkService(
  seen: PrivateLinkService,
  owner: Owner,
  clusterName: string,
  frontends: ReadonlySet<string>,
): Reconciled<"privateLinkService" | "privateEndpointConnection"> {
  const isLast = frontendsOf(seen).every((id) => frontends.has(id));
  const connections = isLast ? (seen.properties.privateEndpointConnections ?? []) : [];
  if (connections.length === 0) {
    return reconcilePrivateLinkService(seen.id, seen, { kind: "absent", owner, clusterName, frontends });
  }
  return {
    kind: "act",
    deletes: false,
    steps: connections.map(({ name }) => ({
      kind: "privateEndpointConnection",
      id: `${seen.id}/privateEndpointConnections/${name}`,
      fragment: absentPrivateEndpointConnection(owner),
      why: `private link service "${seen.name}" goes with the frontend that ${owner.key} leaves`,
    })),
  };
}
