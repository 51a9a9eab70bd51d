/** Network security groups, as the table of resource kinds has them. There is one: that of the cloud config. */
import type { SecurityGroup } from "../../model/arm.ts";
import { ownerOfFragment } from "../../outcome.ts";
import { type OmittedFields, omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn } from "../resource-kind.ts";
import type { SecurityGroupFragment } from "./fragment.ts";
import { mergeSecurityGroup } from "./merge-security-group.ts";

const TYPE = "Microsoft.Network/networkSecurityGroups";

/** Of a rule Azure shows both forms of each list, the one that is not in use as an empty list. */
const OMITTED: OmittedFields = {
  readOnly: ["resourceGuid", "defaultSecurityRules", "networkInterfaces", "subnets", "flowLogs"],
  parts: {
    securityRules: {
      filledIn: {
        sourcePortRanges: isEmptyList,
        destinationPortRanges: isEmptyList,
        sourceAddressPrefixes: isEmptyList,
        destinationAddressPrefixes: isEmptyList,
      },
    },
  },
};

export const securityGroupKind: ResourceKind<SecurityGroupFragment, SecurityGroup, "own"> = {
  noun: "security group",
  metricLabel: "access",
  types: [{ type: TYPE, noun: "security group", read: "single" }],
  rights: rightsOn(TYPE, "read", "write"),
  ownerOf: ownerOfFragment,
  /** It is written beside a load balancer, which takes longer, so a wait as long as its own write delays nothing. */
  batchWindowShare: 1,
  merge: mergeSecurityGroup,
  requestBody: omitting(OMITTED),
  refresh: undefined,
  observed: "own",
  find: ({ securityGroup }) => securityGroup,
  replace: (azure, _, body) => ({ ...azure, securityGroup: body }),
  publicIPsAfter: undefined,
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
