/**
 * The durable member list: which entries of a load balancer's pools we put there. One ConfigMap per load balancer,
 * written before the pool is, so that an entry whose node vanished while we were away is known to be ours, and a
 * person's server is known not to be.
 *
 * Names only grow before a write and shrink after one; a name too many does no harm, a name too few would leave an
 * entry behind for ever.
 */
import { CONFIG_MAPS, type KubeObject } from "../kube/resources.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { isFailure } from "../kube/kube-failure.ts";

export const MEMBER_LIST_NAMESPACE = "kube-system";
const LABEL_KEY = "azlb.io/member-list";
export const MEMBER_LIST_LABEL = `${LABEL_KEY}=true`;

export interface MemberList extends KubeObject {
  /** Lower-case id of the load balancer. */
  readonly loadBalancerId: string;
  readonly members: readonly string[];
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export function projectMemberList(object: KubeObject): MemberList {
  const { data = {} } = object as ConfigMap;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    metadata: { name, uid, resourceVersion, ...(namespace !== undefined && { namespace }) },
    loadBalancerId: data["loadBalancer"] ?? "",
    members: (data["members"] ?? "").split("\n").filter((member) => member !== ""),
  };
}

/** ConfigMap names allow lower case, digits, dots and dashes; a load balancer's allows more. */
export function memberListName(loadBalancerId: string): string {
  const name = loadBalancerId.slice(loadBalancerId.lastIndexOf("/") + 1);
  const safe = name.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
  return `azlb-members-${safe}`;
}

/**
 * Makes the stored list hold at least `members`. Resolves once that is durable; throws where it isn't, and then
 * the pool must not be written.
 */
export async function writeMemberList(
  client: KubeClient,
  loadBalancerId: string,
  members: readonly string[],
): Promise<void> {
  const place = { namespace: MEMBER_LIST_NAMESPACE, name: memberListName(loadBalancerId) };
  const data = { loadBalancer: loadBalancerId.toLowerCase(), members: members.toSorted().join("\n") };
  try {
    await client.patch(CONFIG_MAPS, place, { merge: { data } });
  } catch (error) {
    if (!isFailure(error, "notFound")) throw error;
    const list = { metadata: { ...place, labels: { [LABEL_KEY]: "true" } }, data };
    await client.create(CONFIG_MAPS, list);
  }
}
