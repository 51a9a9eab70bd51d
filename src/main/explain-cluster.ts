/** `azlb explain` without an argument: reads the cluster once, and asks the core which Services are not as they ask. */
import type { EventReason } from "../core/events/event-reasons.ts";
import { isStuck, renderUnsettled, type UnsettledService, unsettledServices } from "../core/plan/unsettled.ts";
import { EVENTS, type KubeObject } from "../kube/client/resources.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Explanation } from "./explain-service.ts";
import { makePlan, type PlanOptions } from "./make-plan.ts";

interface Event extends KubeObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly involvedObject?: { readonly namespace?: string; readonly name?: string };
}

const FAILED: readonly EventReason[] = ["SyncLoadBalancerFailed", "DeleteLoadBalancerFailed"];

export async function explainCluster(view: ClusterView, options: PlanOptions = {}): Promise<Explanation> {
  const { namespace } = options;
  const fieldSelector = "involvedObject.kind=Service,type=Warning";
  const [plan, events] = await Promise.all([
    makePlan(view, undefined, options),
    view.client.list<Event>(EVENTS, { fieldSelector, ...(namespace !== undefined && { namespace }) }),
  ]);
  const sorted = events.items.toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)));
  const failures = new Map(
    sorted
      .filter(({ reason }) => FAILED.some((one) => one === reason))
      .map(({ involvedObject, message = "" }) => [`${involvedObject?.namespace}/${involvedObject?.name}`, message]),
  );
  const services = unsettledServices(plan.report, failures);
  const { settled } = plan.report.summary;
  const held = plan.changes.map(({ message }) => message);
  return {
    text: [
      ...held.map((message) => `held: the controller writes nothing: ${message}\n`),
      renderUnsettled(services, settled, namespace),
    ].join(""),
    data: { held, items: services.map(itemOf), settled },
    isFailing: held.length > 0 || services.some(isStuck),
  };
}

/** Named as the API names them. */
function itemOf({ service, state, why }: UnsettledService): object {
  const [namespace, name] = service.split("/");
  return { namespace, name, state, message: why };
}

function timeOf({ lastTimestamp }: Event): string {
  return lastTimestamp ?? "";
}
