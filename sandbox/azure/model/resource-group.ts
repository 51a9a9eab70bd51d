/** The resource group type; its verbs differ from those of other types and are in `groups.ts`. */
import { nameOf } from "./ids.ts";
import { propertiesOf } from "./json.ts";
import type { ResourceType } from "./resource-type.ts";

export const resourceGroup: ResourceType = {
  type: "Microsoft.Resources/resourceGroups",
  operation: "ResourceGroup",
  nameRule: "resourceGroup",
  children: [],
  deleteStatus: 202,
  plan: (_input, body) => ({ body, assigned: {}, pace: "headerless" }),
  references: () => [],
  render: (_state, group) => {
    const { properties: _, ...others } = group.body;
    return {
      id: group.id,
      name: nameOf(group.id),
      type: group.type,
      location: group.location,
      ...others,
      properties: { ...propertiesOf(group.body), provisioningState: group.state },
    };
  },
  checkDelete: () => undefined,
};
