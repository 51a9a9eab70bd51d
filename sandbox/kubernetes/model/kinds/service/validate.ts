/** Validates a Service field by field. */
import { isAddress, parseBlock } from "../../../../shared/cidr.ts";
import type { KubeObject } from "../../contract.ts";
import { asArray, asObject, asString, sameJson } from "../../json.ts";
import { type Cause, duplicate, forbiddenField, invalidValue, notSupported, required } from "../../status-error.ts";
import { labelProblems, labelsProblems, qualifiedNameProblems, subdomainProblems } from "../metadata.ts";
import {
  ingressOf,
  isExternallyAccessible,
  isHeadless,
  isLoadBalancer,
  mayHaveNodePorts,
  needsHealthPort,
  type ServicePort,
  type ServiceSpec,
  specOf,
} from "./spec.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const POLICIES = ["Cluster", "Local"];
const FAMILY_POLICIES = ["SingleStack", "PreferDualStack", "RequireDualStack"];

export function validateService(service: KubeObject, old: KubeObject | undefined): Cause[] {
  const spec = specOf(service);
  return [
    ...validatePorts(spec),
    ...validateType(spec),
    ...oneOf("spec.sessionAffinity", spec.sessionAffinity, ["ClientIP", "None"]),
    ...labelsProblems(spec.selector ?? {}, "spec.selector"),
    ...validateAddresses(spec),
    ...validatePolicies(spec),
    ...validateLoadBalancerFields(spec),
    ...(old === undefined ? [] : validateChange(spec, specOf(old))),
  ];
}

function oneOf(field: string, value: string | undefined, allowed: readonly string[]): Cause[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function validateType(spec: ServiceSpec): Cause[] {
  if (spec.type !== "ExternalName") return oneOf("spec.type", spec.type, TYPES);
  const name = asString(spec.externalName);
  const problems = subdomainProblems(name.replace(/\.$/, ""));
  const causes = problems.map((problem) => invalidValue("spec.externalName", name, problem));
  if (spec.clusterIP !== undefined && spec.clusterIP !== "") {
    causes.push(forbiddenField("spec.clusterIPs", "may not be set for ExternalName services"));
  }
  return causes;
}

function validatePorts(spec: ServiceSpec): Cause[] {
  const ports = spec.ports ?? [];
  if (ports.length === 0 && spec.type !== "ExternalName" && !isHeadless(spec)) return [required("spec.ports")];
  return [...ports.flatMap((port, index) => validatePort(spec, port, index)), ...duplicatePorts(ports)];
}

function validatePort(spec: ServiceSpec, port: ServicePort, index: number): Cause[] {
  const at = `spec.ports[${index}]`;
  const causes: Cause[] = [];
  const name = asString(port.name);
  if (name === "" && (spec.ports?.length ?? 0) > 1) causes.push(required(`${at}.name`));
  if (name !== "") causes.push(...labelProblems(name).map((problem) => invalidValue(`${at}.name`, name, problem)));
  causes.push(...portNumberProblems(`${at}.port`, port.port ?? 0));
  causes.push(...oneOf(`${at}.protocol`, port.protocol, PROTOCOLS));
  if (typeof port.targetPort === "number") causes.push(...portNumberProblems(`${at}.targetPort`, port.targetPort));
  else if (port.targetPort !== undefined) causes.push(...portNameProblems(`${at}.targetPort`, port.targetPort));
  if (port.appProtocol !== undefined) {
    const problems = qualifiedNameProblems(port.appProtocol);
    causes.push(...problems.map((problem) => invalidValue(`${at}.appProtocol`, port.appProtocol, problem)));
  }
  if (port.nodePort !== undefined && !mayHaveNodePorts(spec)) {
    causes.push(forbiddenField(`${at}.nodePort`, `may not be used when \`type\` is '${spec.type}'`));
  }
  return causes;
}

function portNumberProblems(field: string, port: number): Cause[] {
  return port >= 1 && port <= 65_535 ? [] : [invalidValue(field, port, "must be between 1 and 65535, inclusive")];
}

function portNameProblems(field: string, name: string): Cause[] {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= 15 && /[a-z]/.test(name) && !name.includes("--")) {
    return [];
  }
  return [
    invalidValue(field, name, "must be a lower-case port name of at most 15 characters with at least one letter"),
  ];
}

function duplicatePorts(ports: readonly ServicePort[]): Cause[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  return ports.flatMap((port, index) => {
    const causes: Cause[] = [];
    const name = asString(port.name);
    const number = `${port.protocol}/${port.port}`;
    const nodePort = port.nodePort === undefined ? "" : `${port.protocol}/${port.nodePort}`;
    if (name !== "" && names.has(name)) causes.push(duplicate(`spec.ports[${index}].name`, name));
    if (numbers.has(number)) {
      causes.push(duplicate(`spec.ports[${index}]`, { port: port.port, protocol: port.protocol }));
    }
    if (nodePort !== "" && nodePorts.has(nodePort)) {
      causes.push(duplicate(`spec.ports[${index}].nodePort`, { nodePort: port.nodePort, protocol: port.protocol }));
    }
    names.add(name);
    numbers.add(number);
    nodePorts.add(nodePort);
    return causes;
  });
}

