/** Public IP addresses, as the table of resource kinds has them. */
import type { PublicIP } from "../../model/arm.ts";
import { ownerOfFragment } from "../../outcome.ts";
import { observedByGroup } from "../observed-azure.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { PublicIPFragment } from "./fragment.ts";
import { mergePublicIP } from "./merge-public-ip.ts";
import { predictPublicIPs } from "./predict-public-ip.ts";

const TYPE = "Microsoft.Network/publicIPAddresses";

export const publicIPKind: ResourceKind<PublicIPFragment, PublicIP, "byGroup"> = {
  noun: "public IP",
  metricLabel: "publicIP",
  types: [{ type: TYPE, noun: "public IP", read: "list" }],
  rights: [...rightsOn(TYPE, "read", "write", "delete"), "Microsoft.Network/publicIPPrefixes/join/action"],
  ownerOf: ownerOfFragment,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergePublicIP,
  requestBody: omitting({ readOnly: ["resourceGuid", "ipConfiguration"] }),
  refresh: undefined,
  ...observedByGroup("publicIP", predictPublicIPs),
  publicIPsAfter: undefined,
};
