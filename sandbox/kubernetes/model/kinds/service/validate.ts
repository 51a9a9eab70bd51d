/** Validates the spec of a Service field by field. */
import { isAddress, parseBlock } from "../../../../shared/cidr.ts";
import type { KubeObject } from "../../contract.ts";
import { asString, sameJson } from "../../json.ts";
import { duplicate, forbiddenField, invalidValue, oneOf, required, type Cause } from "../../status-error.ts";
import { labelsProblems, qualifiedNameProblems, subdomainProblems } from "../metadata.ts";
import {
  isExternallyAccessible,
  isHeadless,
  isLoadBalancer,
  needsHealthPort,
  specOf,
  type ServiceSpec,
} from "./spec.ts";
import { validatePorts } from "./validate-ports.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
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
