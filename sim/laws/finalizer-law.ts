/**
 * As long as anything of a Service is in Azure, the Service exists and has the finalizer. Parts that another client puts back
 * after they were removed (by writing what it had read before) are exempt; so is a pool whose last rule it drops, since
 * nothing says any more whose pool that is.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { valuesOf } from "../../sandbox/azure/model/network/security-group/security-rule.ts";
import { ingressOf } from "../actions/services.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import {
  baseIn,
  baseOf,
  frontendAt,
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

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const PARTS = ["frontendIPConfigurations", "loadBalancingRules", "probes"] as const;

export interface FinalizerLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly services: () => readonly KubeObject[];
}

export class FinalizerLaw implements Law {
  readonly #options: FinalizerLawOptions;
  /** `load balancer/collection/part`: put back, or left without an owner, by another client. */
  readonly exempt = new Set<string>();

  constructor(options: FinalizerLawOptions) {
    this.#options = options;
  }

  onOurWrite({ caller, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (after === undefined) continue;
      if (after.type === LOAD_BALANCER && isLastFrontend(after)) this.#exemptLast(after);
      for (const name of namesIn(after)) {
        const base = baseIn(lastName(name));
        if (base === undefined || (before !== undefined && namesIn(before).has(name)) || this.#hasFinalizer(base))
          continue;
        this.#options.report("finalizer", `${caller} ${method} made ${name} for a Service without a finalizer`);
      }
    }
  }

  /** What another client adds is its own to remove. */
  onOthersWrite({ touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (after === undefined) continue;
      const known = before === undefined ? new Set<string>() : namesIn(before);
      for (const name of namesIn(after)) if (!known.has(name)) this.exempt.add(name);
      for (const pool of partsOf(after, "backendAddressPools")) {
        const isLeft = before !== undefined && isSentTo(before, pool) && !isSentTo(after, pool);
        if (isLeft) this.exempt.add(poolIn(after, pool));
      }
    }
  }

  onChange({ collection, type, object, previous }: HistoryEntry): void {
    if (collection !== "services" || previous === undefined || !bearsFinalizer(previous)) return;
    if (type !== "DELETED" && bearsFinalizer(object)) return;
    const left = this.leftOf(previous);
    for (const kept of this.#keptOf(previous)) this.exempt.add(kept);
    if (left.length === 0) return;
    const { namespace, name } = object.metadata;
    this.#options.report("finalizer", `${namespace}/${name} lost its finalizer while there is ${left.join(", ")}`);
  }

  /** What a Service still has in Azure. */
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

  /** The last frontend stays because other clients use the load balancer, although its Service has no rule there any more. */
  #exemptLast(resource: Resource): void {
    const bases = partsOf(resource, "loadBalancingRules").map((rule) => baseIn(nameOf(rule)));
    for (const name of namesIn(resource)) {
      if (name.includes("/frontendIPConfigurations/") && !bases.includes(baseIn(lastName(name)))) this.exempt.add(name);
    }
  }

  /** Frontends that have to outlive their Service. */
  #keptOf({ metadata }: KubeObject): string[] {
    const base = baseOf(metadata.uid ?? "");
    return resourcesOf(this.#options.azure, LOAD_BALANCER).flatMap((resource) =>
      [...namesIn(resource)].filter((name) => baseIn(lastName(name)) === base && this.#isKept(resource, name)),
    );
  }

  /** Parts of a load balancer that belong to no existing Service. */
  orphansIn(resource: Resource, bases: ReadonlySet<string>): string[] {
    return [...namesIn(resource)].filter((name) => {
      const base = baseIn(lastName(name));
      return base !== undefined && !bases.has(base) && !this.#isKept(resource, name);
    });
  }

  /** A frontend that other parts refer to, or whose address another Service was given, has to stay. */
  #isKept(resource: Resource, name: string): boolean {
    if (this.exempt.has(name)) return true;
    if (!name.includes("/frontendIPConfigurations/")) return false;
    const own = lastName(name).toLowerCase();
    const isOn = (part: unknown): boolean =>
      JSON.stringify(part).toLowerCase().includes(`/frontendipconfigurations/${own}"`);
    const others = ["outboundRules", "inboundNatRules", "loadBalancingRules"].flatMap((collection) =>
      partsOf(resource, collection),
    );
    return (
      others.some((part) => baseIn(nameOf(part)) !== baseIn(own) && isOn(part)) ||
      isLastFrontend(resource) ||
      this.#isGivenToAnother(resource, own)
    );
  }

  #isGivenToAnother(resource: Resource, frontend: string): boolean {
    const { azure, services } = this.#options;
    const id = `${resource.id}/frontendIPConfigurations/${frontend}`.toLowerCase();
    return services().some(
      (service) =>
        service.metadata.deletionTimestamp === undefined &&
        baseOf(service.metadata.uid ?? "") !== baseIn(frontend) &&
        ingressOf(service).some((address) => frontendAt(azure, address)?.toLowerCase() === id),
    );
  }

  #hasFinalizer(base: string): boolean {
    return this.#options
      .services()
      .some((service) => baseOf(service.metadata.uid ?? "") === base && bearsFinalizer(service));
  }
}

/** A load balancer that other clients use needs a frontend, and the controller must not delete it. */
function isLastFrontend(resource: Resource): boolean {
  return partsOf(resource, "frontendIPConfigurations").length === 1;
}

function bearsFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Destination addresses of the controller's security rules. */
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

/** Does a load balancing rule send to the pool? */
export function isSentTo(loadBalancer: Resource, pool: Json): boolean {
  const rules = JSON.stringify(partsOf(loadBalancer, "loadBalancingRules")).toLowerCase();
  return rules.includes(`/${nameOf(pool).toLowerCase()}"`);
}

/** As `exempt` has it. */
export function poolIn({ id }: Resource, pool: Json): string {
  return `${lastName(id)}/backendAddressPools/${nameOf(pool)}`;
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
    ...partsOf(resource, "backendAddressPools").map((pool) => poolIn(resource, pool)),
  ]);
}
