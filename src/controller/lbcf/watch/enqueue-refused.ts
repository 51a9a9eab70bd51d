/**
 * A pool or frontend in Azure that one LoadBalancer or Bind gives up, or that it or a Service shares, may be what others were
 * refused for (`core/lbcf/azure/azure-claims.ts`): those are enqueued, so that they need not wait for a timer.
 */
import { claimedNames } from "../../../core/lbcf/azure/azure-claims.ts";
import { OURS } from "../../../core/intent/annotations/ours.ts";
import { ANNOTATION, AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { Bind, Condition, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { referencedKey } from "../../../core/lbcf/objects/references.ts";
import type { Change } from "../../../kube/cache/store.ts";
import type { Service } from "../../../core/model/kubernetes.ts";
import { keyOf, type KubeObject } from "../../../kube/client/resources.ts";
import { isUnsettled } from "./change-predicates.ts";
import type { WatchHandlersOptions } from "./watch-handlers.ts";

type Options = Pick<WatchHandlersOptions, "cache" | "claims" | "delays" | "loadBalancers" | "binds" | "records">;

export function enqueueRefused(change: Change<LoadBalancer> | Change<Bind>, options: Options): void {
  if (change.kind === "added") return;
  const { claims } = options;
  const before = claims.of(change.kind === "updated" ? change.old : change.object);
  const after = change.kind === "updated" ? claims.of(change.object) : [];
  const kept = new Set(after.flatMap(claimedNames));
  const isGivenUp = before.flatMap(claimedNames).some((name) => !kept.has(name));
  if (isGivenUp || isSharedAnew(change, ANNOTATION.shareWith)) enqueueAllRefused(options);
}

export function enqueueRefusedByService(change: Change<Service & KubeObject>, options: Options): void {
  if (isSharedAnew(change, OURS.shareAddressWith.key)) enqueueAllRefused(options);
}

function isSharedAnew(change: Change<KubeObject>, annotation: string): boolean {
  const shared = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotation];
  return change.kind === "updated" && shared(change.old) !== shared(change.object);
}

function enqueueAllRefused({ cache, delays, loadBalancers, binds, records }: Options): void {
  const driver = referencedKey(AZURE_DRIVER, "");
  delays.driverUsable(driver);
  const isRefused = (conditions: readonly Condition[]): boolean => conditions.some(({ status }) => status === "False");
  for (const lb of cache.loadBalancers.objects.by("driver", driver)) {
    if (isRefused(lb.status.conditions)) loadBalancers.loop.enqueue(keyOf(lb));
  }
  for (const bind of cache.binds.objects.by("driver", driver)) {
    const isWaiting = bind.status.loadBalancerStatuses.some(({ conditions }) => isRefused(conditions));
    if (isWaiting) binds.enqueue(keyOf(bind));
  }
  records.enqueue(cache.records.objects.by("driver", driver).filter(isUnsettled));
}
