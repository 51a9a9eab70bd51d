/**
 * Deployments, as kube-controller-manager has them: one ReplicaSet for each template, rolled out by `strategy`, kept as
 * history, and numbered by the revision that `kubectl rollout history` and `undo` read. How many pods each may have stands
 * in rollout.ts; the status in deployment-status.ts.
 */
import type { HistoryEntry, JsonObject, KubeObject } from "../../contract.ts";
import { asObject, sameJson, without } from "../../json.ts";
import { part } from "../../resource.ts";
import { keyOf } from "../../state.ts";
import type { DelayQueue } from "../delay-queue.ts";
import type { LoopClient } from "../loop-client.ts";
import { deploymentStatus } from "./deployment-status.ts";
import { controlled, controllerOf, ownedBy, templateHash } from "./owned-pods.ts";
import { REPLICA_SETS, replicasOf, scaleTo } from "./replica-sets.ts";
import { newSetSize, oldSetSizes, rolloutLimits } from "./rollout.ts";

const DEPLOYMENTS = "deployments.apps";
const HASH_LABEL = "pod-template-hash";
const REVISION = "deployment.kubernetes.io/revision";
/** Annotations of a Deployment that its ReplicaSets do not get. */
const OWN_ANNOTATIONS = ["kubectl.kubernetes.io/last-applied-configuration", REVISION];

export function runDeployments(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  const owner = collection === REPLICA_SETS ? controllerOf(object) : undefined;
  const name =
    owner?.kind === "Deployment" ? owner.name : collection === DEPLOYMENTS ? object.metadata.name : undefined;
  // A new pod must wait for the end of a terminating one under Recreate: the ReplicaSet no longer counts that.
  if (name === undefined) return collection === "pods" ? ofItsDeployment(client, queue, object) : undefined;
  schedule(client, queue, `${object.metadata.namespace ?? ""}/${name}`, 0);
}

function ofItsDeployment(client: LoopClient, queue: DelayQueue, pod: KubeObject): void {
  const owner = controllerOf(pod);
  const set =
    owner?.kind === "ReplicaSet"
      ? client.get(REPLICA_SETS, `${pod.metadata.namespace ?? ""}/${owner.name}`)
      : undefined;
  const deployment = set && controllerOf(set);
  if (deployment?.kind === "Deployment")
    schedule(client, queue, `${pod.metadata.namespace ?? ""}/${deployment.name}`, 0);
}

function schedule(client: LoopClient, queue: DelayQueue, key: string, atMs: number): void {
  queue.schedule(`deployment/${atMs === 0 ? "" : "deadline/"}${key}`, atMs, () => syncDeployment(client, queue, key));
}

function syncDeployment(client: LoopClient, queue: DelayQueue, key: string): void {
  const deployment = client.get(DEPLOYMENTS, key);
  if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return;
  const paused = part(deployment, "spec")["paused"] === true;
  const before = replicaSetsOf(client, deployment);
  const current = before.find((set) => sameJson(templateOf(set), templateOf(deployment)));
  const old = before.filter((set) => set !== current);
  if (paused) resize(client, deployment, before);
  else rollOut(client, deployment, current, old);
  updateStatus(client, queue, key);
  if (!paused) forgetHistory(client, key);
}

function rollOut(
  client: LoopClient,
  deployment: KubeObject,
  current: KubeObject | undefined,
  old: readonly KubeObject[],
): void {
  const spec = part(deployment, "spec");
  const strategy = asObject(spec["strategy"]);
  const replicas = Number(spec["replicas"] ?? 1);
  const wantedOf = (sets: readonly KubeObject[]): number => sets.reduce((sum, set) => sum + replicasOf(set).wanted, 0);
  if (strategy["type"] === "Recreate") {
    for (const set of old) scaleTo(client, set, 0);
    if (old.some((set) => controlled(client, set, "pods").length > 0)) return;
    const set = ensureSet(client, deployment, current, old, replicas);
    if (set !== undefined) scaleTo(client, set, replicas);
    return;
  }
  const limits = rolloutLimits(replicas, asObject(strategy["rollingUpdate"]));
  const first = newSetSize(limits, 0, wantedOf(old));
  const set = ensureSet(client, deployment, current, old, first);
  if (set === undefined) return;
  if (scaleTo(client, set, newSetSize(limits, replicasOf(set).wanted, wantedOf([set, ...old])))) return;
  const sizes = oldSetSizes(limits, replicasOf(set), old.map(replicasOf));
  old.forEach((each, at) => scaleTo(client, each, sizes[at] ?? 0));
}

