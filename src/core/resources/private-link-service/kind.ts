/** Private link services, as the table of resource kinds has them. */
import type { PrivateLinkService } from "../../model/arm.ts";
import { ownerOfFragment } from "../../outcome.ts";
import { observedByGroup } from "../observed-azure.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { PrivateLinkServiceFragment } from "./fragment.ts";
import { mergePrivateLinkService } from "./merge-private-link-service.ts";

const TYPE = "Microsoft.Network/privateLinkServices";

export const privateLinkServiceKind: ResourceKind<PrivateLinkServiceFragment, PrivateLinkService, "byGroup"> = {
  noun: "private link service",
  metricLabel: "privateLinkService",
  types: [{ type: TYPE, noun: "private link service", read: "list", isInClusterSubscription: true }],
  rights: [
    ...rightsOn(TYPE, "read", "write", "delete"),
    "Microsoft.Network/loadBalancers/frontendIPConfigurations/join/action",
  ],
  ownerOf: ownerOfFragment,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergePrivateLinkService,
  requestBody: omitting({
    readOnly: ["resourceGuid", "alias", "networkInterfaces", "privateEndpointConnections"],
    parts: { ipConfigurations: {} },
  }),
  refresh: undefined,
  ...observedByGroup("privateLinkService"),
  publicIPsAfter: undefined,
};
