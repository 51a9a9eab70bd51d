/**
 * A failure in words for the people who look at events and logs: what happened and what they can do about it.
 * Azure's own words are quoted where they help; the rest names the fix.
 */
import type { ArmFailure } from "./failures.ts";

/** One or two sentences; `what` says what was being done, as in "writing load balancer kubernetes". */
export function describeFailure(failure: ArmFailure, what: string): string {
  return `${what}: ${causeOf(failure)}${fixOf(failure)}`;
}

function causeOf(failure: ArmFailure): string {
  const said = [failure.code, failure.message].filter((part) => part !== "").join(": ");
  switch (failure.kind) {
    case "notFound":
      return failure.missing === "resource" ? said : `the ${NAMES[failure.missing]} does not exist (${said})`;
    case "conflict":
      return "someone else keeps changing it at the same time.";
    case "superseded":
      return "another write cancelled ours.";
    case "busy":
      return `Azure is still busy with another operation on it (${said})`;
    case "notProvisioned":
      return `${failure.referencedId ?? "something that it refers to"} is not ready (${said})`;
    case "throttled":
      return `Azure throttles this subscription${inSeconds(failure.retryAfterMs)}.`;
    case "invalid":
      return `Azure refused it: ${said}`;
    case "quota":
      return `a limit is reached: ${said}`;
    case "inUse":
      return `it is still used by ${failure.heldBy ?? "something else"} (${said})`;
    case "locked":
      return `Azure does not let it be changed: ${said}`;
    case "denied":
      return failure.action === undefined
        ? `not allowed: ${said}`
        : `no permission for ${failure.action}${failure.scope === undefined ? "" : ` on ${failure.scope}`}.`;
    case "unauthenticated":
      return `Azure does not accept our credentials (${said})`;
    case "transient":
      return `Azure did not answer properly (${said})`;
    case "fenced":
      return failure.message;
  }
}

const NAMES = { parent: "parent resource", resourceGroup: "resource group", subscription: "subscription" } as const;

function inSeconds(ms: number | undefined): string {
  return ms === undefined ? "" : ` for ${Math.ceil(ms / 1000)} s`;
}

/** Empty where waiting is all that helps, which the controller does by itself. */
function fixOf(failure: ArmFailure): string {
  const fix = CODE_FIXES[failure.code] ?? KIND_FIXES[failure.kind];
  if (failure.kind === "denied" && failure.action !== undefined) {
    return ` Assign a role with that action (Network Contributor has it) to the controller's identity at that scope or above.`;
  }
  return fix === undefined ? "" : ` ${fix}`;
}

const KIND_FIXES: Readonly<Partial<Record<ArmFailure["kind"], string>>> = {
  conflict: "If another controller manages it too, stop one of them.",
  superseded: "If another controller manages it too, stop one of them.",
  quota: "Remove what is unused, or ask Azure for a higher limit.",
  locked: "Remove the management lock, or wait until the deletion of the resource group is over.",
  denied: "Ask whoever manages policies and roles of this subscription.",
  unauthenticated: "Check tenantId, aadClientId and the secret, certificate or identity in the cloud config.",
};

/** Codes with a more precise remedy than their kind has. */
const CODE_FIXES: Readonly<Record<string, string>> = {
  RulesUseSameFrontendPortProtocolAndIPConfig:
    "Two Services, or a Service and a rule made by hand, want the same port of the same address: change one of them.",
  RulesUseSameBackendPortProtocolAndPool:
    "Two rules send to the same node port without floating IP: change one Service's port or turn floating IP on.",
  RulesUseSameBackendPortProtocolAndPoolAndFrontendIPWithFloatingIPEnabled:
    "Two rules want the same port of the same address: change one Service's port.",
  DnsRecordInUse: "Choose another service.beta.kubernetes.io/azure-dns-label-name.",
  PublicIPAddressInUse: "Name another public IP, or detach this one from what holds it.",
  PublicIPReferencedByMultipleIPConfigs: "Give each frontend a public IP of its own.",
  PublicIPAndLBSkuDoNotMatch: "Use a public IP with the load balancer's SKU.",
  DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed: "Use a public IP with the load balancer's SKU.",
  PrivateIPAddressNotInSubnet: "Choose an address inside the subnet.",
  PrivateIPAddressInReservedRange: "Azure keeps the first four and the last address of a subnet: choose another.",
  PrivateIPAddressIsAllocated: "Choose an address that is free.",
  PrivateIPAddressInUse: "Choose an address that is free.",
  SubnetIsFull: "Use a larger subnet, or free addresses in this one.",
  SecurityRuleInvalidAddressPrefix: "Use a network address such as 10.0.0.0/24 or a known service tag.",
  OverlappingSubnetsNotPermittedInSecurityRule: "Remove the source ranges that others contain.",
  SecurityRuleAddressesOrPortsPerSecurityGroupLimitReached: "Use fewer source ranges, or a service tag in their place.",
  InvalidResourceReference:
    "Create what it names, in the same region, or name something that exists (a VNet: vnetName and vnetResourceGroup of the cloud config).",
  MissingSubscriptionRegistration:
    "Register the resource provider: az provider register --namespace Microsoft.Network.",
  NoRegisteredProviderFound: "This cloud does not know the api-version that was asked for.",
};
