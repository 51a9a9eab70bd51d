/**
 * Values that Azure or the API server will give: a plan goes on with placeholders, which must not be shown as if they were
 * real. Every placeholder in the steps of a plan is replaced by `<known after apply>`.
 */
import type { Frontend, LoadBalancer } from "../model/arm.ts";
import type { Observed } from "../observed.ts";
import { listedOf } from "../resources/observed-azure.ts";
import type { Difference } from "./plan-diff.ts";
import type { PlannedStep } from "./render-plan.ts";

export const KNOWN_AFTER_APPLY = "<known after apply>";

export interface Placeholders {
  readonly addresses: ReadonlySet<string>;
  /** Prefixes of the names of what Services own: of those that have no UID yet. */
  readonly bases?: ReadonlySet<string>;
  /** Node ports that are not allocated yet. */
  readonly ports?: ReadonlySet<number>;
}

/** Addresses that are in Azure after a plan and not before, and that no user has chosen. */
export function placeholderAddresses(before: readonly Observed[], after: readonly Observed[]): Set<string> {
  const known = givenAddresses(before);
  return new Set([...givenAddresses(after)].filter((address) => !known.has(address)));
}

/** Observations share most of their lists: each is read once. */
function givenAddresses(observations: readonly Observed[]): Set<string> {
  const publicIPs = new Set(observations.flatMap((observed) => [...listedOf(observed, "publicIP").values()]));
  const loadBalancers = new Set(observations.map((observed) => observed.loadBalancers));
  const addresses = new Set<string>();
  for (const list of publicIPs) {
    for (const { properties } of list) if (properties.ipAddress !== undefined) addresses.add(properties.ipAddress);
  }
  for (const frontend of [...loadBalancers].flatMap((list) => list.flatMap(frontendsOf))) {
    const { privateIPAddress, privateIPAllocationMethod } = frontend.properties;
    if (privateIPAddress !== undefined && privateIPAllocationMethod !== "Static") addresses.add(privateIPAddress);
  }
  return addresses;
}

function frontendsOf({ properties }: LoadBalancer): readonly Frontend[] {
  return properties.frontendIPConfigurations ?? [];
}

export function maskStep(step: PlannedStep, placeholders: Placeholders): PlannedStep {
  return {
    ...step,
    id: maskText(step.id, placeholders),
    why: maskText(step.why, placeholders),
    diff: step.diff.map((change) => maskDifference(change, placeholders)),
  };
}

function maskDifference({ path, ...change }: Difference, placeholders: Placeholders): Difference {
  return {
    path: maskText(path, placeholders),
    ...("before" in change && { before: maskValue(change.before, placeholders) }),
    ...("after" in change && { after: maskValue(change.after, placeholders) }),
  };
}

function maskValue(value: unknown, placeholders: Placeholders): unknown {
  if (typeof value === "string") return maskText(value, placeholders);
  if (typeof value === "number") return placeholders.ports?.has(value) ? KNOWN_AFTER_APPLY : value;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, placeholders));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskValue(item, placeholders)]));
}

/** What may be an address, the base of a name, or a port. */
const TOKEN = /\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:]+|a[0-9a-f]{31}|\b\d{6,}\b/g;

export function maskText(text: string, { addresses, bases, ports }: Placeholders): string {
  return text.replaceAll(TOKEN, (token) =>
    addresses.has(token) || bases?.has(token) || ports?.has(Number(token)) ? KNOWN_AFTER_APPLY : token,
  );
}
