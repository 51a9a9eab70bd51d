/**
 * Parses a LoadBalancer's lbSpec and attributes for the built-in driver `lbcf-azure`: which Azure load balancer and pool
 * it names, and the frontend and rules in front of the pool. Messages name the key, the value and the fix.
 *
 *   lbSpec        |                                                      | default
 *   --------------|------------------------------------------------------|------------------------------------------
 *   name          | the load balancer; created if missing                | none: required
 *   resourceGroup |                                                      | that of the cluster's load balancers
 *   pool          | the pool; created if missing                         | derived from cluster and LoadBalancer
 *
 *   attributes    |                                                      | default
 *   --------------|------------------------------------------------------|------------------------------------------
 *   frontend      | public, internal, or the name of an existing one     | internal where rules are given, else none
 *   rules         | `80:8080/TCP,443`, see `azure-rules.ts`              | none: users create their own
 *   maxBackends   | no more entries than this in the pool                | 5000, Azure's own limit
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { md5 } from "../../util/md5.ts";
import { isManagedLoadBalancer, migrationPoolName, poolName } from "../../model/names.ts";
import { closestMatch } from "../../util/text.ts";
import type { Owner } from "../../outcome.ts";
import type { StringMap } from "../objects/objects.ts";
import { parseRules, type AzureRule } from "./azure-rules.ts";

/** The LoadBalancer object: `namespace/name`, or `namespace/bind/name` within a Bind. */
export type ObjectKey = string;

export interface AzureTarget {
  readonly resourceGroup: string;
  readonly name: string;
  readonly pool: string;
  /** The pool has the derived name: the controller created it and may remove it. */
  readonly isOwnPool: boolean;
}

type FrontendAttribute =
  | { readonly kind: "public" }
  | { readonly kind: "internal" }
  | { readonly kind: "named"; readonly name: string };

export interface AzureAttributes {
  readonly frontend: FrontendAttribute | undefined;
  readonly rules: readonly AzureRule[];
  readonly maxBackends: number;
}

/** What is wrong, in one sentence. */
export interface Mistake {
  readonly mistake: string;
}

const SPEC_KEYS = ["name", "resourceGroup", "pool"];
const ATTRIBUTE_KEYS = ["frontend", "rules", "maxBackends"];
/** Azure's rule for the names of load balancers and their parts. */
const AZURE_NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?$/;
const RESOURCE_GROUP = /^[\w().-]{1,90}$/;
const POOL_SIZE = 5_000;
const LONGEST_NAME = 80;

export function parseAzureSpec(lbSpec: StringMap, key: ObjectKey, config: ClusterConfig): AzureTarget | Mistake {
  const unknown = unknownKey("lbSpec", lbSpec, SPEC_KEYS);
  if (unknown !== undefined) return unknown;
  const own = ownPoolName(config.clusterName, key);
  const { name = "", resourceGroup = config.loadBalancerResourceGroup, pool = own } = lbSpec;
  if (name === "") return { mistake: "lbSpec.name is missing: name the Azure load balancer" };
  for (const [field, value] of Object.entries({ name, pool })) {
    if (!AZURE_NAME.test(value)) return { mistake: `lbSpec.${field} "${value}" is no name that Azure allows` };
  }
  if (!RESOURCE_GROUP.test(resourceGroup)) {
    return { mistake: `lbSpec.resourceGroup "${resourceGroup}" is no name that Azure allows` };
  }
  if (isClusterPool(pool, config)) {
    return { mistake: `lbSpec.pool "${pool}" is the pool of this cluster's Services: choose another` };
  }
  if (pool !== own && hasServicePools(name, config)) {
    const why = `load balancer "${name}" has the pools of this cluster's Services`;
    return { mistake: `lbSpec.pool "${pool}" cannot be chosen, since ${why}: leave it out` };
  }
  return { resourceGroup, name, pool, isOwnPool: pool === own };
}

/** Compares the name only: it counts in every load balancer. */
export function isClusterPool(pool: string, { clusterName }: ClusterConfig): boolean {
  return (["IPv4", "IPv6"] as const)
    .map((family) => poolName(clusterName, family))
    .flatMap((name) => [name, migrationPoolName(name)])
    .some((name) => name.toLowerCase() === pool.toLowerCase());
}

/** With several load balancers a Service may have a pool of its own, which is named after it: see `names.ts`. */
function hasServicePools(loadBalancer: string, config: ClusterConfig): boolean {
  return config.loadBalancers.length > 0 && isManagedLoadBalancer(loadBalancer, config, []);
}

export function parseAzureAttributes(attributes: StringMap): AzureAttributes | Mistake {
  const unknown = unknownKey("attributes", attributes, ATTRIBUTE_KEYS);
  if (unknown !== undefined) return unknown;
  const { frontend = "", rules: text = "", maxBackends = String(POOL_SIZE) } = attributes;
  const rules = parseRules(text);
  if ("mistake" in rules) return rules;
  const most = Number(maxBackends);
  if (!Number.isInteger(most) || most < 1) {
    return { mistake: `attributes.maxBackends "${maxBackends}" is no number of entries: write one such as 1000` };
  }
  const parsed = frontendOf(frontend, rules.length > 0);
  return "mistake" in parsed ? parsed : { ...parsed, rules, maxBackends: most };
}

function frontendOf(text: string, hasRules: boolean): { frontend: FrontendAttribute | undefined } | Mistake {
  if (text === "") return { frontend: hasRules ? { kind: "internal" } : undefined };
  if (text === "public" || text === "internal") return { frontend: { kind: text } };
  if (!AZURE_NAME.test(text)) {
    return { mistake: `attributes.frontend "${text}" is neither public, internal nor a name that Azure allows` };
  }
  return { frontend: { kind: "named", name: text } };
}

function unknownKey(field: string, map: StringMap, known: readonly string[]): Mistake | undefined {
  const key = Object.keys(map).find((each) => !known.includes(each));
  if (key === undefined) return undefined;
  return { mistake: `${field}.${key} is unknown to lbcf-azure: did you mean ${closestMatch(key, known)}?` };
}

/** The prefix of all Azure names that belong to one LoadBalancer; without a dash, see `load-balancer-index.ts`. */
export function baseOfObject(clusterName: string, key: ObjectKey): string {
  return `lbcf${md5(`${clusterName}/${key}`).slice(0, 20)}`;
}

/** The owner of what one LoadBalancer has in Azure. */
export function azureOwner(key: ObjectKey, { clusterName }: ClusterConfig): Owner {
  return { key: `lbcf:${key}`, uid: key, base: baseOfObject(clusterName, key) };
}

function ownPoolName(clusterName: string, key: ObjectKey): string {
  const whole = `${clusterName}-${key}`.replaceAll(/[^A-Za-z0-9_.-]/g, "-");
  const hash = md5(`${clusterName}/${key}`).slice(0, 8);
  return `${whole.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`;
}

/** `undefined` when there are no parameters: a pool entry has no settings. */
export function parametersMistake(parameters: StringMap): string | undefined {
  const [key] = Object.keys(parameters);
  if (key === undefined) return undefined;
  const why = key === "weight" ? "Azure's load balancers have no weights" : "lbcf-azure has no parameters";
  return `parameters.${key} cannot be used: ${why}; remove it`;
}
