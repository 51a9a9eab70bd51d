/**
 * Whether a record refers to a pool that `lbcf-azure` may write. The controller writes records, but users with the right
 * may edit them: an edited record must not direct writes to another resource, nor to the pool of the cluster's Services.
 */
import { parseAddress } from "../../util/cidr.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { nameOfId } from "../../model/ids.ts";
import { namespaceOfKey } from "../../model/kubernetes.ts";
import { ANNOTATION } from "../objects/names.ts";
import type { BackendRecord } from "../objects/objects.ts";
import { referencedKey } from "../objects/references.ts";
import { specialBlock } from "../objects/special-addresses.ts";
import { consentText, type Holder, mayUse } from "./azure-claims.ts";
import { isClusterPool } from "./azure-spec.ts";
import { staticRefusal, type StaticAddresses } from "./static-addresses.ts";

const SEGMENT = "[\\w()-][\\w().-]*"; // never `..`
const POOL_ID = new RegExp(
  `^/subscriptions/${SEGMENT}/resourceGroups/${SEGMENT}` +
    `/providers/Microsoft\\.Network/loadBalancers/${SEGMENT}/backendAddressPools/${SEGMENT}$`,
  "i",
);

export function poolOf({ spec: { lbInfo } }: BackendRecord): string {
  return lbInfo["pool"] ?? "";
}

/** Why the record may not enter its pool, given who has that. */
export function poolConflict(record: BackendRecord, holder: Holder | undefined): string | undefined {
  const { owner, namespace } = record.metadata;
  const pool = `lbInfo.pool "${poolOf(record)}"`;
  if (holder === undefined) return `${pool} is named by no LoadBalancer: delete the record`;
  const key = owner?.kind === "Bind" ? `${namespace}/` : referencedKey(record.spec.lbName, namespace);
  const user = namespaceOfKey(key);
  if (mayUse(holder, user)) return undefined;
  const fix = `delete the record, choose another pool${consentText(holder, user)}`;
  return `${pool} is used by namespace "${holder.namespace}": ${fix}`;
}

/** Why the address may not enter a pool; one that is in it may always leave. */
export function addressMistake(record: BackendRecord, allowed: StaticAddresses): string | undefined {
  const { metadata, spec, status } = record;
  const address = parseAddress(status.backendAddr);
  const special = address && specialBlock(address);
  if (special) return `${status.backendAddr} is ${special.what}, which is no backend: remove it from static`;
  if (spec.backend.kind !== "Static" || address === undefined) return undefined;
  return staticRefusal(allowed, metadata.namespace, address);
}

/** What is wrong, in one sentence; `undefined` when nothing is. */
export function recordMistake(record: BackendRecord, config: ClusterConfig): string | undefined {
  const pool = poolOf(record);
  const { backendAddr } = record.status;
  const wayOut = `delete the record, with annotation ${ANNOTATION.forget}: "true"`;
  if (!POOL_ID.test(pool) || isClusterPool(nameOfId(pool), config)) {
    return `lbInfo.pool "${pool.slice(0, 200)}" is no pool that lbcf-azure writes: ${wayOut}`;
  }
  if (parseAddress(backendAddr) === undefined) {
    return `backendAddr "${backendAddr.slice(0, 200)}" is no IP address: ${wayOut}`;
  }
  return undefined;
}
