/**
 * Which of several Standard load balancers serves a Service: what `placement` decides, for what is seen of the cluster and
 * of Azure.
 *
 * A Service that shares the address of another goes where that address is. Services that are yet to be placed are counted
 * in turn (`placement-queue.ts`).
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { PLACEMENT } from "../../intent/annotations/placement.ts";
import { type ClassFilter, servedHere } from "../../intent/ownership.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { LoadBalancer, PublicIP } from "../../model/arm.ts";
import { publicIPId } from "../../model/ids.ts";
import { namespaceOfKey, type NamespaceLabels, type Service } from "../../model/kubernetes.ts";
import { baseOf, externalName } from "../../model/names.ts";
import type { Rejection } from "../../outcome.ts";
import { chooseLoadBalancer, type Choice, Occupancy } from "../../placement/choose-load-balancer.ts";
import { eligibleLoadBalancers } from "../../placement/eligible-load-balancers.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { memoAll } from "../../util/memo.ts";
import { listedOf, type ObservedAzure } from "../observed-azure.ts";
import { demandOf } from "./limits.ts";
import { loadBalancerIndex, loadBalancersWith } from "./load-balancer-index.ts";
import { isOfKind, PlacementQueue, type Scope } from "./placement-queue.ts";

export interface SeveralInput {
  readonly config: ClusterConfig;
  readonly loadBalancers: readonly LoadBalancer[];
  readonly classFilter?: ClassFilter;
  readonly service?: Service;
  readonly otherServices?: readonly Service[];
  /** Absent where no load balancer has a namespace selector. */
  readonly namespaces?: NamespaceLabels;
  readonly listed?: ObservedAzure["listed"];
}

const NONE: NamespaceLabels = new Map();
const NO_SERVICES: readonly Service[] = [];

/** The external name. */
export function placeOnSeveral(input: SeveralInput, intent: ServiceIntent): Choice | Rejection {
  const { config, loadBalancers, service, otherServices = NO_SERVICES, namespaces = NONE, classFilter } = input;
  const before = (): Occupancy => {
    const queue = unplaced(config, loadBalancers, namespaces);
    const services = servedHere(otherServices, classFilter);
    return queue.takenBefore(services, service, intent) ?? occupancyOf(loadBalancers, intent.scope);
  };
  return placeOne({ config, loadBalancers, namespaces, labels: service?.metadata.labels ?? {} }, intent, {
    holder: addressHolder(input, intent),
    before,
  });
}

interface Seen {
  readonly config: ClusterConfig;
  readonly loadBalancers: readonly LoadBalancer[];
  readonly namespaces: NamespaceLabels;
  readonly labels: Readonly<Record<string, string>>;
}

interface Found {
  /** The load balancer with a frontend of another owner that has the Service's address. */
  readonly holder: string | undefined;
  readonly before: () => Occupancy;
}

function placeOne(seen: Seen, intent: ServiceIntent, { holder, before }: Found): Choice | Rejection {
  const { config, loadBalancers, namespaces, labels } = seen;
  const current = currentName(loadBalancers, intent);
  const namespaceLabels = namespaces.get(namespaceOfKey(intent.owner.key)) ?? {};
  const applicant = { labels, namespaceLabels, named: intent.loadBalancers, current };
  const eligible = eligibleLoadBalancers(config.loadBalancers, applicant);
  if ("kind" in eligible) return eligible;
  const names = eligible.map(({ name }) => name);
  if (holder === undefined) return chooseLoadBalancer(names, current, before);
  const isEligible = names.some((name) => name.toLowerCase() === holder.toLowerCase());
  return isEligible ? { name: holder, why: "its address is there" } : refuseHolder(holder, names);
}

function refuseHolder(holder: string, names: readonly string[]): Rejection {
  const may = names.map((name) => `"${name}"`).join(", ");
  const message =
    `its address stands on a frontend of another owner on load balancer "${holder}", but it may be placed on ${may} only: ` +
    `use another address, or let it be placed there (annotation ${PLACEMENT.configurations.key}, labels)`;
  return { kind: "rejection", reason: "NoLoadBalancer", message };
}

/** Of the kind that it asks for; else the counterpart of the one that it is on. */
function currentName(loadBalancers: readonly LoadBalancer[], { owner, scope }: ServiceIntent): string | undefined {
  const present = loadBalancersWith(loadBalancers, owner.base).map(({ name }) => name);
  const same = present.find((name) => isOfKind(name, scope));
  const found = same ?? present[0];
  return found === undefined ? undefined : externalName(found);
}

function occupancyOf(loadBalancers: readonly LoadBalancer[], scope: Scope): Occupancy {
  const ofKind = loadBalancers.filter(({ name }) => isOfKind(name, scope));
  return new Occupancy(
    ofKind.map(({ name, properties }) => [externalName(name), (properties.loadBalancingRules ?? []).length] as const),
  );
}

export function addressHolder(
  { config, loadBalancers, listed = {} }: SeveralInput,
  intent: ServiceIntent,
): string | undefined {
  const { scope, families, pinned, owner } = intent;
  for (const family of families) {
    const address = pinned[family];
    const wanted = intent.publicIPs[family];
    const publicIP = wanted && idOf(config, intent, wanted, listedOf({ listed }, "publicIP"));
    for (const loadBalancer of loadBalancers) {
      if (!isOfKind(loadBalancer.name, scope)) continue;
      const { byPublicIP, byPrivateAddress } = loadBalancerIndex(loadBalancer);
      const frontend =
        scope === "internal"
          ? byPrivateAddress.get(address === undefined ? "" : canonicalAddress(address))
          : byPublicIP.get(publicIP?.toLowerCase() ?? "");
      if (frontend !== undefined && baseOf(frontend.name) !== owner.base.toLowerCase()) {
        return externalName(loadBalancer.name);
      }
    }
  }
  return undefined;
}

/** `undefined` for one of the Service's own, and for an address that no public IP has. */
function idOf(
  config: ClusterConfig,
  { publicIPResourceGroup }: ServiceIntent,
  wanted: NonNullable<ServiceIntent["publicIPs"]["IPv4"]>,
  publicIPs: ReadonlyMap<string, readonly PublicIP[]>,
): string | undefined {
  if (wanted.kind === "generated") return undefined;
  if (wanted.kind === "named") return publicIPId(config, publicIPResourceGroup, wanted.name);
  const address = canonicalAddress(wanted.address);
  const all = [...publicIPs.values()].flat();
  return all.find(({ properties }) => canonicalAddress(properties.ipAddress ?? "") === address)?.id;
}

/** Once for all that ask. */
const unplaced = memoAll(
  (config: ClusterConfig, loadBalancers: readonly LoadBalancer[], namespaces: NamespaceLabels) =>
    new PlacementQueue<Occupancy>({
      config,
      loadBalancers,
      taken: (scope) => occupancyOf(loadBalancers, scope),
      withOne: (occupancy, { service, intent }) => {
        const seen = { config, loadBalancers, namespaces, labels: service.metadata.labels ?? {} };
        const placed = placeOne(seen, intent, { holder: undefined, before: () => occupancy });
        return "kind" in placed ? occupancy : occupancy.with(placed.name, demandOf(intent).rules);
      },
    }),
);
