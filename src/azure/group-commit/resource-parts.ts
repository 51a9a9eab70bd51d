/** Parts of a resource that can be written by themselves, yet live in its body and share its ETag. */
import type { ArmBody } from "./commit-types.ts";
import { field, textField } from "../arm/response-body.ts";

const PART =
  /^(.*\/(?:loadBalancers\/[^/]+\/(?:backendAddressPools|inboundNatRules)|networkSecurityGroups\/[^/]+\/securityRules|virtualNetworks\/[^/]+\/subnets))\/[^/]+$/i;

/** The id of the resource that an id belongs to: itself, unless it is a part's. */
export function wholeOf(id: string): string {
  const collection = PART.exec(id)?.[1];
  return collection === undefined ? id : collection.slice(0, collection.lastIndexOf("/"));
}

export function isPart(id: string): boolean {
  return PART.test(id);
}

/** The part out of the body of the whole. */
export function partOf(whole: ArmBody | null, id: string): ArmBody | undefined {
  const [collection = "", name = ""] = id.slice(wholeOf(id).length + 1).split("/");
  const parts = field(field(whole, "properties"), collection);
  if (!Array.isArray(parts)) return undefined;
  return parts.find((part) => textField(part, "name")?.toLowerCase() === name.toLowerCase()) as ArmBody | undefined;
}

/** Is an operation running on it? */
export function isChanging(body: ArmBody | null): boolean {
  return ["creating", "updating", "deleting"].includes(provisioningStateOf(body) ?? "");
}

/** Did its last operation end badly? Then it is only made good by being written once more. */
export function isBroken(body: ArmBody | null): boolean {
  return ["failed", "canceled", "cancelled"].includes(provisioningStateOf(body) ?? "");
}

/** In lower case. */
function provisioningStateOf(body: ArmBody | null): string | undefined {
  return textField(field(body, "properties"), "provisioningState")?.toLowerCase();
}
