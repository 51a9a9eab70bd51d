/** Connections of private link services, as the table of resource kinds has them. */
import type { PrivateEndpointConnection, PrivateLinkService } from "../../model/arm.ts";
import { nameOfId, parentId } from "../../model/ids.ts";
import { answersOf, type Merged, ownerOfFragment } from "../../outcome.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import { privateLinkServiceKind } from "../private-link-service/kind.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { PrivateEndpointConnectionFragment } from "./fragment.ts";

const TYPE = "Microsoft.Network/privateLinkServices/privateEndpointConnections";

export const privateEndpointConnectionKind: ResourceKind<
  PrivateEndpointConnectionFragment,
  PrivateEndpointConnection,
  "own"
> = {
  noun: "private endpoint connection",
  metricLabel: "privateEndpointConnection",
  types: [{ type: TYPE, noun: "private endpoint connection", read: "part" }],
  rights: rightsOn(TYPE, "delete"),
  ownerOf: ownerOfFragment,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergePrivateEndpointConnection,
  requestBody: omitting({}),
  refresh: undefined,
  observed: "own",
  find: (azure, id) => {
    const whole = privateLinkServiceKind.find(azure, parentId(id));
    return whole && connectionsOf(whole).find((one) => isNamed(one, id));
  },
  replace: (azure, id, body) => (body === undefined ? without(azure, id) : azure),
  publicIPsAfter: undefined,
};

/** Every fragment takes it away. */
function mergePrivateEndpointConnection(
  seen: PrivateEndpointConnection | undefined,
  fragments: readonly PrivateEndpointConnectionFragment[],
): Merged<PrivateEndpointConnection> {
  return { outcome: { kind: seen === undefined ? "unchanged" : "delete" }, answers: answersOf(fragments) };
}

function without(azure: ObservedAzure, id: string): ObservedAzure {
  const whole = privateLinkServiceKind.find(azure, parentId(id));
  if (whole === undefined) return azure;
  const privateEndpointConnections = connectionsOf(whole).filter((one) => !isNamed(one, id));
  const after = { ...whole, properties: { ...whole.properties, privateEndpointConnections } };
  return privateLinkServiceKind.replace(azure, whole.id, after);
}

function connectionsOf({ properties }: PrivateLinkService): readonly PrivateEndpointConnection[] {
  return properties.privateEndpointConnections ?? [];
}

function isNamed({ name }: PrivateEndpointConnection, id: string): boolean {
  return name.toLowerCase() === nameOfId(id).toLowerCase();
}
