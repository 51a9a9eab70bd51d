/**
 * How large a request is that writes a load balancer whole. Azure refuses requests above a size, so a fleet fills a load
 * balancer only as far as it can still be written. What stands in it is measured; what is yet to come is reckoned with
 * more than it needs, since names and ids differ in length.
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import type { Node } from "../../model/kubernetes.ts";
import { memo } from "../../util/memo.ts";
import { requestBody } from "../request-body.ts";
import { countMembers, type Usage } from "./limits.ts";
import { LOAD_BALANCER_OMITS } from "./omitted-fields.ts";

const FRONTEND_BYTES = 1_024;
/** With its probe. */
const RULE_BYTES = 2_560;
/** A member of a pool; nodes may have an address of each family. */
const MEMBER_BYTES = 2 * 512;

const measured = memo((seen: LoadBalancer) => JSON.stringify(requestBody(seen, LOAD_BALANCER_OMITS)).length);

/** With the nodes that may be in its pools and are not yet; `undefined`: it is yet to be made. */
export function requestBytesOf(config: ClusterConfig, nodes: readonly Node[], seen: LoadBalancer | undefined): number {
  const pools = seen?.properties.backendAddressPools ?? [];
  const present = Math.max(0, ...pools.map(({ properties }) => (properties.loadBalancerBackendAddresses ?? []).length));
  const coming = Math.max(0, countMembers(config, nodes) - present);
  return (seen === undefined ? 0 : measured(seen)) + coming * MEMBER_BYTES;
}

/** That a Service adds. */
export function requestBytesFor({ frontends, rules }: Usage): number {
  return frontends * FRONTEND_BYTES + rules * RULE_BYTES;
}
