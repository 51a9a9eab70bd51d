/**
 * Which namespace may use a pool or a frontend that LoadBalancers of several namespaces name. The pool's entries and the
 * frontend's rules decide where traffic goes, so one namespace must not write into those of another.
 *
 *   claim                                                       | comes
 *   ------------------------------------------------------------|-------------------------------------
 *   the name is derived from the object itself                  | first
 *   the object has it, by its status                            | next
 *   the object has it because a holder shared it                | after the holder, also when that shares no longer
 *   the object has begun to use it                              | before those that only ask for it
 *   several of one row                                          | older before younger, then by uid
 *
 * Objects of one namespace share, and so do those of another that the holder's annotation `lbcf.tkestack.io/share-with` names. A
 * frontend with the name of a Service's is the Service's, which shares it by `azlb.io/share-address-with`. The objects'
 * stored state is all that counts, so the answer is the same after a restart.
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { nameOfId } from "../../model/ids.ts";
import { baseOf, isServiceBase } from "../../model/names.ts";
import { admits } from "../../util/consent.ts";
import { findCondition } from "../objects/conditions.ts";
import { ANNOTATION } from "../objects/names.ts";
import type { LoadBalancer, StringMap } from "../objects/objects.ts";
import { azureLoadBalancerId, ownFrontendName } from "./azure-parts.ts";
import { parseAzureAttributes, parseAzureSpec } from "./azure-spec.ts";

/** The rows of the table above, in their order. */
const STRENGTHS = ["own", "held", "shared", "begun", "asked"] as const;
type Strength = (typeof STRENGTHS)[number];

/** One name that an object claims, as the user wrote it. */
interface ClaimedName {
  readonly name: string;
  readonly strength: Strength;
}

/** In lbInfo: the object, as `namespace/name`, that shared what this one was created with. */
const SHARED_BY = "sharedBy";

/** What one LoadBalancer asks for, or has, in one Azure load balancer. */
export interface AzureClaim {
  readonly namespace: string;
  /** The object's, within its namespace. */
  readonly name: string;
  /** Other namespaces that may use what this object holds. */
  readonly sharesWith: readonly string[];
  readonly uid: string;
  readonly createdAt: string;
  /** In lower case. */
  readonly loadBalancerId: string;
  readonly pool: ClaimedName;
  /** The one that it asks for, if any. */
  readonly frontend: ClaimedName | undefined;
  /** The one that it was last synced with; not yet released where it asks for another. */
  readonly syncedFrontend: ClaimedName | undefined;
}

/** `undefined` when its lbSpec is invalid: it names no pool. `key`: as `azure-spec.ts` has it. */
export function azureClaim(lb: LoadBalancer, key: string, config: ClusterConfig): AzureClaim | undefined {
  const target = parseAzureSpec(lb.spec.lbSpec, key, config);
  if ("mistake" in target) return undefined;
  const { metadata, status } = lb;
  const synced = status.lastSyncedAttributes;
  const had = status.lbInfo?.[SHARED_BY] === undefined ? "held" : "shared";
  const begun = findCondition(status.conditions, "Created") === undefined ? "asked" : "begun";
  const syncedFrontend = synced && claimedFrontend(synced, key, config, had);
  const frontend = claimedFrontend(lb.spec.attributes, key, config, "asked");
  const isSynced = frontend !== undefined && isSameName(syncedFrontend?.name, frontend.name);
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    sharesWith: namespacesIn(metadata.annotations?.[ANNOTATION.shareWith]),
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp ?? "",
    loadBalancerId: azureLoadBalancerId(config, target).toLowerCase(),
    pool: { name: target.pool, strength: target.isOwnPool ? "own" : status.lbInfo === undefined ? begun : had },
    frontend: isSynced ? syncedFrontend : frontend,
    syncedFrontend,
  };
}

function claimedFrontend(
  attributes: StringMap,
  key: string,
  config: ClusterConfig,
  strength: Strength,
): ClaimedName | undefined {
  const parsed = parseAzureAttributes(attributes);
  if ("mistake" in parsed || parsed.frontend === undefined) return undefined;
  const { frontend } = parsed;
  return frontend.kind === "named"
    ? { name: frontend.name, strength }
    : { name: ownFrontendName(key, config, frontend.kind), strength: "own" };
}

/** A Service as the owner of a frontend. */
export interface OwningService {
  /** `namespace/name`. */
  readonly key: string;
  readonly sharesWith: readonly string[];
  /** The annotation that says so. */
  readonly annotation: string;
}

/** The Service whose names have that base, as `baseOf` spells it. */
export type ServiceByBase = (base: string) => OwningService | undefined;

