/** Network security groups: rules as written, Azure's default rules, limits over the whole group. */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { etagOf } from "../../etags.ts";
import { keyOf } from "../../ids.ts";
import { objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, referrers } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { Plan, PutInput, ResourceType } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { checkCount } from "../counts.ts";
import { envelope, idReference, renderChild, topLevel, writtenProperties } from "../fields.ts";
import { duplicateName, itemsOf } from "../load-balancer/draft.ts";
import { DEFAULT_RULES } from "./default-rules.ts";
import { securityRuleForm, valuesOf } from "./security-rule.ts";

const READ_ONLY = new Set(["defaultSecurityRules", "subnets", "networkInterfaces", "flowLogs"]);

function form(input: PutInput, body: Json): Json {
  const properties = writtenProperties(body, READ_ONLY);
  const seen = new Set<string>();
  properties["securityRules"] = itemsOf(properties["securityRules"], "properties.securityRules").map((item) => {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    if (seen.has(name.toLowerCase())) throw duplicateName(input.id, name);
    seen.add(name.toLowerCase());
    return securityRuleForm(childId(input.id, "securityRules", name), name, item);
  });
  return { ...topLevel(body), properties };
}

function rulesOf(body: Json): readonly Json[] {
  return objectsOf(propertiesOf(body)["securityRules"]);
}

function planOf(input: PutInput, body: Json): Plan {
  const { limits } = input.state.options;
  const code = "NetworkSecurityGroupCountLimitReached";
  checkCount(input, { limit: limits.networkSecurityGroups, code, what: "network security groups" });
  const rules = rulesOf(body);
  if (rules.length > limits.rulesPerSecurityGroup) {
    throw invalid(
      "SecurityRulesPerSecurityGroupLimitReached",
      `Security group ${input.id} has ${rules.length} rules. It cannot have more than ${limits.rulesPerSecurityGroup}.`,
    );
  }
  checkPriorities(rules);
  checkSums(input.id, rules, limits.addressesOrPortsPerSecurityGroup);
  return { body, assigned: {}, pace: "later", weight: rules.length };
}

function checkPriorities(rules: readonly Json[]): void {
  const taken = new Map<string, string>();
  for (const rule of rules) {
    const { priority, direction } = propertiesOf(rule);
    const place = `${String(direction).toLowerCase()}|${String(priority)}`;
    const name = stringOf(rule["name"]) ?? "";
    const other = taken.get(place);
    if (other !== undefined) {
      throw invalid(
        "SecurityRuleConflict",
        `Security rule ${name} conflicts with rule ${other}. Rules cannot have the same Priority and Direction.`,
      );
    }
    taken.set(place, name);
  }
}

/** Limits the sum of addresses, and of ports, over all rules of the group, per side. */
function checkSums(id: string, rules: readonly Json[], limit: number): void {
  for (const side of ["source", "destination"] as const) {
    for (const field of ["AddressPrefix", "PortRange"] as const) {
      let count = 0;
      for (const rule of rules) count += valuesOf(propertiesOf(rule), side, field).length;
      if (count <= limit) continue;
      const what = `${side === "source" ? "Source" : "Destination"}${field}${field === "PortRange" ? "s" : "es"}`;
      throw invalid(
        "SecurityRuleAddressesOrPortsPerSecurityGroupLimitReached",
        `Security group ${id} has ${count} ${what}. A security group cannot have more than ${limit} ${what}.`,
      );
    }
  }
}

function render(state: State, resource: Resource): Json {
  const etag = etagOf(resource);
  const { securityRules: _, ...properties } = propertiesOf(resource.body);
  const users = referrers(state, keyOf(resource.id), "securityGroup").map((user) => user.from);
  const subnets = users.filter((id) => id.includes("/virtualNetworks/"));
  const nics = users.filter((id) => !id.includes("/virtualNetworks/"));
  return envelope(resource, {
    ...properties,
    securityRules: rulesOf(resource.body).map((rule) => renderChild(resource, etag, "securityRules", rule)),
    defaultSecurityRules: DEFAULT_RULES.map((rule) => renderChild(resource, etag, "defaultSecurityRules", rule)),
    ...(nics.length > 0 && { networkInterfaces: nics.map(idReference) }),
    ...(subnets.length > 0 && { subnets: subnets.map(idReference) }),
  });
}

export const networkSecurityGroup: ResourceType = {
  type: "Microsoft.Network/networkSecurityGroups",
  operation: "NetworkSecurityGroup",
  nameRule: "network",
  children: [
    {
      collection: "securityRules",
      operation: "SecurityRule",
      nameRule: "network",
      put: (input) => securityRuleForm(childId(input.id, "securityRules", input.name), input.name, input.body),
    },
    { collection: "defaultSecurityRules", operation: "", nameRule: "network" },
  ],
  deleteStatus: 202,
  plan: (input, body) => planOf(input, form(input, body)),
  planChild: planOf,
  references: () => [],
  render,
  checkDelete: (state, resource) => {
    const key = keyOf(resource.id);
    const [model] = referrers(state, key, "scaleSetModel");
    if (model) {
      throw invalid(
        "NetworkSecurityGroupInUseByVirtualMachineScaleSet",
        `Cannot delete network security group ${resource.id} since it is in use by virtual machine scale set ${model.from}.`,
      );
    }
    const [user] = referrers(state, key, "securityGroup");
    if (!user) return;
    throw invalid(
      "InUseNetworkSecurityGroupCannotBeDeleted",
      `Network security group ${resource.id} cannot be deleted because it is in use by the following resources: ${user.from}.`,
    );
  },
};
