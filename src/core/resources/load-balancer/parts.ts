/**
 * Our own frontends, rules and probes: when one that is there is right, and how a wrong one is put right.
 *
 * Only the fields that we decide are compared, so that fields which Azure fills in or adds are no change;
 * and only they are replaced, so that a field that another client set on our part survives.
 */
import type { Frontend, LoadBalancingRule, Probe, Reference } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { sameId } from "../../model/ids.ts";

const RULE_FIELDS: readonly string[] = [
  "protocol",
  "frontendPort",
  "backendPort",
  "frontendIPConfiguration",
  "backendAddressPool",
  "probe",
  "enableFloatingIP",
  "enableTcpReset",
  "disableOutboundSnat",
  "idleTimeoutInMinutes",
  "loadDistribution",
];
const PROBE_FIELDS: readonly string[] = ["protocol", "port", "requestPath", "intervalInSeconds", "probeThreshold"];
const FRONTEND_FIELDS: readonly string[] = [
  "publicIPAddress",
  "subnet",
  "privateIPAddress",
  "privateIPAllocationMethod",
  "privateIPAddressVersion",
];

export function isRightRule(seen: LoadBalancingRule, wanted: LoadBalancingRule): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameText(one.protocol, other.protocol) &&
    one.frontendPort === other.frontendPort &&
    one.backendPort === other.backendPort &&
    sameReference(one.frontendIPConfiguration, other.frontendIPConfiguration) &&
    sameReference(one.backendAddressPool, other.backendAddressPool) &&
    sameReference(one.probe, other.probe) &&
    sameText(one.loadDistribution, other.loadDistribution) &&
    Boolean(one.enableFloatingIP) === Boolean(other.enableFloatingIP) &&
    Boolean(one.disableOutboundSnat) === Boolean(other.disableOutboundSnat) &&
    (sameText(other.protocol, "Udp") || Boolean(one.enableTcpReset) === Boolean(other.enableTcpReset)) &&
    (one.idleTimeoutInMinutes ?? other.idleTimeoutInMinutes) === other.idleTimeoutInMinutes
  );
}

export function isRightProbe(seen: Probe, wanted: Probe): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameText(one.protocol, other.protocol) &&
    one.port === other.port &&
    sameText(one.requestPath, other.requestPath) &&
    one.intervalInSeconds === other.intervalInSeconds &&
    one.probeThreshold === other.probeThreshold
  );
}

/** An address that Azure chose is right where none is asked for; zones cannot be changed and are not compared. */
export function isRightFrontend(seen: Frontend, wanted: Frontend): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameReference(one.publicIPAddress, other.publicIPAddress) &&
    sameReference(one.subnet, other.subnet) &&
    (other.subnet === undefined || familyOf(one) === familyOf(other)) &&
    (other.privateIPAddress === undefined ||
      canonicalAddress(one.privateIPAddress ?? "") === canonicalAddress(other.privateIPAddress))
  );
}

/** Of a private address; the plain name passes from one family to the other when a Service becomes dual-stack. */
function familyOf({ privateIPAddressVersion = "IPv4" }: Frontend["properties"]): string {
  return privateIPAddressVersion.toLowerCase();
}

/** `backendAddressPools` (plural) repeats the pool in Azure's answers; it must not outlive a change of pool. */
export function correctedRule(seen: LoadBalancingRule, wanted: LoadBalancingRule): LoadBalancingRule {
  const keepsPool = sameReference(seen.properties.backendAddressPool, wanted.properties.backendAddressPool);
  const decided = keepsPool ? RULE_FIELDS : [...RULE_FIELDS, "backendAddressPools"];
  return { ...seen, properties: { ...without(seen.properties, decided), ...wanted.properties } };
}

export function correctedProbe(seen: Probe, wanted: Probe): Probe {
  return { ...seen, properties: { ...without(seen.properties, PROBE_FIELDS), ...wanted.properties } };
}

export function correctedFrontend(seen: Frontend, wanted: Frontend): Frontend {
  return { ...seen, properties: { ...without(seen.properties, FRONTEND_FIELDS), ...wanted.properties } };
}

function without<Properties extends object>(properties: Properties, fields: readonly string[]): Partial<Properties> {
  const kept = Object.entries(properties).filter(([field]) => !fields.includes(field));
  return Object.fromEntries(kept) as Partial<Properties>;
}

/** Azure spells values in its own case; absent is only the same as absent. */
function sameText(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

function sameReference(one: Reference | undefined, other: Reference | undefined): boolean {
  return (!one && !other) || sameId(one?.id, other?.id);
}
