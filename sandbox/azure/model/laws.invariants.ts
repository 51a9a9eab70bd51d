/** Invariants of every state, checked on the wire forms that clients see. */
import { wireOf } from "./call.ts";
import { keyOf, parentKeyOf } from "./ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "./json.ts";
import type { State } from "./state.ts";

/** Ids of all resources and children, and for each relation the pairs that either side shows. */
interface RelationIndex {
  readonly ids: Set<string>;
  readonly relations: Map<string, { readonly forward: Set<string>; readonly backward: Set<string> }>;
}

/** References whose target is neither a resource nor a child. */
export function danglingReferences(state: State): string[] {
  const { ids } = indexRelations(state);
  const missing: string[] = [];
  for (const references of state.outgoing.values()) {
    for (const { kind, from, to } of references) if (!ids.has(to)) missing.push(`${kind}: ${from} → ${to}`);
  }
  return missing;
}

/** Pairs that only one side of a relation shows. */
export function asymmetries(state: State): string[] {
  const found: string[] = [];
  for (const [relation, { forward, backward }] of indexRelations(state).relations) {
    for (const pair of forward) if (!backward.has(pair)) found.push(`${relation}: only the referrer shows ${pair}`);
    for (const pair of backward) if (!forward.has(pair)) found.push(`${relation}: only the target shows ${pair}`);
  }
  return found;
}

function indexRelations(state: State): RelationIndex {
  const index: RelationIndex = { ids: new Set(), relations: new Map() };
  for (const [key, resource] of state.resources) {
    index.ids.add(key);
    const wire = wireOf(state, resource);
    collectIds(index, wire);
    relate(index, resource.type, wire);
    if (resource.type.endsWith("/virtualMachineScaleSets/virtualMachines")) relateInstance(state, index, key);
  }
  return index;
}

/** Collects the ids of all objects with an id and a name. */
function collectIds(index: RelationIndex, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) collectIds(index, item);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { id, name } = value as Json;
  if (typeof id === "string" && typeof name === "string") index.ids.add(keyOf(id));
  for (const inner of Object.values(value)) collectIds(index, inner);
}

function pair(index: RelationIndex, relation: string, side: "forward" | "backward", from: string, to: string): void {
  let sides = index.relations.get(relation);
  if (!sides) {
    sides = { forward: new Set(), backward: new Set() };
    index.relations.set(relation, sides);
  }
  sides[side].add(`${keyOf(from)} → ${keyOf(to)}`);
}

function idOf(value: unknown): string | undefined {
  return stringOf(objectOf(value)["id"]);
}

function relate(index: RelationIndex, type: string, wire: Json): void {
  const id = stringOf(wire["id"]) ?? "";
  const properties = propertiesOf(wire);
  const forward = (relation: string, from: string, to: unknown): void => {
    const target = idOf(to);
    if (target !== undefined) pair(index, relation, "forward", from, target);
  };
  const backward = (relation: string, from: unknown, to: string): void => {
    const source = idOf(from);
    if (source !== undefined) pair(index, relation, "backward", source, to);
  };
  switch (type) {
    case "Microsoft.Network/loadBalancers":
      return relateLoadBalancer(properties, forward, backward);
    case "Microsoft.Network/publicIPAddresses":
      return backward("public address", properties["ipConfiguration"], id);
    case "Microsoft.Network/networkSecurityGroups":
      for (const user of [...objectsOf(properties["subnets"]), ...objectsOf(properties["networkInterfaces"])])
        backward("security group", user, id);
      return;
    case "Microsoft.Network/virtualNetworks":
      for (const subnet of objectsOf(properties["subnets"])) {
        const subnetId = idOf(subnet) ?? "";
        forward("security group", subnetId, propertiesOf(subnet)["networkSecurityGroup"]);
        for (const user of objectsOf(propertiesOf(subnet)["ipConfigurations"])) backward("subnet", user, subnetId);
      }
      return;
    case "Microsoft.Network/networkInterfaces":
      relateNic(wire, forward);
      backward("machine", properties["virtualMachine"], id);
      return backward("private link NIC", properties["privateLinkService"], id);
    case "Microsoft.Network/privateLinkServices":
      for (const frontend of objectsOf(properties["loadBalancerFrontendIpConfigurations"]))
        forward("private link", id, frontend);
      for (const nic of objectsOf(properties["networkInterfaces"])) forward("private link NIC", id, nic);
      return;
    case "Microsoft.Compute/virtualMachines":
      for (const nic of objectsOf(objectOf(properties["networkProfile"])["networkInterfaces"]))
        forward("machine", id, nic);
      return;
    default:
  }
}