/** While a Deployment is paused its newest ReplicaSet alone follows `replicas`. */
function resize(client: LoopClient, deployment: KubeObject, sets: readonly KubeObject[]): void {
  const active = sets.filter((set) => replicasOf(set).wanted > 0);
  const set = active.at(-1) ?? sets.at(-1);
  if (active.length <= 1 && set !== undefined) scaleTo(client, set, Number(part(deployment, "spec")["replicas"] ?? 1));
}

/** The ReplicaSets of a Deployment, the lowest revision first. */
function replicaSetsOf(client: LoopClient, deployment: KubeObject): KubeObject[] {
  return controlled(client, deployment, REPLICA_SETS).toSorted((left, right) => revisionOf(left) - revisionOf(right));
}

function revisionOf(object: KubeObject): number {
  return Number(object.metadata.annotations?.[REVISION] ?? 0);
}

/** The template without the label that tells ReplicaSets apart. */
function templateOf(object: KubeObject): JsonObject {
  const template = asObject(part(object, "spec")["template"]);
  const metadata = asObject(template["metadata"]);
  const labels = without(asObject(metadata["labels"]), HASH_LABEL);
  return { ...template, metadata: { ...without(metadata, "creationTimestamp"), labels } };
}

/** The ReplicaSet of the current template, which has the highest revision. */
function ensureSet(
  client: LoopClient,
  deployment: KubeObject,
  current: KubeObject | undefined,
  old: readonly KubeObject[],
  replicas: number,
): KubeObject | undefined {
  const newest = Math.max(0, ...old.map(revisionOf));
  const revision = String(current !== undefined && revisionOf(current) > newest ? revisionOf(current) : newest + 1);
  if (current === undefined) client.create(REPLICA_SETS, newSet(deployment, revision, replicas));
  else if (revisionOf(current) !== Number(revision)) annotate(client, REPLICA_SETS, current, revision);
  annotate(client, DEPLOYMENTS, deployment, revision);
  const template = templateOf(deployment);
  return replicaSetsOf(client, deployment).find((set) => sameJson(templateOf(set), template));
}

function annotate(client: LoopClient, collection: string, object: KubeObject, revision: string): void {
  const stored = client.get(collection, keyOf(object));
  if (stored === undefined || stored.metadata.annotations?.[REVISION] === revision) return;
  const annotations = { ...stored.metadata.annotations, [REVISION]: revision };
  client.update(collection, { ...stored, metadata: { ...stored.metadata, annotations } });
}

function newSet(deployment: KubeObject, revision: string, replicas: number): KubeObject {
  const spec = part(deployment, "spec");
  const template = asObject(spec["template"]);
  const hash = templateHash(templateOf(deployment));
  const metadata = asObject(template["metadata"]);
  const labels = { ...asObject(metadata["labels"]), [HASH_LABEL]: hash } as Record<string, string>;
  const selector = asObject(spec["selector"]);
  const { name = "", namespace = "", annotations = {} } = deployment.metadata;
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { ...without(annotations, ...OWN_ANNOTATIONS), [REVISION]: revision },
      ownerReferences: [ownedBy(deployment)],
    },
    spec: {
      replicas,
      ...(spec["minReadySeconds"] === undefined ? {} : { minReadySeconds: spec["minReadySeconds"] }),
      selector: { ...selector, matchLabels: { ...asObject(selector["matchLabels"]), [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}

function updateStatus(client: LoopClient, queue: DelayQueue, key: string): void {
  const deployment = client.get(DEPLOYMENTS, key);
  if (deployment === undefined) return;
  const sets = replicaSetsOf(client, deployment);
  const current = sets.find((set) => sameJson(templateOf(set), templateOf(deployment)));
  const { status, deadlineMs } = deploymentStatus(deployment, sets, current, client.nowMs);
  if (deadlineMs !== undefined) schedule(client, queue, key, deadlineMs);
  if (!sameJson(status, deployment["status"])) client.put(DEPLOYMENTS, { ...deployment, status });
}

/** Empty ReplicaSets beyond `revisionHistoryLimit` go, the oldest first, once a rollout is complete. */
function forgetHistory(client: LoopClient, key: string): void {
  const deployment = client.get(DEPLOYMENTS, key);
  if (deployment === undefined) return;
  const template = templateOf(deployment);
  const old = replicaSetsOf(client, deployment).filter((set) => !sameJson(templateOf(set), template));
  const empty = old.filter((set) => replicasOf(set).wanted === 0 && replicasOf(set).present === 0);
  if (empty.length < old.length) return;
  const surplus = empty.length - Number(part(deployment, "spec")["revisionHistoryLimit"] ?? 10);
  for (const set of empty.slice(0, Math.max(0, surplus))) client.remove(REPLICA_SETS, keyOf(set));
}
