/**
 * Which namespace may use a pool or a frontend that LoadBalancers of several namespaces name. The pool's entries and the
 * frontend's rules decide where traffic goes, so one namespace must not write into those of another.
 *
 *   claim                                                       | comes
 *   ------------------------------------------------------------|-------------------------------------
 *   the name is derived from the object itself                  | first
 *   the object uses it already, by its status                   | before those that only ask for it
 *   otherwise                                                   | older before younger, then by uid
 *
 * Objects of one namespace share. A frontend with the name of a Service's is the Service's. The objects' stored state is
 * all that counts, so the answer is the same after a restart.
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { nameOfId } from "../../model/ids.ts";
import { isServiceBase } from "../../model/names.ts";
import { findCondition } from "../objects/conditions.ts";
import type { LoadBalancer, StringMap } from "../objects/objects.ts";
import { azureLoadBalancerId, ownFrontendName } from "./azure-parts.ts";
import { parseAzureAttributes, parseAzureSpec } from "./azure-spec.ts";

/** One name that an object claims, as the user wrote it. */
interface ClaimedName {
  readonly name: string;
  /** Derived from the object: no other object may have it. */
  readonly isOwn: boolean;
  readonly isInUse: boolean;
}

/** What one LoadBalancer asks for, or has, in one Azure load balancer. */
export interface AzureClaim {
  readonly namespace: string;
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
  const frontend = claimedFrontend(lb.spec.attributes, key, config);
  const syncedFrontend = synced && claimedFrontend(synced, key, config);
  const isSynced = frontend !== undefined && isSameName(syncedFrontend?.name, frontend.name);
  return {
    namespace: metadata.namespace,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp ?? "",
    loadBalancerId: azureLoadBalancerId(config, target).toLowerCase(),
    pool: {
      name: target.pool,
      isOwn: target.isOwnPool,
      isInUse: findCondition(status.conditions, "Created") !== undefined,
    },
    frontend: frontend && { ...frontend, isInUse: isSynced },
    syncedFrontend: syncedFrontend && { ...syncedFrontend, isInUse: true },
  };
}

function claimedFrontend(attributes: StringMap, key: string, config: ClusterConfig): ClaimedName | undefined {
  const parsed = parseAzureAttributes(attributes);
  if ("mistake" in parsed || parsed.frontend === undefined) return undefined;
  const { frontend } = parsed;
  return frontend.kind === "named"
    ? { name: frontend.name, isOwn: false, isInUse: false }
    : { name: ownFrontendName(key, config, frontend.kind), isOwn: true, isInUse: false };
}

/** Why the LoadBalancer may not have what it asks for; `undefined` when it may. `all`: every claim, its own included. */
export function claimConflict(claim: AzureClaim, all: readonly AzureClaim[]): string | undefined {
  const { namespace, loadBalancerId, pool, frontend } = claim;
  const where = `of load balancer "${nameOfId(loadBalancerId)}" is used by namespace`;
  const poolHolder = holderOf(all, loadBalancerId, pool.name, poolsOf);
  if (poolHolder !== undefined && poolHolder !== namespace) {
    return `lbSpec.pool "${pool.name}" ${where} "${poolHolder}": choose another pool, or leave it out`;
  }
  if (frontend === undefined || frontend.isOwn) return undefined;
  const fix = "use public, internal, or a frontend that is yours";
  if (isServiceBase(frontend.name.split("-")[0]?.toLowerCase() ?? "")) {
    return `attributes.frontend "${frontend.name}" belongs to a Service: ${fix}`;
  }
  const holder = holderOf(all, loadBalancerId, frontend.name, frontendsOf);
  if (holder === undefined || holder === namespace) return undefined;
  return `attributes.frontend "${frontend.name}" ${where} "${holder}": ${fix}`;
}

/** What a claim holds, as strings that are equal for the same pool or frontend. */
export function claimedNames({ loadBalancerId, pool, frontend, syncedFrontend }: AzureClaim): readonly string[] {
  const frontends = [frontend, syncedFrontend].flatMap((each) => each?.name ?? []);
  return [`pool ${pool.name}`, ...frontends.map((name) => `frontend ${name}`)].map((each) =>
    `${loadBalancerId} ${each}`.toLowerCase(),
  );
}

/** The namespace that may write entries of the pool; `undefined` when no LoadBalancer names it. */
export function poolHolder(poolId: string, all: readonly AzureClaim[]): string | undefined {
  const [loadBalancerId = "", pool = ""] = poolId.toLowerCase().split("/backendaddresspools/");
  return holderOf(all, loadBalancerId, pool, poolsOf);
}

function poolsOf({ pool }: AzureClaim): readonly ClaimedName[] {
  return [pool];
}

function frontendsOf({ frontend, syncedFrontend }: AzureClaim): readonly ClaimedName[] {
  return [syncedFrontend, frontend].filter((each) => each !== undefined);
}

/** The namespace of the first claim of that name. */
function holderOf(
  all: readonly AzureClaim[],
  loadBalancerId: string,
  name: string,
  namesOf: (claim: AzureClaim) => readonly ClaimedName[],
): string | undefined {
  const claims = all
    .filter((claim) => claim.loadBalancerId === loadBalancerId)
    .flatMap((claim) => namesOf(claim).map((claimed) => ({ claim, claimed })))
    .filter(({ claimed }) => isSameName(claimed.name, name));
  const [first] = claims.sort((one, other) => (precedes(one, other) ? -1 : 1));
  return first?.claim.namespace;
}

interface Claimed {
  readonly claim: AzureClaim;
  readonly claimed: ClaimedName;
}

function precedes(one: Claimed, other: Claimed): boolean {
  if (one.claimed.isOwn !== other.claimed.isOwn) return one.claimed.isOwn;
  if (one.claimed.isInUse !== other.claimed.isInUse) return one.claimed.isInUse;
  if (one.claim.createdAt !== other.claim.createdAt) return one.claim.createdAt < other.claim.createdAt;
  return one.claim.uid < other.claim.uid;
}

function isSameName(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}
