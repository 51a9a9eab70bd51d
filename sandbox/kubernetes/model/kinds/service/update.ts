/**
 * Prepares the update of a Service before validation: keeps allocated fields, drops fields of the old type.
 *
 *   omitted by the client            | kept: cluster IPs, families, node ports (by port name), health-check port
 *   type no longer needs a field,    | dropped: node ports, health-check port, class, allocate flag,
 *   and the client did not change it | external traffic policy, cluster IPs and families
 *   no longer a load balancer        | status.loadBalancer is cleared
 */
import type { KubeObject } from "../../contract.ts";
import { asObject, sameJson } from "../../json.ts";
import {
  isExternallyAccessible,
  isLoadBalancer,
  mayHaveNodePorts,
  needsClusterIP,
  needsHealthPort,
  type ServiceSpec,
  specOf,
  withSpec,
} from "./spec.ts";

export function prepareServiceUpdate(service: KubeObject, old: KubeObject): KubeObject {
  const kept = keepAllocated(specOf(service), specOf(old));
  const dropped = dropUnneeded({ ...specOf(service), ...kept }, specOf(old));
  const updated = toSingleStack(withSpec(service, { ...kept, ...dropped }), specOf(old));
  if (!isLoadBalancer(specOf(old)) || isLoadBalancer(specOf(updated))) return updated;
  return { ...updated, status: { ...asObject(updated["status"]), loadBalancer: {} } };
}

function keepAllocated(spec: ServiceSpec, old: ServiceSpec): Partial<ServiceSpec> {
  const kept: Record<string, unknown> = {};
  if (needsClusterIP(spec) && needsClusterIP(old)) {
    kept["ipFamilyPolicy"] = spec.ipFamilyPolicy ?? old.ipFamilyPolicy;
    kept["ipFamilies"] = spec.ipFamilies ?? old.ipFamilies;
    if (spec.clusterIP === undefined && spec.clusterIPs === undefined) {
      kept["clusterIP"] = old.clusterIP;
      kept["clusterIPs"] = old.clusterIPs;
    } else if (spec.clusterIP === undefined) {
      kept["clusterIP"] = spec.clusterIPs?.[0];
    } else if (spec.clusterIPs === undefined) {
      kept["clusterIPs"] = spec.clusterIP === old.clusterIP ? old.clusterIPs : [spec.clusterIP];
    }
  }
  if (mayHaveNodePorts(spec) && mayHaveNodePorts(old)) kept["ports"] = keepNodePorts(spec, old);
  if (needsHealthPort(spec) && needsHealthPort(old)) {
    kept["healthCheckNodePort"] = spec.healthCheckNodePort ?? old.healthCheckNodePort;
  }
  return kept;
}

/** From two families to one: drops the second if the client changed only the policy. */
function toSingleStack(service: KubeObject, old: ServiceSpec): KubeObject {
  const spec = specOf(service);
  if (spec.ipFamilyPolicy !== "SingleStack" || old.ipFamilyPolicy === "SingleStack") return service;
  const first = (field: "ipFamilies" | "clusterIPs"): unknown =>
    sameJson(spec[field], old[field]) ? spec[field]?.slice(0, 1) : spec[field];
  return withSpec(service, { ipFamilies: first("ipFamilies"), clusterIPs: first("clusterIPs") });
}

/** A port without a node port keeps the one of the same name, unless another port has it. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): unknown {
  const given = new Set(spec.ports?.map((port) => port.nodePort));
  return spec.ports?.map((port) => {
    if (port.nodePort !== undefined) return port;
    const before = old.ports?.find((item) => item.name === port.name)?.nodePort;
    return before === undefined || given.has(before) ? port : { ...port, nodePort: before };
  });
}

function dropUnneeded(spec: ServiceSpec, old: ServiceSpec): Record<string, unknown> {
  const dropped: Record<string, unknown> = {};
  const drop = (field: keyof ServiceSpec): void => {
    if (sameJson(spec[field], old[field])) dropped[String(field)] = undefined;
  };
  if (needsClusterIP(old) && !needsClusterIP(spec)) {
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) drop(field);
    drop("internalTrafficPolicy");
  }
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(spec)) {
    dropped["ports"] = spec.ports?.map((port) => {
      const unchanged = old.ports?.some((item) => item.nodePort === port.nodePort);
      return unchanged ? { ...port, nodePort: undefined } : port;
    });
  }
  if (needsHealthPort(old) && !needsHealthPort(spec)) drop("healthCheckNodePort");
  if (isLoadBalancer(old) && !isLoadBalancer(spec)) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) drop("externalTrafficPolicy");
  return dropped;
}