type RelateForward = (relation: string, from: string, to: unknown) => void;
type RelateBackward = (relation: string, from: unknown, to: string) => void;

function relateNic(wire: Json, forward: RelateForward): void {
  const properties = propertiesOf(wire);
  forward("security group", idOf(wire) ?? "", properties["networkSecurityGroup"]);
  for (const configuration of objectsOf(properties["ipConfigurations"])) {
    const id = idOf(configuration) ?? "";
    const inner = propertiesOf(configuration);
    forward("subnet", id, inner["subnet"]);
    forward("public address", id, inner["publicIPAddress"]);
    for (const pool of objectsOf(inner["loadBalancerBackendAddressPools"])) forward("pool member", id, pool);
  }
}

const RULES = ["loadBalancingRules", "inboundNatRules", "outboundRules"] as const;

function relateLoadBalancer(properties: Json, forward: RelateForward, backward: RelateBackward): void {
  for (const frontend of objectsOf(properties["frontendIPConfigurations"])) {
    const id = idOf(frontend) ?? "";
    const inner = propertiesOf(frontend);
    forward("public address", id, inner["publicIPAddress"]);
    forward("subnet", id, inner["subnet"]);
    for (const service of objectsOf(inner["privateLinkServices"])) backward("private link", service, id);
    for (const kind of RULES) for (const rule of objectsOf(inner[kind])) backward(`${kind} of frontends`, rule, id);
  }
  for (const pool of objectsOf(properties["backendAddressPools"])) {
    const id = idOf(pool) ?? "";
    const inner = propertiesOf(pool);
    for (const kind of RULES) for (const rule of objectsOf(inner[kind])) backward(`${kind} of pools`, rule, id);
    for (const configuration of objectsOf(inner["backendIPConfigurations"])) backward("pool member", configuration, id);
    for (const member of objectsOf(inner["loadBalancerBackendAddresses"])) {
      backward("pool member", propertiesOf(member)["networkInterfaceIPConfiguration"], id);
    }
  }
  for (const probe of objectsOf(properties["probes"])) {
    for (const rule of objectsOf(propertiesOf(probe)["loadBalancingRules"]))
      backward("rules of probes", rule, idOf(probe) ?? "");
  }
  for (const rule of objectsOf(properties["loadBalancingRules"])) {
    const id = idOf(rule) ?? "";
    const inner = propertiesOf(rule);
    forward("loadBalancingRules of frontends", id, inner["frontendIPConfiguration"]);
    forward("rules of probes", id, inner["probe"]);
    for (const pool of objectsOf(inner["backendAddressPools"])) forward("loadBalancingRules of pools", id, pool);
  }
}

/** The NICs of an instance are in a separate view. */
function relateInstance(state: State, index: RelationIndex, key: string): void {
  for (const { kind, from, to } of state.outgoing.get(key) ?? []) {
    index.ids.add(keyOf(from));
    index.ids.add(parentKeyOf(keyOf(from)));
    const relation = { poolMember: "pool member", address: "subnet", securityGroup: "security group" }[kind as string];
    if (relation !== undefined) pair(index, relation, "forward", from, to);
  }
}
