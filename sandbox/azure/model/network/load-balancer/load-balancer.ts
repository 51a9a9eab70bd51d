/** The load balancer type. A PUT replaces the whole body, or one pool or NAT rule. */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf } from "../../lookups.ts";
import type { Reference, ReferenceKind } from "../../references.ts";
import type { ChildInput, Plan, PutInput, ResourceType } from "../../resource-type.ts";
import { checkCount } from "../counts.ts";
import { skuOf, topLevel, writtenProperties } from "../fields.ts";
import { loadBalancerAction, nicsOf } from "./actions.ts";
import { checkAcrossLoadBalancers, checkConflicts } from "./conflicts.ts";
import { COLLECTIONS, namedItems, newDraft, type Collection, type Draft } from "./draft.ts";
import { frontendForm } from "./frontends.ts";
import { checkLimits } from "./limits.ts";
import { releaseMember } from "./nic-members.ts";
import { poolForm } from "./pools.ts";
import { probeForm } from "./probes.ts";
import {
  checkDeleteLoadBalancer,
  checkHealthProbes,
  checkRemovedChildren,
  checkUnreferenced,
  releaseNics,
} from "./removal.ts";
import { renderLoadBalancer } from "./render.ts";
import { natPoolForm, natRuleForm, outboundRuleForm, ruleForm } from "./rules.ts";
import { idIn, ipMembersOf, nameIn, needsProgramming, stored } from "./shape.ts";

function form(input: PutInput, body: Json): Json {
  const sku = skuOf(body, "Basic");
  checkSkuKept(input, sku);
  const draft = newDraft(input, String(sku["name"]), String(sku["tier"]));
  const properties = writtenProperties(body);
  const items = new Map(COLLECTIONS.map((collection) => [collection, namedItems(draft, properties, collection)]));
  const publicIps = new Map<string, string>();
  const each = (collection: Collection, make: (item: Json) => Json): void => {
    properties[collection] = (items.get(collection) ?? []).map(make);
  };
  each("frontendIPConfigurations", (item) => frontendForm(draft, item, publicIps));
  each("backendAddressPools", (item) => poolForm(poolWrite(draft, item)));
  each("probes", (item) => probeForm(draft, item));
  each("loadBalancingRules", (item) => ruleForm(draft, item));
  each("inboundNatRules", (item) => natRuleForm(draft, item));
  each("outboundRules", (item) => outboundRuleForm(draft, item));
  each("inboundNatPools", (item) => natPoolForm(draft, item));
  return { ...topLevel(body), sku, properties };
}

function poolWrite(draft: Draft, item: Json) {
  const { input, sku, tier } = draft;
  const before =
    input.existing && childrenOf(input.existing.body, "backendAddressPools").get(nameIn(item).toLowerCase());
  return { input, sku, tier, item, before, alone: false };
}

function checkSkuKept(input: PutInput, sku: Json): void {
  const before = input.existing && objectOf(input.existing.body["sku"]);
  if (!before || (before["name"] === sku["name"] && before["tier"] === sku["tier"])) return;
  throw invalid(
    "LoadBalancerSkuCannotBeChanged",
    `Load balancer ${input.id} has sku ${String(before["name"])} (${String(before["tier"])}), which cannot be changed to ` +
      `${String(sku["name"])} (${String(sku["tier"])}).`,
  );
}

function validate(input: PutInput, body: Json): void {
  const candidate = { state: input.state, id: input.id, body };
  const orphans = COLLECTIONS.filter((collection) => stored(body, collection).length > 0);
  if (orphans.length > 0 && !orphans.includes("frontendIPConfigurations")) {
    throw invalid(
      "LoadBalancerWithoutFrontendIPCantHaveChildResources",
      `Load balancer ${input.id} does not have frontend IP configuration, but it has other child resources. ` +
        "This setup is not supported.",
    );
  }
  if (input.existing) checkRemovedChildren(input.state, input.existing, body);
  const { loadBalancers } = input.state.options.limits;
  checkCount(input, { limit: loadBalancers, code: "LoadBalancerCountLimitReached", what: "load balancers" });
  checkLimits(candidate);
  checkConflicts(candidate);
  checkHealthProbes(candidate);
  checkAcrossLoadBalancers(candidate);
}

