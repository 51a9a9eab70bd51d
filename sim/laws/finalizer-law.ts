/**
 * As long as anything of a Service is in Azure, the Service is there and bears the finalizer. What others put back after
 * it was removed (by writing what they had read before) is theirs to remove.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { valuesOf } from "../../sandbox/azure/model/network/security-group/security-rule.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import {
  baseIn,
  baseOf,
  lastName,
  LOAD_BALANCER,
  nameOf,
  partsOf,
  PUBLIC_IP,
  resourcesOf,
  SECURITY_GROUP,
  servicesIn,
} from "./azure-state.ts";
import type { Law, Report } from "./law.ts";

export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const PARTS = ["frontendIPConfigurations", "loadBalancingRules", "probes"] as const;

export interface FinalizerLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly services: () => readonly KubeObject[];
}

export class FinalizerLaw implements Law {
  readonly #options: FinalizerLawOptions;
  /** `load balancer/collection/part`: put back by others. */
  readonly exempt = new Set<string>();

  constructor(options: FinalizerLawOptions) {
    this.#options = options;
  }

  onOurWrite({ who, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (after === undefined) continue;
      if (after.type === LOAD_BALANCER && isLastFrontend(after)) this.#exemptLast(after);
      for (const name of namesIn(after)) {
        const base = baseIn(lastName(name));
        if (base === undefined || (before !== undefined && namesIn(before).has(name)) || this.#isHeld(base)) continue;
        this.#options.report("finalizer", `${who} ${method} made ${name} for a Service that bears no finalizer`);
      }
    }
  }

  /** Whoever keeps a frontend alive by a rule of their own keeps it. */
  onOthersWrite({ touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (after === undefined) continue;
      const known = before === undefined ? new Set<string>() : namesIn(before);
      for (const name of namesIn(after)) if (!known.has(name)) this.exempt.add(name);
    }
  }

  onChange({ collection, type, object, previous }: HistoryEntry): void {
    if (collection !== "services" || previous === undefined || !isHeldBy(previous)) return;
    if (type !== "DELETED" && isHeldBy(object)) return;
    const left = this.leftOf(previous);
    for (const kept of this.#keptOf(previous)) this.exempt.add(kept);
    if (left.length === 0) return;
    const { namespace, name } = object.metadata;
    this.#options.report("finalizer", `${namespace}/${name} lost its finalizer while there is ${left.join(", ")}`);
  }

  /** What is in Azure of a Service. */
  leftOf({ metadata }: KubeObject): string[] {
    const { azure } = this.#options;
    const base = baseOf(metadata.uid ?? "");
    const key = `${metadata.namespace}/${metadata.name}`;
    const parts = resourcesOf(azure, LOAD_BALANCER).flatMap((resource) =>
      resource.state === "Deleting"
        ? []
        : [...namesIn(resource)].filter((name) => baseIn(lastName(name)) === base && !this.#isKept(resource, name)),
    );
    const publicIPs = resourcesOf(azure, PUBLIC_IP).filter(
      (resource) => resource.state !== "Deleting" && servicesIn(resource).includes(key),
    );
    return [...parts, ...publicIPs.map(({ id }) => lastName(id))];
  }

  /** The last frontend stays for the sake of others, although its Service has no rule there any more. */
  #exemptLast(resource: Resource): void {
    const bases = partsOf(resource, "loadBalancingRules").map((rule) => baseIn(nameOf(rule)));
    for (const name of namesIn(resource)) {
      if (name.includes("/frontendIPConfigurations/") && !bases.includes(baseIn(lastName(name)))) this.exempt.add(name);
    }
  }

  /** Frontends that must outlive their Service. */
  #keptOf({ metadata }: KubeObject): string[] {
    const base = baseOf(metadata.uid ?? "");
    return resourcesOf(this.#options.azure, LOAD_BALANCER).flatMap((resource) =>
      [...namesIn(resource)].filter((name) => baseIn(lastName(name)) === base && this.#isKept(resource, name)),
    );
  }

  /** Parts of a load balancer that belong to none of the Services there are. */
  orphansIn(resource: Resource, bases: ReadonlySet<string>): string[] {
    return [...namesIn(resource)].filter((name) => {
      const base = baseIn(lastName(name));
      return base !== undefined && !bases.has(base) && !this.#isKept(resource, name);
    });
  }

  /** A frontend that something else stands on must stay. */
  #isKept(resource: Resource, name: string): boolean {
    if (this.exempt.has(name)) return true;
    if (!name.includes("/frontendIPConfigurations/")) return false;
    const own = lastName(name).toLowerCase();
    const isOn = (part: unknown): boolean =>
      JSON.stringify(part).toLowerCase().includes(`/frontendipconfigurations/${own}"`);
    const others = ["outboundRules", "inboundNatRules", "loadBalancingRules"].flatMap((collection) =>
      partsOf(resource, collection),
    );
    return others.some((part) => baseIn(nameOf(part)) !== baseIn(own) && isOn(part)) || isLastFrontend(resource);
  }

  #isHeld(base: string): boolean {
    return this.#options.services().some((service) => baseOf(service.metadata.uid ?? "") === base && isHeldBy(service));
  }
}

/** A load balancer that others use too cannot be without any frontend, and is not ours to delete. */
function isLastFrontend(resource: Resource): boolean {
  return partsOf(resource, "frontendIPConfigurations").length === 1;
}

function isHeldBy({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Who is let through by rules of ours: rule and address. */
export function openingsIn(
  group: Resource,
): { readonly name: string; readonly rule: Json; readonly address: string }[] {
  return partsOf(group, "securityRules")
    .filter((rule) => nameOf(rule).startsWith("k8s-azure-lb"))
    .flatMap((rule) =>
      valuesOf(propertiesOf(rule), "destination", "AddressPrefix").map((address) => {
        return { name: `${nameOf(rule)} opens ${address}`, rule, address };
      }),
    );
}

/** `load balancer/collection/part`, for parts that a Service can own. */
function namesIn(resource: Resource): Set<string> {
  if (resource.type === SECURITY_GROUP) return new Set(openingsIn(resource).map(({ name }) => name));
  if (resource.type !== LOAD_BALANCER) return new Set();
  const entries = partsOf(resource, "backendAddressPools").flatMap((pool) =>
    partsOf({ body: pool }, "loadBalancerBackendAddresses").map((entry) => `entry ${nameOf(entry)}`),
  );
  return new Set([
    ...PARTS.flatMap((collection) =>
      partsOf(resource, collection).map((part) => `${lastName(resource.id)}/${collection}/${nameOf(part)}`),
    ),
    ...entries,
  ]);
}
