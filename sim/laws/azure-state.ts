/** How laws read Azure: directly in the emulator's state, by names and references, independently of the controller's core. */
import type { Resource, State } from "../../sandbox/azure/model/index.ts";
import { objectsOf, propertiesOf, stringOf, type Json } from "../../sandbox/azure/model/json.ts";
import { FOREIGN_NAME } from "../actions/edited-bodies.ts";

export const LOAD_BALANCER = "Microsoft.Network/loadBalancers";
export const PUBLIC_IP = "Microsoft.Network/publicIPAddresses";
export const SECURITY_GROUP = "Microsoft.Network/networkSecurityGroups";

export function resourcesOf(state: State, type: string): Resource[] {
  return [...state.resources.values()].filter((resource) => resource.type === type);
}

export function partsOf({ body }: Pick<Resource, "body">, collection: string): readonly Json[] {
  return objectsOf(propertiesOf(body)[collection]);
}

export function nameOf(part: Json): string {
  return stringOf(part["name"]) ?? "";
}

export function lastName(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

export function isForeign(name: string): boolean {
  return FOREIGN_NAME.test(name);
}

/** The prefix of every name that a Service owns in Azure. */
export function baseOf(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, 32);
}

/** The prefix of a name; `undefined` if it is not a Service's. */
export function baseIn(name: string): string | undefined {
  return /^a[0-9a-f]{31}/i.exec(name)?.[0].toLowerCase();
}

/** The address that a public IP has been assigned. */
export function addressOf(publicIP: Resource): string {
  return stringOf(publicIP.assigned["ipAddress"]) ?? "";
}

/** Id of the frontend at an address, public or private. */
export function frontendAt(state: State, address: string): string | undefined {
  for (const held of state.addresses.values()) {
    const holder = held.get(address);
    if (holder !== undefined && /\/frontendIPConfigurations\//i.test(holder)) return holder;
  }
  const publicIP = resourcesOf(state, PUBLIC_IP).find((resource) => addressOf(resource) === address);
  const referrers = publicIP && state.incoming.get(publicIP.id.toLowerCase());
  return [...(referrers?.values() ?? [])].find(({ kind }) => kind === "publicIp")?.from;
}

/** Keys of the Services in the tag of a public IP. */
export function servicesIn(publicIP: Resource): string[] {
  const tags = (publicIP.body["tags"] ?? {}) as Readonly<Record<string, string>>;
  return (tags["k8s-azure-service"] ?? "").split(",").filter((key) => key !== "");
}
