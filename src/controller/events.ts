/**
 * Events on Kubernetes objects, with the same text in the log: the one emitter of Services, Nodes and LBCF's objects.
 * Decides what a retry does not repeat. Which text an object gets is its subject's to say (`service-events.ts`,
 * `admin-state-events.ts`, the core's statuses of LBCF); how often a text is written to the API server, `kube/events`'.
 */
import type { EventText } from "../core/events/event-reasons.ts";
import type { Log } from "../core/util/log.ts";
import { apiVersionOf, type Resource } from "../kube/client/resources.ts";
import type { EventRecorder } from "../kube/events/event-recorder.ts";

/** What an event names of its object. */
export interface EventObject {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly uid: string };
}

/** Which texts stand in the log too. */
export type Logged = "all" | "warnings" | "none";

export class Events {
  readonly #recorder: Pick<EventRecorder, "record">;
  readonly #log: Log;
  /** By UID: what `emitOnce` has emitted since the object was last settled. */
  readonly #emitted = new Map<string, Set<string>>();

  constructor(recorder: Pick<EventRecorder, "record">, log: Log) {
    this.#recorder = recorder;
    this.#log = log;
  }

  /** Nothing where `text` is undefined. */
  emit(resource: Resource, object: EventObject, text: EventText | undefined, logged: Logged = "warnings"): void {
    if (text !== undefined) this.#emit(resource, object, text, logged);
  }

  #emit(resource: Resource, object: EventObject, text: EventText, logged: Logged, onMissed?: () => void): void {
    const { namespace, name, uid } = object.metadata;
    const about = { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid };
    this.#recorder.record({ about, ...text }, onMissed);
    if (logged === "none" || (logged === "warnings" && text.type === "Normal")) return;
    const level = text.type === "Warning" ? "warn" : "info";
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    this.#log[level](`${text.reason}: ${text.message}`, fields(resource, key));
  }

  /**
   * Nothing where it was emitted since the object was last settled, unless the API server could not store it then. `id`:
   * what makes two texts the same.
   */
  emitOnce(resource: Resource, object: EventObject, text: EventText, id = idOf(text)): void {
    const { uid } = object.metadata;
    const emitted = this.#emitted.get(uid) ?? new Set();
    if (emitted.has(id)) return;
    this.#emitted.set(uid, emitted.add(id));
    this.#emit(resource, object, text, "all", () => this.#emitted.get(uid)?.delete(id));
  }

  /** All but these texts may be emitted again: what is right now is news when it goes wrong again. */
  settle({ metadata: { uid } }: EventObject, lasting: readonly EventText[] = []): void {
    const ids = new Set(lasting.map(idOf)).intersection(this.#emitted.get(uid) ?? new Set());
    if (ids.size === 0) this.#emitted.delete(uid);
    else this.#emitted.set(uid, ids);
  }

  /** For the log alone: the object's owner can do nothing about it, and it is tried again. */
  logRetry(resource: Resource, key: string, why: string): void {
    this.#log.info(`will try again: ${why}`, fields(resource, key));
  }
}

function idOf({ reason, message }: EventText): string {
  return `${reason} ${message}`;
}

/** `{ service: "default/web" }` */
function fields({ kind }: Resource, key: string): Record<string, string> {
  return { [kind.charAt(0).toLowerCase() + kind.slice(1)]: key };
}
