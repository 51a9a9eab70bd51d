/**
 * Kubernetes as the simulation has it: the embedded API's state machine, asked without sockets. Verbs for the people in
 * a history are short; what they are refused is their own affair.
 */
import { seedCluster, type ClusterNode } from "../../sandbox/kubernetes/seed.ts";
import type { ApiRequest, KubeObject, Reply } from "../../sandbox/kubernetes/model/contract.ts";
import { EmbeddedApi } from "../../sandbox/kubernetes/model/embedded-api.ts";
import { sandboxRanges } from "../../sandbox/kubernetes/model/service-ranges.ts";
import type { Chance } from "./random.ts";
import type { Timeline } from "./timeline.ts";

export const NAMESPACES = ["default", "apps"] as const;

export class ClusterSide {
  readonly api: EmbeddedApi;

  constructor(timeline: Timeline, chance: Chance, nodes: readonly ClusterNode[]) {
    this.api = new EmbeddedApi({
      clock: { nowMs: () => timeline.nowMs },
      draws: { uuid: () => chance.uuid(), integer: (below) => chance.below(below) },
      ranges: sandboxRanges(true),
      version: { major: "1", minor: "34", gitVersion: "v1.34.0" },
    });
    seedCluster(this.api, nodes);
    this.send("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACES[1] } });
  }

  /** `undefined` where it was refused. */
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
