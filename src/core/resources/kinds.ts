/**
 * The table of resource kinds. Whatever treats one kind of step differently from another reads it here, so a kind is
 * added by its folder and one line of the table; the compiler refuses a kind that is not in it.
 */
import { parseId } from "../model/ids.ts";
import type { AzureStep, Bodies, Fragments, Kind } from "./azure-step.ts";
import { backendPoolKind } from "./backend-pool/kind.ts";
import { loadBalancerKind } from "./load-balancer/kind.ts";
import { nicPoolsKind } from "./nic-pools/kind.ts";
import { publicIPKind } from "./public-ip/kind.ts";
import { type ArmType, type ResourceKind, USUAL_WINDOW_SHARE } from "./resource-kind.ts";
import { securityGroupKind } from "./security-group/kind.ts";

export const KINDS: { readonly [K in Kind]: ResourceKind<Fragments[K], Bodies[K]> } = {
  publicIP: publicIPKind,
  loadBalancer: loadBalancerKind,
  backendPool: backendPoolKind,
  nicPools: nicPoolsKind,
  securityGroup: securityGroupKind,
};

/** Read, but never written. */
const SUBNETS: ArmType = { type: "Microsoft.Network/virtualNetworks/subnets", noun: "subnet", read: "single" };

/** Needed beside the rights of the kinds: for subnets, and for the zones of the region. */
export const READ_RIGHTS: readonly string[] = [
  `${SUBNETS.type}/read`,
  "Microsoft.Resources/subscriptions/providers/read",
];

const kindByType = new Map(
  kindNames().flatMap((kind) => KINDS[kind].types.map(({ type }) => [type.toLowerCase(), kind] as const)),
);
const armTypes = new Map(
  [...kindNames().flatMap((kind) => KINDS[kind].types), SUBNETS].map((each) => [each.type.toLowerCase(), each]),
);

/** Of the resource with this id; `undefined` where it is none that we write. */
export function kindOfId(id: string): Kind | undefined {
  return kindByType.get(fullTypeOf(id));
}

/** Of the resource with this id; `undefined` where it is none that we know. */
export function armTypeOf(id: string): ArmType | undefined {
  return armTypes.get(fullTypeOf(id));
}

/** Of the resources in the list at this path. */
export function listedType(path: string): ArmType | undefined {
  return armTypeOf(`${path}/any`);
}

/** What people call a resource of this type, `Microsoft.Network/loadBalancers`; its last segment where we know none. */
export function nounOf(type: string): string {
  return armTypes.get(type.toLowerCase())?.noun ?? type.slice(type.lastIndexOf("/") + 1);
}

/** Is a body that was read of this kind? Its id tells; its shape was checked when it was read. */
export function isBodyOf<K extends Kind>(kind: K, body: unknown): body is Bodies[K] {
  const isObject = typeof body === "object" && body !== null;
  return isObject && "id" in body && typeof body.id === "string" && kindOfId(body.id) === kind;
}

/** Is what the step writes a Service's? Pools follow the nodes, whatever the Services ask for. */
export function isOwnedByService({ kind }: Pick<AzureStep, "kind">): boolean {
  return KINDS[kind].ownerOf !== undefined;
}

/** What a PUT of this body to this id sends; the body itself where it is none that we write. */
export function requestBodyOf(id: string, body: unknown): unknown {
  const kind = kindOfId(id);
  return kind !== undefined && isBodyOf(kind, body) ? requestOf(kind, body) : body;
}

/** How the write of this body, or the deletion of what it was, changes public IPs; `undefined`: not at all. */
export function publicIPsAfter<K extends Kind>(kind: K, id: string, body: Bodies[K] | undefined) {
  return KINDS[kind].publicIPsAfter?.(id, body);
}

/** How long writes to this resource wait for others, as a share of what one takes. */
export function batchWindowShareOf(id: string): number {
  const kind = kindOfId(id);
  return kind === undefined ? USUAL_WINDOW_SHARE : KINDS[kind].batchWindowShare;
}

function requestOf<K extends Kind>(kind: K, body: Bodies[K]): object {
  return KINDS[kind].requestBody(body);
}

function kindNames(): Kind[] {
  return Object.keys(KINDS).filter((name): name is Kind => name in KINDS);
}

function fullTypeOf(id: string): string {
  const parsed = parseId(id);
  return parsed === undefined ? "" : `${parsed.provider}/${parsed.type}`.toLowerCase();
}
