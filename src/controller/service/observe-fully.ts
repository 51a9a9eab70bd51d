/** Observes a Service with everything that decisions about it ask for, for callers that only plan. */
import type { Observed } from "../../core/observed.ts";
import type { ReadRequest } from "../../core/steps.ts";
import { publishedIngress, reconcileService } from "../../core/service/reconcile-service.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import { untilSettled } from "../../core/util/until-settled.ts";
import type { Observer } from "./observer.ts";

/** `overlay`: changes to what was observed, before it is decided on. */
export async function observeFully(
  observer: Observer,
  service: Service,
  overlay: (observed: Observed) => Observed,
  signal: AbortSignal,
): Promise<Observed> {
  let needs: readonly ReadRequest[] = [];
  return untilSettled(`Service ${service.metadata.name}`, async () => {
    const observed = overlay(await observer.observe(service, needs, signal));
    const decision = reconcileService(observed);
    // a refused Service asks for no read, but may have resources in Azure
    const asked = decision.kind === "read" ? decision : publishedIngress(observed);
    if (asked.kind !== "read") return observed;
    needs = [...needs, ...asked.needs];
    return undefined;
  });
}
