/**
 * `azlb uninstall`: what the controller wrote into the cluster goes: finalizers first, so that no Service hangs without a
 * controller; then its annotations, member lists and Lease. Statuses stay, and nothing is written to Azure. May be
 * interrupted anywhere and run again.
 */
import { RELEASE_PLACE } from "../controller/brake/release-watch.ts";
import { MEMBER_LIST_LABEL, MEMBER_LIST_NAMESPACE } from "../controller/pools/member-list.ts";
import { projectService, type CachedService } from "../controller/projections.ts";
import { CLASS_ANNOTATION, FINALIZER, isHeld, type ClassFilter } from "../core/intent/ownership.ts";
import { APPLIED_ANNOTATION } from "../core/service/applied-state.ts";
import { pluralize } from "../core/util/text.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { CONFIG_MAPS, LEASES, SERVICES, type KubeObject } from "../kube/client/resources.ts";
import type { Lease } from "../kube/election/lease.ts";
import { DEFAULT_LEASE } from "./controller.ts";

interface UninstallOptions {
  readonly client: KubeClient;
  readonly classFilter: ClassFilter;
  readonly nowMs: number;
}

/** The controller would write everything anew. */
class ControllerRuns extends Error {
  override readonly name = "ControllerRuns";
}

/** Resolves with what was done, for the user. */
export async function uninstall({ client, classFilter, nowMs }: UninstallOptions): Promise<string> {
  await assertStopped(client, nowMs);
  const { items } = await client.list<KubeObject>(SERVICES, {});
  const released = items.map(projectService).filter((service) => isOurs(service, classFilter));
  for (const service of released) await ifThere(release(client, service));
  const lists = await client.list(CONFIG_MAPS, { namespace: MEMBER_LIST_NAMESPACE, labelSelector: MEMBER_LIST_LABEL });
  const places = [
    ...lists.items.map(({ metadata: { name } }) => ({ namespace: MEMBER_LIST_NAMESPACE, name })),
    RELEASE_PLACE,
  ];
  for (const place of places) await ifThere(client.delete(CONFIG_MAPS, place));
  const { namespace, name } = DEFAULT_LEASE;
  await ifThere(client.delete(LEASES, { namespace, name }));
  return (
    `Released: ${pluralize(released.length, "Service")}. Their addresses, load balancers and security rules stay in Azure; ` +
    `deleted: ${pluralize(lists.items.length, "member list")}.\n`
  );
}

async function assertStopped(client: KubeClient, nowMs: number): Promise<void> {
  const { namespace, name } = DEFAULT_LEASE;
  const lease = await ifThere(client.get<Lease>(LEASES, { namespace, name }));
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
  const endMs = Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 0) * 1000;
  if (!holderIdentity || !(endMs > nowMs)) return;
  throw new ControllerRuns(
    `the controller runs: "${holderIdentity}" holds the Lease ${namespace}/${name}. Scale its Deployment to 0 first`,
  );
}

function isOurs(service: CachedService, classFilter: ClassFilter): boolean {
  const { metadata, spec } = service;
  const served = spec.type === "LoadBalancer" ? spec.loadBalancerClass : metadata.annotations?.[CLASS_ANNOTATION];
  return isHeld(service) && served === classFilter;
}

/** Only the Service that was looked at. */
function release(client: KubeClient, { metadata }: CachedService): Promise<KubeObject> {
  const { namespace = "default", name, uid, resourceVersion } = metadata;
  const annotations = { [APPLIED_ANNOTATION]: null, [CLASS_ANNOTATION]: null };
  const strategic = { metadata: { "$deleteFromPrimitiveList/finalizers": [FINALIZER], annotations } };
  return client.patch(SERVICES, { namespace, name }, { strategic }, { uid, resourceVersion });
}

async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isFailure(error, "notFound")) return undefined;
    throw error;
  }
}
