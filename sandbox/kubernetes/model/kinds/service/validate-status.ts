/** Validates the status of a Service. */
import { isAddress } from "../../../../shared/cidr.ts";
import type { KubeObject } from "../../contract.ts";
import { asArray, asObject, asString } from "../../json.ts";
import { forbiddenField, invalidValue, oneOf, required, type Cause } from "../../status-error.ts";
import { subdomainProblems } from "../metadata.ts";
import { ingressOf, isLoadBalancer, specOf } from "./spec.ts";

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
