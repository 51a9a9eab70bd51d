/**
 * Kubernetes in the simulation: the embedded API's state machine, called without sockets. Actions of users go through
 * `send`, which ignores refusals; the controllers' requests go through `request`.
 */
import { seedCluster, type ClusterNode } from "../../sandbox/kubernetes/seed.ts";
import type { ApiRequest, KubeObject, Reply } from "../../sandbox/kubernetes/model/contract.ts";
import type { KubeObject as StoredObject } from "../../src/kube/client/resources.ts";
import { EmbeddedApi } from "../../sandbox/kubernetes/model/embedded-api.ts";
import { sandboxRanges } from "../../sandbox/kubernetes/model/service-ranges.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";

/** The Lease of the leader election; other Leases are ordinary objects. */
export const ELECTION_LEASE = "azlb-controller";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const NAMESPACES = ["default", "apps"] as const;

export class SimulatedKubernetes {
  readonly api: EmbeddedApi;

  constructor(timeline: Timeline, random: Random, nodes: readonly ClusterNode[]) {
    this.api = new EmbeddedApi({
      clock: { nowMs: () => timeline.nowMs },
      draws: { uuid: () => random.uuid(), integer: (below) => random.below(below) },
      ranges: sandboxRanges(true),
      version: { major: "1", minor: "34", gitVersion: "v1.34.0" },
    });
    seedCluster(this.api, nodes);
    this.send("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACES[1] } });
    // as a former leader leaves it: a new Lease would keep each history waiting for one that never was
    const spec = { holderIdentity: "", leaseDurationSeconds: 1 };
    this.send("POST", LEASES, { metadata: { name: ELECTION_LEASE }, spec });
  }

  /** The object of the reply; `undefined` if the request was refused. */
  send(method: string, path: string, body?: unknown): KubeObject | undefined {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const reply = this.request({ method, path, query: {}, accept: "application/json", contentType, body });
    return reply.kind === "answer" && reply.status < 300 ? (reply.body as KubeObject) : undefined;
  }

  request(request: ApiRequest): Reply {
    return this.api.request(request);
  }

  /** The objects of a collection: `services`, `nodes`, `leases.coordination.k8s.io`. */
  objects(collection: string): readonly KubeObject[] {
    return [...(this.api.state.collections.get(collection)?.objects.values() ?? [])];
  }

  object(collection: string, key: string): KubeObject | undefined {
    return this.api.state.collections.get(collection)?.objects.get(key);
  }
}

/** The type that the controller's projections take: a stored object has a name, a UID and a resourceVersion. */
export function storedObject(object: KubeObject): StoredObject {
  if (!isStored(object)) throw new Error(`${object.kind} ${object.metadata.name} is not stored`);
  return object;
}

function isStored(object: KubeObject): object is KubeObject & StoredObject {
  const { name, uid, resourceVersion } = object.metadata;
  return name !== undefined && uid !== undefined && resourceVersion !== undefined;
}