function validateAddresses(spec: ServiceSpec): Cause[] {
  const causes: Cause[] = [];
  const addresses = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  addresses.forEach((ip, index) => {
    if (ip !== "None" && !isAddress(ip)) {
      causes.push(
        invalidValue(`spec.clusterIPs[${index}]`, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
      );
    }
  });
  if (spec.clusterIP !== undefined && spec.clusterIPs !== undefined && spec.clusterIPs[0] !== spec.clusterIP) {
    causes.push(invalidValue("spec.clusterIPs", spec.clusterIPs, "first value must match `clusterIP`"));
  }
  if (isHeadless(spec) && spec.type !== "ClusterIP") {
    causes.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`));
  }
  spec.externalIPs?.forEach((ip, index) => {
    if (!isAddress(ip)) causes.push(invalidValue(`spec.externalIPs[${index}]`, ip, "must be a valid IP address"));
  });
  spec.ipFamilies?.forEach((family, index) => {
    causes.push(...oneOf(`spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]));
    if (spec.ipFamilies?.indexOf(family) !== index) causes.push(duplicate(`spec.ipFamilies[${index}]`, family));
  });
  return [...causes, ...oneOf("spec.ipFamilyPolicy", spec.ipFamilyPolicy, FAMILY_POLICIES)];
}

function validatePolicies(spec: ServiceSpec): Cause[] {
  const causes: Cause[] = [...oneOf("spec.internalTrafficPolicy", spec.internalTrafficPolicy, POLICIES)];
  const external = spec.externalTrafficPolicy;
  if (external === undefined && isExternallyAccessible(spec)) causes.push(required("spec.externalTrafficPolicy"));
  if (external !== undefined && !isExternallyAccessible(spec)) {
    const why = "may only be set for externally-accessible services";
    causes.push(invalidValue("spec.externalTrafficPolicy", external, why));
  } else {
    causes.push(...oneOf("spec.externalTrafficPolicy", external, POLICIES));
  }
  if (spec.healthCheckNodePort !== undefined && !needsHealthPort(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    causes.push(invalidValue("spec.healthCheckNodePort", spec.healthCheckNodePort, why));
  }
  return causes;
}

function validateLoadBalancerFields(spec: ServiceSpec): Cause[] {
  const causes: Cause[] = [];
  const only = "may only be used when `type` is 'LoadBalancer'";
  if (!isLoadBalancer(spec)) {
    if (spec.allocateLoadBalancerNodePorts !== undefined)
      causes.push(forbiddenField("spec.allocateLoadBalancerNodePorts", only));
    if (spec.loadBalancerClass !== undefined) causes.push(forbiddenField("spec.loadBalancerClass", only));
    if (spec.loadBalancerSourceRanges !== undefined) {
      causes.push(forbiddenField("spec.LoadBalancerSourceRanges", only));
    }
    return causes;
  }
  if (spec.loadBalancerClass !== undefined) {
    const problems = qualifiedNameProblems(spec.loadBalancerClass);
    causes.push(...problems.map((problem) => invalidValue("spec.loadBalancerClass", spec.loadBalancerClass, problem)));
  }
  spec.loadBalancerSourceRanges?.forEach((range, index) => {
    if (parseBlock(range.trim()) !== undefined) return;
    const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    causes.push(invalidValue(`spec.LoadBalancerSourceRanges[${index}]`, range, why));
  });
  return causes;
}

/** Fields that are immutable unless the type changes. */
function validateChange(spec: ServiceSpec, old: ServiceSpec): Cause[] {
  const causes: Cause[] = [];
  const bothHaveIPs = spec.type !== "ExternalName" && old.type !== "ExternalName";
  if (bothHaveIPs && old.clusterIP !== undefined && spec.clusterIP !== old.clusterIP) {
    causes.push(invalidValue("spec.clusterIPs[0]", spec.clusterIPs, "may not change once set"));
  }
  if (needsHealthPort(spec) && needsHealthPort(old) && spec.healthCheckNodePort !== old.healthCheckNodePort) {
    causes.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
  if (isLoadBalancer(spec) && isLoadBalancer(old) && !sameJson(spec.loadBalancerClass, old.loadBalancerClass)) {
    causes.push(invalidValue("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set"));
  }
  return causes;
}

export function validateServiceStatus(service: KubeObject): Cause[] {
  const ingress = ingressOf(service);
  if (ingress.length > 0 && !isLoadBalancer(specOf(service))) {
    const why = "may only be used when `spec.type` is 'LoadBalancer'";
    return [forbiddenField("status.loadBalancer.ingress", why)];
  }
  return ingress.flatMap((item, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    const causes: Cause[] = [];
    if (item.ip !== undefined && !isAddress(item.ip)) {
      causes.push(invalidValue(`${at}.ip`, item.ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    }
    if (item.ip === undefined && item.ipMode !== undefined) {
      causes.push(forbiddenField(`${at}.ipMode`, "may not be specified when `ip` is not set"));
    }
    if (item.ipMode !== undefined) causes.push(...oneOf(`${at}.ipMode`, item.ipMode, ["VIP", "Proxy"]));
    if (item.hostname !== undefined) {
      const problems = isAddress(item.hostname)
        ? ["must be a DNS name, not an IP address"]
        : subdomainProblems(item.hostname);
      causes.push(...problems.map((problem) => invalidValue(`${at}.hostname`, item.hostname, problem)));
    }
    return causes;
  });
}

export function validateServiceConditions(service: KubeObject): Cause[] {
  return asArray(asObject(service["status"])["conditions"]).flatMap((item, index) =>
    (["type", "status", "reason", "lastTransitionTime"] as const)
      .filter((field) => asString(asObject(item)[field]) === "")
      .map((field) => required(`status.conditions[${index}].${field}`)),
  );
}
