/** The pods, nodes and Service that a group depends on, from the caches or, to confirm, from the API server. */
import type { Cluster } from "../../../core/lbcf/groups/candidates.ts";
import type { BackendGroup, Pod } from "../../../core/lbcf/objects/objects.ts";
import { readPod } from "../../../core/lbcf/pods/read-pod.ts";
import type { Node, Service } from "../../../core/model/kubernetes.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { unlessGone } from "../../../kube/client/kube-failure.ts";
import { NODES, PODS, SERVICES, type KubeObject } from "../../../kube/client/resources.ts";
import type { ReadonlyStore } from "../../../kube/cache/store.ts";
import { projectNode, projectService } from "../../projections.ts";
import type { LbcfCache } from "../objects/lbcf-cache.ts";

export interface GroupClusterOptions {
  readonly cache: LbcfCache;
  readonly services: ReadonlyStore<Service>;
  readonly nodes: ReadonlyStore<Node>;
  readonly client: KubeClient;
}

export class GroupCluster {
  readonly #options: GroupClusterOptions;

  constructor(options: GroupClusterOptions) {
    this.#options = options;
  }

  known(group: BackendGroup): Cluster {
    const { cache, services, nodes } = this.#options;
    const { namespace } = group.metadata;
    const { backends } = group.spec;
    const podNamed = { get: (name: string) => cache.pods.store.get(`${namespace}/${name}`) };
    const isService = backends.kind === "Service";
    return {
      pods: backends.kind === "Pod" ? this.#pods(namespace, backends.select, podNamed) : [],
      podNamed,
      service: isService ? services.get(`${namespace}/${backends.service}`) : undefined,
      nodes: isService ? [...nodes.values()] : [],
    };
  }

  /** Reads everything that the group depends on from the API server; throws if any read fails. */
  async confirmed(group: BackendGroup): Promise<Cluster> {
    const { namespace } = group.metadata;
    const { backends } = group.spec;
    const isService = backends.kind === "Service";
    const [pods, service, nodes] = await Promise.all([
      backends.kind === "Pod" ? this.#list(PODS, namespace, readPod) : [],
      isService ? this.#service(namespace, backends.service) : undefined,
      isService ? this.#list(NODES, undefined, projectNode) : [],
    ]);
    return { pods, podNamed: new Map(pods.map((pod) => [pod.metadata.name, pod])), service, nodes };
  }

  #pods(
    namespace: string,
    select: Extract<BackendGroup["spec"]["backends"], { kind: "Pod" }>["select"],
    podNamed: Cluster["podNamed"],
  ): readonly Pod[] {
    if ("labels" in select) return this.#options.cache.podsWith(namespace, select.labels);
    return select.names.flatMap((name) => podNamed.get(name) ?? []);
  }

  async #list<T>(
    resource: typeof PODS,
    namespace: string | undefined,
    read: (object: KubeObject) => T,
  ): Promise<readonly T[]> {
    const { items } = await this.#options.client.list<KubeObject>(resource, { namespace });
    return items.map(read);
  }

  async #service(namespace: string, name: string): Promise<Service | undefined> {
    const { client } = this.#options;
    const found = await unlessGone(() => client.get<KubeObject>(SERVICES, { namespace, name }));
    return found && projectService(found);
  }
}
