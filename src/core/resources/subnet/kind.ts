/** Subnets of the cluster's VNet, as the table of resource kinds has them. They are made and deleted by others. */
import type { Subnet } from "../../model/arm.ts";
import { nameOfId } from "../../model/ids.ts";
import { ownerOfFragment } from "../../outcome.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { SubnetFragment } from "./fragment.ts";
import { mergeSubnet } from "./merge-subnet.ts";

const TYPE = "Microsoft.Network/virtualNetworks/subnets";

export const subnetKind: ResourceKind<SubnetFragment, Subnet, "own"> = {
  noun: "subnet",
  metricLabel: "subnet",
  types: [{ type: TYPE, noun: "subnet", read: "single" }],
  /** A subnet that is written names its security group. */
  rights: [...rightsOn(TYPE, "read", "write"), "Microsoft.Network/networkSecurityGroups/join/action"],
  ownerOf: ownerOfFragment,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergeSubnet,
  requestBody: omitting({
    readOnly: [
      "ipConfigurations",
      "ipConfigurationProfiles",
      "privateEndpoints",
      "resourceNavigationLinks",
      "serviceAssociationLinks",
      "purpose",
    ],
  }),
  refresh: undefined,
  observed: "own",
  find: ({ subnets }, id) => subnets.get(nameOfId(id)),
  replace: (azure, id, body) => ({ ...azure, subnets: new Map([...azure.subnets, [nameOfId(id), body]]) }),
  publicIPsAfter: undefined,
};