function planOf(input: PutInput, body: Json): Plan {
  validate(input, body);
  const pace = needsProgramming(input.state, input.existing, input.id, body) ? "later" : "now";
  const weight = stored(body, "frontendIPConfigurations").length + stored(body, "loadBalancingRules").length;
  return { body, assigned: {}, pace, weight };
}

/** The draft for a PUT of a single pool or NAT rule, with the stored load balancer as context. */
function draftAround(input: ChildInput): Draft {
  const { body } = input.existing;
  const draft = newDraft(
    input,
    stringOf(objectOf(body["sku"])["name"]) ?? "",
    stringOf(objectOf(body["sku"])["tier"]) ?? "",
  );
  for (const collection of COLLECTIONS) {
    draft.names.set(
      collection,
      new Map(stored(body, collection).map((child) => [nameIn(child).toLowerCase(), nameIn(child)])),
    );
  }
  return draft;
}

function references(resource: Resource): Reference[] {
  const found: Reference[] = [];
  const add = (kind: ReferenceKind, from: string, to: string | undefined, address?: string): void => {
    if (to !== undefined) found.push({ kind, from, to: keyOf(to), ...(address !== undefined && { address }) });
  };
  for (const frontend of stored(resource.body, "frontendIPConfigurations")) {
    const id = childId(resource.id, "frontendIPConfigurations", nameIn(frontend));
    add("publicIp", id, idIn(frontend, "publicIPAddress"));
    add("frontendPrefix", id, idIn(frontend, "publicIPPrefix"));
    add("address", id, idIn(frontend, "subnet"), stringOf(propertiesOf(frontend)["privateIPAddress"]));
    add("gateway", id, idIn(frontend, "gatewayLoadBalancer"));
  }
  for (const pool of stored(resource.body, "backendAddressPools")) {
    const id = childId(resource.id, "backendAddressPools", nameIn(pool));
    for (const target of networksOf(pool)) add("network", id, target);
    for (const member of ipMembersOf(pool))
      add("globalMember", id, idIn(member, "loadBalancerFrontendIPConfiguration"));
  }
  return found;
}

/** The distinct virtual networks and subnets that a pool's addresses reference. */
function networksOf(pool: Json): ReadonlySet<string> {
  const targets = new Set<string>();
  for (const holder of [pool, ...ipMembersOf(pool)]) {
    for (const field of ["virtualNetwork", "subnet"]) {
      const id = idIn(holder, field);
      if (id !== undefined) targets.add(id);
    }
  }
  return targets;
}

const readOnly = (collection: string) => ({ collection, operation: "", nameRule: "network" as const });

export const loadBalancer: ResourceType = {
  type: "Microsoft.Network/loadBalancers",
  operation: "LoadBalancer",
  nameRule: "network",
  deleteStatus: 202,
  children: [
    {
      collection: "backendAddressPools",
      operation: "LoadBalancerBackendAddressPool",
      nameRule: "network",
      put: (input) => {
        const { sku, tier } = draftAround(input);
        return poolForm({
          input,
          sku,
          tier,
          item: { ...input.body, name: input.name },
          before: input.child,
          alone: true,
        });
      },
    },
    {
      collection: "inboundNatRules",
      operation: "InboundNatRule",
      nameRule: "network",
      put: (input) => natRuleForm(draftAround(input), { ...input.body, name: input.name }),
    },
    ...["frontendIPConfigurations", "loadBalancingRules", "probes", "outboundRules", "inboundNatPools"].map(readOnly),
  ],
  plan: (input, body) => planOf(input, form(input, body)),
  /** The PUT of a pool or NAT rule is always asynchronous. */
  planChild: (input, body) => ({ ...planOf(input, body), pace: "later" }),
  references,
  released: releaseMember,
  render: renderLoadBalancer,
  view: (state, resource, path) =>
    path.length === 1 && path[0]?.toLowerCase() === "networkinterfaces"
      ? { resources: nicsOf({ state, resource }) }
      : undefined,
  action: loadBalancerAction,
  checkDelete: checkDeleteLoadBalancer,
  changesOnDelete: releaseNics,
  checkDeleteChild: (_state, resource, collection, name) => checkUnreferenced(resource, collection, name),
};
