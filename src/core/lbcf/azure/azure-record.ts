/**
 * Whether a record refers to a pool that `lbcf-azure` may write. The controller writes records, but users with the right
 * may edit them: an edited record must not direct writes to another resource, nor to the pool of the cluster's Services.
 */
import { parseAddress } from "../../util/cidr.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { nameOfId } from "../../model/ids.ts";
import { ANNOTATION } from "../objects/names.ts";
import type { BackendRecord } from "../objects/objects.ts";
import { referencedKey } from "../objects/references.ts";
import { specialBlock } from "../objects/special-addresses.ts";
import { isClusterPool } from "./azure-spec.ts";

const SEGMENT = "[\\w()-][\\w().-]*"; // never `..`
const POOL_ID = new RegExp(
  `^/subscriptions/${SEGMENT}/resourceGroups/${SEGMENT}` +
    `/providers/Microsoft\\.Network/loadBalancers/${SEGMENT}/backendAddressPools/${SEGMENT}$`,
  "i",
);

export function poolOf({ spec: { lbInfo } }: BackendRecord): string {
  return lbInfo["pool"] ?? "";
}

/** Why the record may not enter its pool, given the namespace that the pool belongs to. */
export function poolConflict(record: BackendRecord, holder: string | undefined): string | undefined {
  const { owner, namespace } = record.metadata;
  const key = owner?.kind === "Bind" ? `${namespace}/` : referencedKey(record.spec.lbName, namespace);
  if (holder === undefined || key.startsWith(`${holder}/`)) return undefined;
  return `lbInfo.pool "${poolOf(record)}" is used by namespace "${holder}": delete the record, and choose another pool`;
}

/** Why the address may not enter a pool; one that is in it may always leave. */
export function addressMistake({ status: { backendAddr } }: BackendRecord): string | undefined {
  const address = parseAddress(backendAddr);
  const special = address && specialBlock(address);
  return special && `${backendAddr} is ${special.what}, which is no backend: remove it from static`;
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
