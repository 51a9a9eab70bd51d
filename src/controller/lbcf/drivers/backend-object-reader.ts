/** Reads the full objects that webhooks are sent, at the time of the call: the caches keep only selected fields. */
import { backendState } from "../../../core/lbcf/records/backend-state.ts";
import type { BackendRecord, Pod } from "../../../core/lbcf/objects/objects.ts";
import { listOf, objectOf } from "../../../core/lbcf/objects/read-json.ts";
import { readPod } from "../../../core/lbcf/pods/read-pod.ts";
import type { BackendObject } from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { unlessGone } from "../../../kube/client/kube-failure.ts";
import { NODES, PODS, SERVICES, type KubeObject, type Place, type Resource } from "../../../kube/client/resources.ts";
import type { WebhookDriverOptions } from "./webhook-driver.ts";

export class BackendObjectReader {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  driverOptions(): Pick<WebhookDriverOptions, "backendObjectOf" | "fullPods"> {
    return {
      backendObjectOf: (record, source) => this.#backendObjectOf(record, source),
      fullPods: (pods) => this.#fullPods(pods),
    };
  }

  async #backendObjectOf(record: BackendRecord, source: string): Promise<BackendObject | undefined> {
    const { backend } = record.spec;
    const { namespace } = record.metadata;
    if (backend.kind === "Pod") {
      const pod = await this.#read(PODS, { namespace, name: backend.name });
      return pod !== undefined && isStill(record, pod, source) ? { kind: "Pod", pod } : undefined;
    }
    if (backend.kind === "Static") return undefined;
    const [service, node] = await Promise.all([
      this.#read(SERVICES, { namespace, name: backend.name }),
      this.#read(NODES, { name: backend.nodeName }),
    ]);
    if (service === undefined || node === undefined) return undefined;
    const status = objectOf((node as KubeObject & { status?: unknown }).status);
    return { kind: "Service", service, nodeAddresses: listOf(status["addresses"]).map(objectOf) };
  }

  /** Pods that no longer exist are left out. */
  async #fullPods(pods: readonly Pod[]): Promise<readonly object[]> {
    const read = await Promise.all(
      pods.map(({ metadata: { namespace, name } }) => this.#read(PODS, { namespace, name })),
    );
    return read.filter((pod) => pod !== undefined);
  }

  #read(resource: Resource, place: Place): Promise<KubeObject | undefined> {
    return unlessGone(() => this.#client.get<KubeObject>(resource, place));
  }
}

/** The pod may have changed since the cache saw it: an address is generated only from its current state. */
function isStill(record: BackendRecord, pod: KubeObject, source: string): boolean {
  const state = backendState(record, { pod: readPod(pod), node: undefined });
  return state.kind === "present" && state.source === source;
}
