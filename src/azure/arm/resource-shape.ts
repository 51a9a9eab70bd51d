/**
 * Whether an answer can be a resource at all. A garbled answer (of a proxy, or cut short) must not pass for a resource
 * that has nothing on it: a merge into that would write everything else away. Decides nothing about values; unknown ones
 * go back as they were read.
 */
import { isObject } from "./error-body.ts";
import { ArmError, transient } from "./failures.ts";

/** Under `properties`: lists of named parts. */
const PART_LISTS = [
  "frontendIPConfigurations",
  "backendAddressPools",
  "loadBalancingRules",
  "probes",
  "inboundNatRules",
  "inboundNatPools",
  "outboundRules",
  "securityRules",
  "loadBalancerBackendAddresses",
  "ipConfigurations",
  "subnets",
];

/** The resource; throws where it cannot be one. */
export function assertResourceShape<Body>(body: Body, doing: string): Body {
  const garble = shapeProblem(body);
  if (garble === undefined) return body;
  throw new ArmError(transient(`the answer makes no sense: ${garble}`, true), doing);
}

/** What is wrong with it, in words; `undefined`: nothing. */
function shapeProblem(body: unknown): string | undefined {
  if (!isObject(body)) return "it is no object";
  if (typeof body["id"] !== "string" || body["id"] === "") return "it has no id";
  for (const key of ["tags", "sku"]) {
    const value = body[key] ?? undefined;
    if (value !== undefined && !isObject(value)) return `its ${key} is no object`;
  }
  return garbleOfNamed(body, "it");
}

function garbleOfNamed({ name, properties }: Readonly<Record<string, unknown>>, where: string): string | undefined {
  if (name !== undefined && typeof name !== "string") return `the name of ${where} is no text`;
  if (properties === undefined) return undefined;
  if (!isObject(properties)) return `the properties of ${where} are no object`;
  for (const list of PART_LISTS) {
    const garble = garbleOfParts(properties[list], list);
    if (garble !== undefined) return garble;
  }
  return undefined;
}

function garbleOfParts(parts: unknown, list: string): string | undefined {
  if (parts === undefined || parts === null) return undefined;
  if (!Array.isArray(parts)) return `${list} is no list`;
  for (const part of parts) {
    const garble = isObject(part) ? garbleOfNamed(part, `one of ${list}`) : `one of ${list} is no object`;
    if (garble !== undefined) return garble;
  }
  return undefined;
}
