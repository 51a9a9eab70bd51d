/** A Service's spec as allocation and validation read it, with the predicates that they share. */
import type { KubeObject } from "../../contract.ts";
import type { IpFamily } from "../../service-ranges.ts";

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

export interface ServiceSpec {
  readonly type?: string;
  readonly ports?: readonly ServicePort[];
  readonly selector?: Readonly<Record<string, string>>;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly IpFamily[];
  readonly ipFamilyPolicy?: string;
  readonly externalIPs?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: string;
  readonly internalTrafficPolicy?: string;
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly healthCheckNodePort?: number;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly [field: string]: unknown;
}

export interface LoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
}

export function specOf(service: KubeObject): ServiceSpec {
  return (service["spec"] ?? {}) as ServiceSpec;
}

export function ingressOf(service: KubeObject): readonly LoadBalancerIngress[] {
  const status = (service["status"] ?? {}) as { loadBalancer?: { ingress?: LoadBalancerIngress[] } };
  return status.loadBalancer?.ingress ?? [];
}

/** The same Service with these spec fields set; `undefined` removes one. */
export function withSpec(service: KubeObject, fields: Record<string, unknown>): KubeObject {
  const spec: Record<string, unknown> = { ...specOf(service), ...fields };
  for (const [field, value] of Object.entries(spec)) if (value === undefined) delete spec[field];
  return { ...service, spec };
}

export const isLoadBalancer = (spec: ServiceSpec): boolean => spec.type === "LoadBalancer";
export const isHeadless = (spec: ServiceSpec): boolean => spec.clusterIP === "None";
export const needsClusterIP = (spec: ServiceSpec): boolean => spec.type !== "ExternalName";
export const needsHealthPort = (spec: ServiceSpec): boolean =>
  isLoadBalancer(spec) && spec.externalTrafficPolicy === "Local";
export const isExternallyAccessible = (spec: ServiceSpec): boolean =>
  isLoadBalancer(spec) || spec.type === "NodePort" || (spec.externalIPs?.length ?? 0) > 0;
/** Whether node ports are allocated automatically. */
export const wantsNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === "NodePort" || (isLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts !== false);
/** Whether ports may have node ports at all. */
export const mayHaveNodePorts = (spec: ServiceSpec): boolean => spec.type === "NodePort" || isLoadBalancer(spec);