/** Why the LoadBalancer may not have what it asks for; `undefined` when it may. `all`: every claim, its own included. */
export function claimConflict(
  claim: AzureClaim,
  all: readonly AzureClaim[],
  serviceOf: ServiceByBase,
): string | undefined {
  const { namespace, loadBalancerId, pool, frontend } = claim;
  const where = `of load balancer "${nameOfId(loadBalancerId)}" is used by`;
  const poolsHolder = holderOf(all, loadBalancerId, pool.name, poolsOf);
  if (poolsHolder !== undefined && !mayUse(poolsHolder, namespace)) {
    const fix = `choose another pool, leave it out${consentText(poolsHolder, namespace)}`;
    return `lbSpec.pool "${pool.name}" ${where} namespace "${poolsHolder.namespace}": ${fix}`;
  }
  if (frontend === undefined || frontend.strength === "own") return undefined;
  const base = baseOf(frontend.name);
  if (isServiceBase(base)) return serviceConflict(frontend.name, namespace, serviceOf(base));
  const holder = holderOf(all, loadBalancerId, frontend.name, frontendsOf);
  if (holder === undefined || mayUse(holder, namespace)) return undefined;
  const fix = `${OTHER_FRONTEND}${consentText(holder, namespace)}`;
  return `attributes.frontend "${frontend.name}" ${where} namespace "${holder.namespace}": ${fix}`;
}

const OTHER_FRONTEND = "use public, internal, a frontend that is yours";

/** Ports that the Service has are refused when they are merged, whatever other owners consent to. */
function serviceConflict(frontend: string, namespace: string, service: OwningService | undefined): string | undefined {
  if (service === undefined) return `attributes.frontend "${frontend}" belongs to a Service: ${OTHER_FRONTEND}`;
  if (admits(service.sharesWith, namespace)) return undefined;
  const consent = `, or add "${namespace}" to annotation ${service.annotation} of that Service`;
  return `attributes.frontend "${frontend}" belongs to Service ${service.key}: ${OTHER_FRONTEND}${consent}`;
}

/** What lbInfo says when another namespace shares the pool or the frontend that the LoadBalancer is created with. */
export function sharedBy(
  { namespace, loadBalancerId, pool, frontend }: AzureClaim,
  all: readonly AzureClaim[],
): StringMap {
  const holders = [
    holderOf(all, loadBalancerId, pool.name, poolsOf),
    frontend && holderOf(all, loadBalancerId, frontend.name, frontendsOf),
  ];
  const holder = holders.find((each) => each !== undefined && each.namespace !== namespace);
  return holder === undefined ? {} : { [SHARED_BY]: `${holder.namespace}/${holder.name}` };
}

/** The namespace that has a pool or a frontend, and those that it shares it with. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly sharesWith: readonly string[];
}

export function mayUse(holder: Holder, namespace: string): boolean {
  return holder.namespace === namespace || admits(holder.sharesWith, namespace);
}

export function consentText({ name }: Holder, namespace: string): string {
  return `, or add "${namespace}" to annotation ${ANNOTATION.shareWith} of "${name}" there`;
}

function namespacesIn(annotation: string | undefined): readonly string[] {
  return (annotation ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** What a claim holds, as strings that are equal for the same pool or frontend. */
export function claimedNames({ loadBalancerId, pool, frontend, syncedFrontend }: AzureClaim): readonly string[] {
  const frontends = [frontend, syncedFrontend].flatMap((each) => each?.name ?? []);
  return [`pool ${pool.name}`, ...frontends.map((name) => `frontend ${name}`)].map((each) =>
    `${loadBalancerId} ${each}`.toLowerCase(),
  );
}

/** Who may write entries of the pool; `undefined` when no LoadBalancer names it. */
export function poolHolder(poolId: string, all: readonly AzureClaim[]): Holder | undefined {
  const [loadBalancerId = "", pool = ""] = poolId.toLowerCase().split("/backendaddresspools/");
  return holderOf(all, loadBalancerId, pool, poolsOf);
}

function poolsOf({ pool }: AzureClaim): readonly ClaimedName[] {
  return [pool];
}

function frontendsOf({ frontend, syncedFrontend }: AzureClaim): readonly ClaimedName[] {
  return [syncedFrontend, frontend].filter((each) => each !== undefined);
}

/** The first claim of that name; all claims of its namespace may let others in. */
function holderOf(
  all: readonly AzureClaim[],
  loadBalancerId: string,
  name: string,
  namesOf: (claim: AzureClaim) => readonly ClaimedName[],
): Holder | undefined {
  const claims = all
    .filter((claim) => claim.loadBalancerId === loadBalancerId)
    .flatMap((claim) => namesOf(claim).map((claimed) => ({ claim, claimed })))
    .filter(({ claimed }) => isSameName(claimed.name, name));
  const [first] = claims.sort((one, other) => (precedes(one, other) ? -1 : 1));
  if (first === undefined) return undefined;
  const { namespace, name: object } = first.claim;
  const own = claims.filter(({ claim }) => claim.namespace === namespace);
  return { namespace, name: object, sharesWith: own.flatMap(({ claim }) => claim.sharesWith) };
}

interface Claimed {
  readonly claim: AzureClaim;
  readonly claimed: ClaimedName;
}

function precedes(one: Claimed, other: Claimed): boolean {
  const [row, otherRow] = [one, other].map(({ claimed }) => STRENGTHS.indexOf(claimed.strength)) as [number, number];
  if (row !== otherRow) return row < otherRow;
  if (one.claim.createdAt !== other.claim.createdAt) return one.claim.createdAt < other.claim.createdAt;
  return one.claim.uid < other.claim.uid;
}

function isSameName(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}
