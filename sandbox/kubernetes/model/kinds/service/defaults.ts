/** Service defaults, applied to every write. */
import type { KubeObject } from "../../contract.ts";
import { ingressOf, isExternallyAccessible, isLoadBalancer, specOf, withSpec } from "./spec.ts";

const AFFINITY_TIMEOUT_SECONDS = 10_800;

export function serviceDefaults(service: KubeObject): KubeObject {
  const given = specOf(service);
  const spec = { ...given, type: given.type ?? "ClusterIP" };
  const affinity = spec.sessionAffinity ?? "None";
  return withIpMode(
    withSpec(service, {
      type: spec.type,
      sessionAffinity: affinity,
      sessionAffinityConfig: affinityConfig(affinity, spec.sessionAffinityConfig),
      ports: spec.ports?.map((port) => ({
        ...port,
        protocol: port.protocol ?? "TCP",
        targetPort:
          port.targetPort === undefined || port.targetPort === 0 || port.targetPort === ""
            ? port.port
            : port.targetPort,
      })),
      externalTrafficPolicy: spec.externalTrafficPolicy ?? (isExternallyAccessible(spec) ? "Cluster" : undefined),
      internalTrafficPolicy: spec.internalTrafficPolicy ?? (spec.type === "ExternalName" ? undefined : "Cluster"),
      allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? (isLoadBalancer(spec) ? true : undefined),
    }),
  );
}

function affinityConfig(affinity: string, given: unknown): unknown {
  if (affinity !== "ClientIP") return affinity === "None" ? undefined : given;
  const seconds = (given as { clientIP?: { timeoutSeconds?: number } } | undefined)?.clientIP?.timeoutSeconds;
  return { clientIP: { timeoutSeconds: seconds ?? AFFINITY_TIMEOUT_SECONDS } };
}

/** ipMode defaults to VIP. */
function withIpMode(service: KubeObject): KubeObject {
  const ingress = ingressOf(service);
  if (!isLoadBalancer(specOf(service)) || ingress.every((item) => item.ip === undefined || item.ipMode !== undefined)) {
    return service;
  }
  const filled = ingress.map((item) => (item.ip === undefined ? item : { ipMode: "VIP", ...item }));
  const status = service["status"] as { loadBalancer: object };
  return { ...service, status: { ...status, loadBalancer: { ...status.loadBalancer, ingress: filled } } };
}
