/** Refuses to remove children of a load balancer that other resources use. */
import type { Change, Resource } from "../../changes.ts";
import { invalid, referenceNotFound } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import type { Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { ReferenceKind, Referrer } from "../../references.ts";
import type { State } from "../../state.ts";
import { ownerKeyOf, type Candidate } from "./conflicts.ts";
import type { Collection } from "./draft.ts";
import { idIn, idsIn, nameIn, stored } from "./shape.ts";

interface Hold {
  readonly collection: Collection;
  readonly kind: ReferenceKind;
  /** Error code when only the child is removed. */
  readonly code: string;
  /** Error code when the load balancer is deleted. */
  readonly whole: string;
  readonly by: string;
  /** The referrers that block the deletion of the load balancer; all of them if absent. */
  readonly keepsWhole?: (referrer: Referrer) => boolean;
}

/** Only NICs of scale-set instances block the deletion; other NICs leave the pools. */
function isScaleSetNic({ from }: Referrer): boolean {
  return keyOf(from).includes("/virtualmachinescalesets/");
}

const HOLDS: readonly Hold[] = [
  {
    collection: "backendAddressPools",
    kind: "scaleSetModel",
    code: "LoadBalancerBackendAddressPoolInUseByVirtualMachineScaleSet",
    whole: "LoadBalancerInUseByVirtualMachineScaleSet",
    by: "virtual machine scale set",
  },
  {
    collection: "probes",
    kind: "healthProbe",
    code: "CannotRemoveProbeUsedByVMSS",
    whole: "LoadBalancerInUseByVirtualMachineScaleSet",
    by: "virtual machine scale set",
  },
  {
    collection: "backendAddressPools",
    kind: "poolMember",
    code: "InUseBackendAddressPoolCannotBeDeleted",
    whole: "LoadBalancerInUseByVirtualMachineScaleSet",
    by: "IP configuration",
    keepsWhole: isScaleSetNic,
  },
  {
    collection: "inboundNatRules",
    kind: "natTarget",
    code: "InUseInboundNatRuleCannotBeDeleted",
    whole: "InUseLoadBalancerCannotBeDeleted",
    by: "IP configuration",
  },
  {
    collection: "frontendIPConfigurations",
    kind: "privateLink",
    code: "FrontendIPConfigurationInUseByPrivateLinkService",
    whole: "LoadBalancerInUseByPrivateLinkService",
    by: "private link service",
  },
  {
    collection: "frontendIPConfigurations",
    kind: "globalMember",
    code: "NotAllowedToDeleteFrontendIpConfigurationInUseByGlobalLB",
    whole: "NotAllowedToDeleteLoadBalancerWithFrontendIpConfigurationInUseByGlobalLB",
    by: "global load balancer backend pool",
  },
  {
    collection: "frontendIPConfigurations",
    kind: "gateway",
    code: "FrontendIPConfigurationInUseByGatewayChain",
    whole: "LoadBalancerInUseByGatewayChain",
    by: "frontend IP configuration",
  },
];

/** Refuses to delete a load balancer whose children are in use. */
export function checkDeleteLoadBalancer(state: State, resource: Resource): void {
  for (const hold of HOLDS) {
    for (const child of stored(resource.body, hold.collection)) {
      const id = childId(resource.id, hold.collection, nameIn(child));
      const holder = referrers(state, keyOf(id), hold.kind).find(hold.keepsWhole ?? (() => true));
      if (!holder) continue;
      throw invalid(
        hold.whole,
        `Cannot delete load balancer ${resource.id} since its child resources ${id} are in use by ${hold.by} ${holder.from}.`,
      );
    }
  }
}

/** Removes the NICs from a load balancer's pools. */
export function releaseNics(state: State, resource: Resource): Change[] {
  return stored(resource.body, "backendAddressPools").flatMap((pool): Change[] => {
    const poolKey = keyOf(childId(resource.id, "backendAddressPools", nameIn(pool)));
    const owners = new Set(referrers(state, poolKey, "poolMember").map((member) => ownerKeyOf(member.from)));
    return [...owners].map((key) => ({ kind: "leave", key, pool: poolKey }));
  });
}

/** Refuses a write that omits a child in use. */
export function checkRemovedChildren(state: State, before: Resource, after: Json): void {
  for (const hold of HOLDS) {
    const kept = childrenOf(after, hold.collection);
    for (const child of stored(before.body, hold.collection)) {
      if (!kept.has(nameIn(child).toLowerCase())) checkRelease(state, before.id, hold, nameIn(child));
    }
  }
}

function checkRelease(state: State, loadBalancerId: string, hold: Hold, name: string): void {
  const id = childId(loadBalancerId, hold.collection, name);
  const [holder] = referrers(state, keyOf(id), hold.kind);
  if (!holder) return;
  throw invalid(hold.code, `Cannot remove ${id} because it is in use by ${hold.by} ${holder.from}.`);
}

/** A scale set's health probe must stay in use by a rule. */
export function checkHealthProbes(candidate: Candidate): void {
  for (const probe of stored(candidate.body, "probes")) {
    const id = childId(candidate.id, "probes", nameIn(probe));
    const [scaleSet] = referrers(candidate.state, keyOf(id), "healthProbe");
    if (!scaleSet || probeIsActive(candidate.body, id)) continue;
    throw invalid(
      "CannotRemoveRuleUsedByProbeUsedByVMSS",
      `Load balancer rule that references probe ${id} cannot be removed because the probe is used as health probe by VM scale set ${scaleSet.from}.`,
    );
  }
}

export function probeIsActive(body: Json, probeId: string): boolean {
  return stored(body, "loadBalancingRules").some((rule) => idIn(rule, "probe") === probeId);
}

/** Refuses to delete a single pool that a rule of the same load balancer references. */
export function checkUnreferenced(loadBalancer: Resource, collection: string, name: string): void {
  const key = keyOf(childId(loadBalancer.id, collection, name));
  for (const referring of ["loadBalancingRules", "inboundNatRules", "outboundRules"] as const) {
    for (const rule of stored(loadBalancer.body, referring)) {
      const ids = [idIn(rule, "backendAddressPool"), ...idsIn(rule, "backendAddressPools")];
      if (ids.some((id) => id !== undefined && keyOf(id) === key)) {
        throw referenceNotFound(
          childId(loadBalancer.id, collection, name),
          childId(loadBalancer.id, referring, nameIn(rule)),
        );
      }
    }
  }
}
