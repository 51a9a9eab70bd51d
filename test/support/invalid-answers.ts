/** Answers that no server should give: each function turns a valid one into an invalid one. */
import type { Rewrite } from "./rewriting-proxy.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Changes every value under these keys, wherever they stand. */
function under(keys: readonly string[], change: (value: Json) => Json): Rewrite {
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, keys.includes(key) ? change(item) : walk(item)]),
    );
  };
  return (text) => {
    try {
      return JSON.stringify(walk(JSON.parse(text) as Json));
    } catch {
      return text;
    }
  };
}

const HUGE_CHARACTERS = 20_000_000;

/** Of the whole text. */
export const BROKEN_TEXTS: Readonly<Record<string, Rewrite>> = {
  "cut in the middle": (text) => text.slice(0, text.length / 2),
  empty: () => "",
  "a page of a proxy": () => "<html><body>Please sign in</body></html>",
  "a number": () => "7",
  null: () => "null",
  "an empty object": () => "{}",
  "a list": () => "[1, null, {}]",
  huge: (text) => text.replace(/^\{/, `{"junk":"${"x".repeat(HUGE_CHARACTERS)}",`),
  "nested deeply": (text) => text.replace(/^\{/, `{"junk":${"[".repeat(5000)}${"]".repeat(5000)},`),
};

export const WRONG_ARM: Readonly<Record<string, Rewrite>> = {
  "lists that are texts": under(
    ["value", "frontendIPConfigurations", "loadBalancingRules", "probes", "securityRules", "backendAddressPools"],
    () => "none",
  ),
  "lists of nothing": under(
    ["frontendIPConfigurations", "loadBalancingRules", "probes", "securityRules", "backendAddressPools"],
    () => [null],
  ),
  "properties that are numbers": under(["properties"], () => 7),
  "properties that are missing": under(["properties"], () => null),
  "names that are numbers": under(["name", "id"], () => 12),
  "tags that are texts": under(["tags"], () => "tagged"),
  "unknown states": under(["provisioningState", "status"], () => "Exploding"),
  "unknown choices": under(["protocol", "sku", "direction", "access", "adminState"], () => "Quantum"),
};

/** Of the pools of several load balancers, and of their members. */
export const WRONG_POOLS: Readonly<Record<string, Rewrite>> = {
  "members that are a text": under(["loadBalancerBackendAddresses"], () => "none"),
  "members that are nothing": under(["loadBalancerBackendAddresses"], () => [null]),
  "members that are missing": under(["loadBalancerBackendAddresses"], () => null),
  "addresses of members that are numbers": under(["ipAddress"], () => 7),
  "pools that are numbers": under(["backendAddressPools", "backendAddressPool"], () => 7),
};

export const WRONG_LINKS: Readonly<Record<string, Rewrite>> = {
  "frontends of links that are a text": under(["loadBalancerFrontendIpConfigurations"], () => "none"),
  "frontends of links that are missing": under(["loadBalancerFrontendIpConfigurations"], () => null),
  "addresses of links of nothing": under(["ipConfigurations"], () => [null]),
  "connections that are a text": under(["privateEndpointConnections"], () => "many"),
  "tags that are numbers": under(["k8s-azure-cluster-name", "k8s-azure-owner-service"], () => 7),
  "lists of subscriptions that are numbers": under(["visibility", "autoApproval"], () => 7),
};

/** Of EndpointSlices and namespaces. */
export const WRONG_SLICES: Readonly<Record<string, Rewrite>> = {
  "endpoints that are a text": under(["endpoints"], () => "none"),
  "endpoints of nothing": under(["endpoints"], () => [null]),
  "conditions that are a number": under(["conditions"], () => 7),
  "nodes that are numbers": under(["nodeName"], () => 7),
  "labels that are a text": under(["labels"], () => "labelled"),
  "unknown families": under(["addressType"], () => "IPv5"),
};

const EVENT_TYPES: readonly Json[] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"];

export const WRONG_KUBERNETES: Readonly<Record<string, Rewrite>> = {
  "metadata that is a number": under(["metadata"], () => 7),
  "ports that are a text": under(["ports"], () => "80"),
  "ports of nothing": under(["ports"], () => [null]),
  "annotations that are a list": under(["annotations"], () => [1]),
  "finalizers that are a text": under(["finalizers"], () => "mine"),
  "a status that is a number": under(["status"], () => 7),
  "a spec that is missing": under(["spec"], () => null),
  "addresses that are a number": under(["addresses"], () => 3),
  "unknown events": under(["type"], (value) => (EVENT_TYPES.includes(value) ? "QUANTUM" : value)),
};
