/** Renders a load balancer: children with ids and ETags, and all back-references. */
import type { Resource } from "../../changes.ts";
import { etagOf } from "../../etags.ts";
import { keyOf } from "../../ids.ts";
import { numberOf, objectOf, propertiesOf, type Json } from "../../json.ts";
import { childId, referrers } from "../../lookups.ts";
import type { Referrer } from "../../references.ts";
import type { State } from "../../state.ts";
import { envelope, idReference, renderChild, shownState } from "../fields.ts";
import { COLLECTIONS } from "./draft.ts";
import { NIC_SETTINGS, nicMemberName } from "./nic-members.ts";
import { idIn, idsIn, ipMembersOf, nameIn, push, stored } from "./shape.ts";

type Links = Map<string, Json[]>;

/** Child id → its referrers within the load balancer, by collection of the referrer. */
interface BackReferences {
  readonly loadBalancingRules: Links;
  readonly inboundNatRules: Links;
  readonly outboundRules: Links;
  readonly inboundNatPools: Links;
}

export function renderLoadBalancer(state: State, resource: Resource): Json {
  const etag = etagOf(resource);
  const back = backReferences(resource);
  const properties: { [name: string]: unknown } = { ...propertiesOf(resource.body) };
  for (const collection of COLLECTIONS) delete properties[collection];
  const plain = (collection: "inboundNatPools" | "loadBalancingRules"): Json[] =>
    stored(resource.body, collection).map((child) => renderChild(resource, etag, collection, child));
  properties["frontendIPConfigurations"] = frontends(state, resource, etag, back);
  properties["backendAddressPools"] = stored(resource.body, "backendAddressPools").map((pool) =>
    renderPool(state, resource, etag, pool, back),
  );
  properties["loadBalancingRules"] = plain("loadBalancingRules");
  properties["probes"] = stored(resource.body, "probes").map((probe) =>
    renderChild(resource, etag, "probes", probe, linksOf(back, childId(resource.id, "probes", nameIn(probe)))),
  );
  properties["inboundNatRules"] = stored(resource.body, "inboundNatRules").map((rule) =>
    renderNatRule(state, resource, etag, rule),
  );
  properties["outboundRules"] = stored(resource.body, "outboundRules").map((rule) =>
    renderChild(resource, etag, "outboundRules", rule),
  );
  properties["inboundNatPools"] = plain("inboundNatPools");
  return envelope(resource, properties);
}

function backReferences(resource: Resource): BackReferences {
  const back: BackReferences = {
    loadBalancingRules: new Map(),
    inboundNatRules: new Map(),
    outboundRules: new Map(),
    inboundNatPools: new Map(),
  };
  for (const collection of ["loadBalancingRules", "inboundNatRules", "outboundRules", "inboundNatPools"] as const) {
    for (const child of stored(resource.body, collection)) {
      const link = idReference(childId(resource.id, collection, nameIn(child)));
      for (const target of targetsOf(collection, child)) push(back[collection], target, link);
    }
  }
  return back;
}

function targetsOf(collection: keyof BackReferences, child: Json): string[] {
  const single = ["frontendIPConfiguration", "probe"].map((field) => idIn(child, field));
  const pools =
    collection === "loadBalancingRules" ? idsIn(child, "backendAddressPools") : [idIn(child, "backendAddressPool")];
  const frontendsOfOutbound = collection === "outboundRules" ? idsIn(child, "frontendIPConfigurations") : [];
  return [...single, ...pools, ...frontendsOfOutbound].filter((id) => id !== undefined);
}

/** Back-references of a child; only those that are not empty. */
function linksOf(back: BackReferences, id: string): Json {
  const links: { [name: string]: unknown } = {};
  for (const collection in back) {
    const found = back[collection as keyof BackReferences].get(id);
    if (found) links[collection] = found;
  }
  return links;
}

function frontends(state: State, resource: Resource, etag: string, back: BackReferences): Json[] {
  return stored(resource.body, "frontendIPConfigurations").map((frontend) => {
    const id = childId(resource.id, "frontendIPConfigurations", nameIn(frontend));
    const services = referrers(state, keyOf(id), "privateLink").map((reference) => idReference(reference.from));
    const extra = { ...linksOf(back, id), ...(services.length > 0 && { privateLinkServices: services }) };
    return renderChild(resource, etag, "frontendIPConfigurations", frontend, extra);
  });
}

function renderNatRule(state: State, resource: Resource, etag: string, rule: Json): Json {
  const [target] = referrers(state, keyOf(childId(resource.id, "inboundNatRules", nameIn(rule))), "natTarget");
  return renderChild(
    resource,
    etag,
    "inboundNatRules",
    rule,
    target && { backendIPConfiguration: idReference(target.from) },
  );
}

function renderPool(state: State, resource: Resource, etag: string, pool: Json, back: BackReferences): Json {
  const { [NIC_SETTINGS]: settings, ...shown } = pool;
  const id = childId(resource.id, "backendAddressPools", nameIn(pool));
  const nics = referrers(state, keyOf(id), "poolMember");
  const mappings = portMappings(resource, id);
  const wrap = (member: Json, index: number): Json => renderMember(resource, etag, id, member, mappings(index));
  const members =
    nics.length > 0
      ? nics.map((nic, index) => wrap(nicMember(nic, objectOf(settings)), index))
      : ipMembersOf(pool).map(wrap);
  return renderChild(resource, etag, "backendAddressPools", shown, {
    loadBalancerBackendAddresses: members,
    ...(nics.length > 0 && { backendIPConfigurations: nics.map((nic) => idReference(nic.from)) }),
    ...linksOf(back, id),
  });
}

function nicMember(nic: Referrer, settings: Json): Json {
  const properties = { networkInterfaceIPConfiguration: idReference(nic.from), ...objectOf(settings[keyOf(nic.from)]) };
  return { name: nicMemberName(nic), properties };
}

function renderMember(
  resource: Resource,
  etag: string,
  poolId: string,
  member: Json,
  mapping: Json[] | undefined,
): Json {
  const name = nameIn(member);
  const wire: { [field: string]: unknown } = { name, id: childId(poolId, "loadBalancerBackendAddresses", name), etag };
  for (const field in member) if (field !== "name" && field !== "properties") wire[field] = member[field];
  const properties: { [field: string]: unknown } = { provisioningState: shownState(resource) };
  Object.assign(properties, member["properties"]);
  if (mapping) properties["inboundNatRulesPortMapping"] = mapping;
  wire["properties"] = properties;
  wire["type"] = `${resource.type}/backendAddressPools/loadBalancerBackendAddresses`;
  return wire;
}

/** A NAT rule on a pool gives each member the next port of its range. */
function portMappings(resource: Resource, poolId: string): (index: number) => Json[] | undefined {
  const rules = stored(resource.body, "inboundNatRules").filter((rule) => idIn(rule, "backendAddressPool") === poolId);
  if (rules.length === 0) return () => undefined;
  return (index) =>
    rules.map((rule) => {
      const { frontendPortRangeStart, backendPort } = propertiesOf(rule);
      return {
        inboundNatRuleName: nameIn(rule),
        frontendPort: (numberOf(frontendPortRangeStart) ?? 0) + index,
        backendPort,
      };
    });
}
