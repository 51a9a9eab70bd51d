/**
 * The table of resource kinds. Whatever treats one kind of resource differently from another reads it here, so a kind is
 * added by its folder and one line of the table; the compiler refuses an entry that lacks something.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { parseId } from "../model/ids.ts";
import type { AzureStep, Bodies, Fragments, Kind, ListedKind } from "./azure-step.ts";
import { backendPoolKind } from "./backend-pool/kind.ts";
import { loadBalancerKind } from "./load-balancer/kind.ts";
import { nicPoolsKind } from "./nic-pools/kind.ts";
import { privateEndpointConnectionKind } from "./private-endpoint-connection/kind.ts";
import { privateLinkServiceKind } from "./private-link-service/kind.ts";
import { publicIPKind } from "./public-ip/kind.ts";
import { type ArmType, type ResourceKind, USUAL_WINDOW_SHARE } from "./resource-kind.ts";
import { securityGroupKind } from "./security-group/kind.ts";
import { subnetKind } from "./subnet/kind.ts";

const TABLE = {
  publicIP: publicIPKind,
  loadBalancer: loadBalancerKind,
  backendPool: backendPoolKind,
  nicPools: nicPoolsKind,
  securityGroup: securityGroupKind,
  privateLinkService: privateLinkServiceKind,
  privateEndpointConnection: privateEndpointConnectionKind,
  subnet: subnetKind,
};

/** Whence `azure-step.ts` has the kinds, with the fragment and the body of each. */
export type Table = typeof TABLE;

export const KINDS: { readonly [K in Kind]: ResourceKind<Fragments[K], Bodies[K]> } = TABLE;

/** Those that decisions see in lists of whole resource groups. */
export const LISTED_KINDS: readonly ListedKind[] = kindNames().filter(
  (kind): kind is ListedKind => KINDS[kind].observed === "byGroup",
);

/** Needed beside the rights of the kinds: for the zones of the region. */
export const READ_RIGHTS: readonly string[] = ["Microsoft.Resources/subscriptions/providers/read"];

/** What is known of a type of resources. */
interface KnownType extends ArmType {
  readonly kind: Kind;
}

const knownTypes = new Map(
  kindNames().flatMap((kind) =>
    KINDS[kind].types.map((type): [string, KnownType] => [type.type.toLowerCase(), { ...type, kind }]),
  ),
);

/** Of the resource with this id; `undefined` where it is none that we know. */
export function knownType(id: string): KnownType | undefined {
  const parsed = parseId(id);
  return parsed && knownTypes.get(`${parsed.provider}/${parsed.type}`.toLowerCase());
}

/** The path of the list of all resources of a kind in a resource group. */
export function listPath(
  kind: Kind,
  { subscriptionId, networkSubscriptionId }: Pick<ClusterConfig, "subscriptionId" | "networkSubscriptionId">,
  resourceGroup: string,
): string {
  const { type, isInClusterSubscription } = KINDS[kind].types[0];
  const subscription = isInClusterSubscription === true ? subscriptionId : networkSubscriptionId;
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${type}`;
}

/** What people call a resource of this type, `Microsoft.Network/loadBalancers`; its last segment where we know none. */
export function nounOf(type: string): string {
  return knownTypes.get(type.toLowerCase())?.noun ?? type.slice(type.lastIndexOf("/") + 1);
}

/** Is a body that was read of this kind? Its id tells; its shape was checked when it was read. */
export function isBodyOf<K extends Kind>(kind: K, body: unknown): body is Bodies[K] {
  const isObject = typeof body === "object" && body !== null;
  return isObject && "id" in body && typeof body.id === "string" && knownType(body.id)?.kind === kind;
}

/** Is what the step writes a Service's? Pools follow the nodes, whatever the Services ask for. */
export function isOwnedByService({ kind }: Pick<AzureStep, "kind">): boolean {
  return KINDS[kind].ownerOf !== undefined;
}

/** What a PUT of this body to this id sends; the body itself where it is none that we write. */
export function requestBodyOf(id: string, body: unknown): unknown {
  const kind = knownType(id)?.kind;
  return kind !== undefined && isBodyOf(kind, body) ? requestOf(kind, body) : body;
}

/** How the write of this body, or the deletion of what it was, changes public IPs; `undefined`: not at all. */
export function publicIPsAfter<K extends Kind>(kind: K, id: string, body: Bodies[K] | undefined) {
  return KINDS[kind].publicIPsAfter?.(id, body);
}

/** How long writes to this resource wait for others, as a share of what one takes. */
export function batchWindowShareOf(id: string): number {
  const kind = knownType(id)?.kind;
  return kind === undefined ? USUAL_WINDOW_SHARE : KINDS[kind].batchWindowShare;
}

function requestOf<K extends Kind>(kind: K, body: Bodies[K]): object {
  return KINDS[kind].requestBody(body);
}

function kindNames(): Kind[] {
  return Object.keys(KINDS).filter((name): name is Kind => name in KINDS);
}
