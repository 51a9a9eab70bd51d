/**
 * The durable member list: which entries of a load balancer's pools the controller put there. One ConfigMap per load
 * balancer, written before the pool is, so that an entry whose node vanished while no controller ran is known to be the
 * controller's, and a person's server is known not to be.
 *
 * Names are added before a pool is written, or once a node is seen whose machine Azure may have created in the pool, and
 * those that stand in no pool are removed after it is written. A name too many does
 * little harm (until the next write of the pool, a person's server of that name would pass for a node's); a name too few
 * would leave an entry behind for ever.
 */
import type { LoadBalancer } from "../../core/model/arm.ts";
import type { BackendPoolFragment } from "../../core/resources/backend-pool/fragment.ts";
import { CONFIG_MAPS, type KubeObject } from "../../kube/client/resources.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import type { WriteThroughStore } from "../../kube/cache/store.ts";

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
    members: membersOf(data["members"] ?? ""),
  };
}

function membersOf(lines: string): readonly string[] {
  const members = lines.split("\n");
  return members.includes("") ? members.filter((member) => member !== "") : members;
}

/** ConfigMap names allow lower case, digits, dots and dashes; a load balancer's allows more. */
function memberListName(loadBalancerId: string): string {
  const name = loadBalancerId.slice(loadBalancerId.lastIndexOf("/") + 1);
  const safe = name.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
  return `azlb-members-${safe}`;
}

interface MembershipStep {
  /** The pool's. */
  readonly id: string;
  readonly fragment: BackendPoolFragment;
}

/** Records, before a pool is written, which entries it will hold. */
export class MemberLists {
  readonly #client: KubeClient;
  readonly #lists: Pick<WriteThroughStore<MemberList>, "get" | "wrote">;
  /** One write at a time per list: each holds what the one before stored. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(client: KubeClient, lists: Pick<WriteThroughStore<MemberList>, "get" | "wrote">) {
    this.#client = client;
    this.#lists = lists;
  }

  /** Resolves once the list holds every name that the pool will; throws where it doesn't: then the pool must wait. */
  remember({ id, fragment }: MembershipStep): Promise<void> {
    return this.rememberNames(
      id,
      fragment.members.map((member) => member.name),
    );
  }

  /** The same for a pool whose members join by writes of their own: network interfaces. */
  rememberNames(poolId: string, names: readonly string[]): Promise<void> {
    return this.#change(poolId, (known) =>
      names.every((name) => known.has(name)) ? known : known.union(new Set(names)),
    );
  }

  /**
   * The pool was written: names that stand in no pool of its load balancer any more are forgotten, so that a person's
   * server of such a name is a person's. A failure only leaves names too many.
   */
  async settle({ id, fragment }: MembershipStep, loadBalancer: LoadBalancer): Promise<void> {
    const pools = loadBalancer.properties.backendAddressPools ?? [];
    const entries = pools.flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? []);
    const present = new Set([...entries, ...fragment.members].map(({ name }) => name));
    await this.#change(id, (known) => (known.isSubsetOf(present) ? known : known.intersection(present))).catch(
      () => {},
    );
  }

  #change(poolId: string, change: (known: ReadonlySet<string>) => ReadonlySet<string>): Promise<void> {
    const loadBalancerId = poolId.slice(0, poolId.search(/\/backendAddressPools\//i)).toLowerCase();
    const name = memberListName(loadBalancerId);
    const turn = (this.#writing.get(name) ?? Promise.resolve())
      .catch(() => {})
      .then(async () => {
        const known = new Set(this.#lists.get(`${MEMBER_LIST_NAMESPACE}/${name}`)?.members);
        const names = change(known);
        if (names !== known) this.#lists.wrote(projectMemberList(await this.#write(name, loadBalancerId, names)));
      });
    this.#writing.set(name, turn);
    return turn;
  }

  async #write(name: string, loadBalancerId: string, names: ReadonlySet<string>): Promise<KubeObject> {
    const place = { namespace: MEMBER_LIST_NAMESPACE, name };
    const data = { loadBalancer: loadBalancerId, members: [...names].sort().join("\n") };
    try {
      return await this.#client.patch<KubeObject>(CONFIG_MAPS, place, { merge: { data } });
    } catch (error) {
      if (!isFailure(error, "notFound")) throw error;
      const list = { metadata: { ...place, labels: { [LABEL_KEY]: "true" } }, data };
      return this.#client.create<KubeObject>(CONFIG_MAPS, list);
    }
  }
}
