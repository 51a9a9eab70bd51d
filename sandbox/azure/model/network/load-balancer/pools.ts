/**
 * Backend pools.
 *
 *   write of the pool          | IP members   | NIC members
 *   ---------------------------|--------------|---------------------------------------------------
 *   LB PUT                     | replaced     | unchanged; settings of current members are stored
 *   pool PUT                   | replaced     | must be complete, and unchanged but for adminState
 */
import { keyOf } from "../../ids.ts";
import { stringOf, without, type Json } from "../../json.ts";
import { childId, follow } from "../../lookups.ts";
import { idReference, storedChild, writtenProperties } from "../fields.ts";
import { cannotMix, poolTooLarge } from "../errors.ts";
import { itemsOf } from "./draft.ts";
import { ipMembers } from "./ip-members.ts";
import { checkNicMembersUnchanged, NIC_SETTINGS, nicSettings, presentMembers, sortMembers } from "./nic-members.ts";
import type { PoolWrite } from "./pool-write.ts";

const READ_ONLY = new Set([
  "backendIPConfigurations",
  "loadBalancingRules",
  "inboundNatRules",
  "outboundRules",
  "outboundRule",
]);
const OURS = new Set([NIC_SETTINGS]);

export function poolForm(write: PoolWrite): Json {
  const { input, item } = write;
  const name = stringOf(item["name"]) ?? "";
  const id = childId(input.id, "backendAddressPools", name);
  const properties = writtenProperties(item, READ_ONLY);
  const items = itemsOf(properties["loadBalancerBackendAddresses"], "properties.loadBalancerBackendAddresses");
  const present = presentMembers(input.state, keyOf(id));
  const sorted = sortMembers(id, items, present);
  if (sorted.ip.length > 0 && sorted.nic.size + present.size > 0) throw cannotMix(id);
  if (write.alone) checkNicMembersUnchanged(id, sorted.nic, present);
  const network = followNetwork(write, id, properties);
  const settings = nicSettings(write, sorted.nic, present);
  properties["loadBalancerBackendAddresses"] = ipMembers(write, id, sorted.ip, network);
  checkSize(write, id, sorted.ip.length + present.size);
  const stored = storedChild(name, without(item, OURS), properties);
  return settings.size === 0 ? stored : { ...stored, [NIC_SETTINGS]: Object.fromEntries(settings) };
}

/** The virtual network of the pool, if it has one; makes its reference canonical. */
function followNetwork(write: PoolWrite, id: string, properties: { [name: string]: unknown }): string | undefined {
  const { state, location } = write.input;
  const network = follow(state, properties["virtualNetwork"], {
    owner: id,
    location,
    path: "properties.virtualNetwork",
  });
  if (network) properties["virtualNetwork"] = idReference(network.id);
  return network?.id;
}

function checkSize(write: PoolWrite, id: string, size: number): void {
  const limits = write.input.state.options.limits;
  const limit =
    write.sku === "Basic" ? limits.basicPoolSize : write.tier === "Global" ? limits.globalPoolSize : limits.poolSize;
  if (size > limit) throw poolTooLarge(id, size, limit);
}
