/**
 * The only writes to a Service: its finalizer, its status, and the mark of what is applied. Each is a patch of just
 * that, bound to the incarnation (uid) that was looked at, so a Service deleted and made anew is never touched by
 * what was decided for the old one.
 */
import { APPLIED_ANNOTATION } from "../../core/service/applied-state.ts";
import type { Ingress, Service } from "../../core/model/kubernetes.ts";
import type { ServiceStep } from "../../core/steps.ts";
import { CLASS_ANNOTATION, FINALIZER, type ClassFilter } from "../../core/intent/ownership.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import { SERVICES, type KubeObject } from "../../kube/client/resources.ts";

interface Place {
  readonly namespace: string;
  readonly name: string;
}

export class ServiceWriter {
  readonly #client: KubeClient;
  readonly #classFilter: ClassFilter;

  constructor(client: KubeClient, classFilter: ClassFilter) {
    this.#client = client;
    this.#classFilter = classFilter;
  }

  /** Resolves with the Service as the server has it now, or `undefined` when it is gone. */
  async apply(service: Service, step: ServiceStep): Promise<KubeObject | undefined> {
    const place = { namespace: service.metadata.namespace ?? "default", name: service.metadata.name };
    try {
      switch (step.kind) {
        case "addFinalizer":
          return await this.#addFinalizer(service, place);
        case "removeFinalizer":
          return await this.#removeFinalizer(service, place);
        case "updateStatus":
          return await this.#publish(service, place, step.ingress, step.applied);
      }
    } catch (error) {
      if (isFailure(error, "notFound")) return undefined;
      throw error;
    }
  }

  /** Strategic merge adds to the list: others' finalizers are safe without a version. */
  #addFinalizer({ metadata: { uid } }: Service, place: Place): Promise<KubeObject> {
    const annotations = this.#classFilter === undefined ? {} : { [CLASS_ANNOTATION]: this.#classFilter };
    const metadata = { finalizers: [FINALIZER], annotations };
    return this.#client.patch(SERVICES, place, { strategic: { metadata } }, { uid });
  }

  /** Only from the version that was decided on: a patch that was long on its way must not expose a later wish. */
  #removeFinalizer({ metadata: { uid, resourceVersion } }: Service, place: Place): Promise<KubeObject> {
    const metadata = { "$deleteFromPrimitiveList/finalizers": [FINALIZER] };
    return this.#client.patch(SERVICES, place, { strategic: { metadata } }, { uid, resourceVersion });
  }

  /**
   * One patch for both: the status subresource of a Service takes metadata too. Only on the version that was decided
   * on: an older status that was long on its way must not take the place of a newer one.
   */
  #publish(
    { metadata: { uid, resourceVersion } }: Service,
    place: Place,
    ingress: readonly Ingress[],
    applied: string | undefined,
  ): Promise<KubeObject> {
    const metadata = { annotations: { [APPLIED_ANNOTATION]: applied ?? null } };
    const status = { loadBalancer: ingress.length === 0 ? null : { ingress } };
    const only = { uid, resourceVersion };
    return this.#client.patch(SERVICES, { ...place, subresource: "status" }, { merge: { metadata, status } }, only);
  }
}
