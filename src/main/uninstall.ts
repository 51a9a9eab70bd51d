/**
 * `azlb uninstall`: takes the controller out of a cluster, so that nothing hangs without it. What the Services have in
 * Azure stays (`keep`) or goes first (`remove-from-azure.ts`); then go the finalizers, the controller's annotations, its
 * member lists and its Lease. Refuses while a controller holds the Lease, and holds it itself while it writes to Azure. May
 * be interrupted anywhere and run again.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

import { RELEASE_PLACE } from "../controller/brake/release-watch.ts";
import { BACKEND_RECORDS, BINDS, LOAD_BALANCERS } from "../controller/lbcf/objects/resources.ts";
import { MEMBER_LIST_LABEL, MEMBER_LIST_NAMESPACE } from "../controller/pools/member-list.ts";
import { projectService, type CachedService } from "../controller/projections.ts";
import { CLASS_ANNOTATION, FINALIZER, isHeld, type ClassFilter } from "../core/intent/ownership.ts";
import { APPLIED_ANNOTATION } from "../core/service/applied-state.ts";
import type { Clock } from "../core/util/clock.ts";
import { pluralize } from "../core/util/text.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { CONFIG_MAPS, LEASES, SERVICES, type KubeObject } from "../kube/client/resources.ts";
import { LeaderElection } from "../kube/election/leader-election.ts";
import { type Fence, type Lease, OPEN_FENCE } from "../kube/election/lease.ts";
import { DEFAULT_LEASE } from "./controller.ts";
import type { Removal } from "./remove-from-azure.ts";

export interface UninstallOptions {
  readonly client: KubeClient;
  readonly classFilter: ClassFilter;
  readonly clock: Clock;
  /** Of the controller; absent: the default. */
  readonly lease?: LeasePlace | undefined;
  /** Also where a controller holds the Lease. */
  readonly ignoresLease?: boolean;
}

interface LeasePlace {
  readonly namespace: string;
  readonly name: string;
}

export interface Uninstalled {
  readonly text: string;
  /** Everything that was asked for is done. */
  readonly isDone: boolean;
}

/** The controller would write everything anew. */
class ControllerRuns extends Error {
  override readonly name = "ControllerRuns";
}

/** Objects of LBCF hold finalizers that only the running controller, with their drivers, can serve. */
class ObjectsLeft extends Error {
  override readonly name = "ObjectsLeft";
}

/** Azure is left as it is. */
export async function uninstallKeeping(options: UninstallOptions): Promise<Uninstalled> {
  await assertStopped(options);
  const { services, lists } = await clean(options);
  const text =
    `Released: ${pluralize(services, "Service")}. Their addresses, load balancers and security rules stay in Azure; ` +
    `deleted: ${pluralize(lists, "member list")}.\n`;
  return { text, isDone: true };
}

/** `remove`: what the Services have in Azure; its writes pass the fence. */
export async function uninstallRemoving(
  options: UninstallOptions,
  remove: (fence: Fence) => Promise<Removal>,
): Promise<Uninstalled> {
  await assertStopped(options);
  await assertNoObjects(options);
  const removal = await leading(options, remove);
  const isDone = removal.failed.length === 0;
  if (isDone) await clean(options);
  return { text: renderRemoval(removal), isDone };
}

function renderRemoval({ removed, failed, stays }: Removal): string {
  const lines = [
    `Removed from Azure: what ${pluralize(removed.length, "Service")} had there.`,
    ...failed.map(({ service, message }) => `not removed: ${service}: ${message}`),
    ...stays.map((what) => `stays: ${what}`),
    ...(failed.length > 0 ? ["Run the command again: it goes on with what is left."] : []),
    "",
  ];
  return lines.join("\n");
}

/** Holds the Lease meanwhile, so that no controller begins. */
async function leading<Result>(options: UninstallOptions, work: (fence: Fence) => Promise<Result>): Promise<Result> {
  if (options.ignoresLease === true) return work(OPEN_FENCE);
  const { client, clock, lease = DEFAULT_LEASE } = options;
  const identity = `${hostname()}_uninstall_${randomUUID()}`;
  const { namespace, name } = lease;
  const election = new LeaderElection({ client, clock, random: Math.random, identity, namespace, name });
  let result: { readonly value: Result } | undefined;
  await election.run(new AbortController().signal, async (fence) => {
    result = { value: await work(fence) };
  });
  if (result === undefined) throw new Error("the Lease could not be held");
  return result.value;
}

/** What the controller wrote into the cluster goes: finalizers first, with the annotations. */
async function clean({ client, classFilter, lease = DEFAULT_LEASE }: UninstallOptions) {
  const { items } = await client.list<KubeObject>(SERVICES, {});
  const marked = items.map(projectService).filter((service) => isMarked(service, classFilter));
  for (const service of marked) await ifThere(release(client, service));
  const lists = await client.list(CONFIG_MAPS, { namespace: MEMBER_LIST_NAMESPACE, labelSelector: MEMBER_LIST_LABEL });
  const places = [
    ...lists.items.map(({ metadata: { name } }) => ({ namespace: MEMBER_LIST_NAMESPACE, name })),
    RELEASE_PLACE,
  ];
  for (const place of places) await ifThere(client.delete(CONFIG_MAPS, place));
  const { namespace, name } = lease;
  await ifThere(client.delete(LEASES, { namespace, name }));
  return { services: marked.length, lists: lists.items.length };
}

async function assertStopped({ client, clock, lease: place = DEFAULT_LEASE, ignoresLease }: UninstallOptions) {
  if (ignoresLease === true) return;
  const { namespace, name } = place;
  const lease = await ifThere(client.get<Lease>(LEASES, { namespace, name }));
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
  const endMs = Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 0) * 1000;
  if (!holderIdentity || !(endMs > clock.nowMs())) return;
  throw new ControllerRuns(
    `the controller runs: "${holderIdentity}" holds the Lease ${namespace}/${name}. Scale its Deployment to 0 first`,
  );
}

async function assertNoObjects({ client }: UninstallOptions): Promise<void> {
  for (const resource of [BACKEND_RECORDS, BINDS, LOAD_BALANCERS]) {
    const found = await ifThere(client.list<KubeObject>(resource, {}));
    const [first] = found?.items ?? [];
    if (first === undefined) continue;
    const { namespace = "", name } = first.metadata;
    throw new ObjectsLeft(
      `${pluralize(found?.items.length ?? 0, resource.kind)} of LBCF (${namespace}/${name}, …) would hang without the ` +
        "controller: start it, delete them (kubectl delete binds,backendgroups,loadbalancers.lbcf.tkestack.io -A --all), stop it again",
    );
  }
}

/** Bears the finalizer, or a mark that is left from it. */
function isMarked(service: CachedService, classFilter: ClassFilter): boolean {
  const { metadata, spec } = service;
  const { annotations = {} } = metadata;
  const served = spec.type === "LoadBalancer" ? spec.loadBalancerClass : annotations[CLASS_ANNOTATION];
  const hasMark = APPLIED_ANNOTATION in annotations || CLASS_ANNOTATION in annotations;
  return served === classFilter && (isHeld(service) || hasMark);
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
