/** What is said about LBCF's objects, where their owners look: events on the object, and the log. */
import type { EventText } from "../../core/events/event-reasons.ts";
import type { Log } from "../../core/util/log.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { apiVersionOf, keyOf, type KubeObject, type Resource } from "../../kube/client/resources.ts";

export class LbcfEvents {
  readonly #recorder: EventRecorder;
  readonly #log: Log;

  constructor(recorder: EventRecorder, log: Log) {
    this.#recorder = recorder;
    this.#log = log;
  }

  tell(resource: Resource, object: KubeObject, telling: EventText | undefined): void {
    if (telling === undefined) return;
    const { namespace, name, uid } = object.metadata;
    const about = { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid };
    this.#recorder.record({ about, ...telling });
    if (telling.type === "Normal") return;
    this.#log.warn(`${telling.reason}: ${telling.message}`, { [resource.kind]: keyOf(object) });
  }

  /** For what went wrong on our side: the object's owner can do nothing about it. */
  failed(resource: Resource, key: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#log.info(`will try again: ${text}`, { [resource.kind]: key });
  }
}
