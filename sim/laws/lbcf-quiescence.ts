/**
 * What must be true of LBCF (lb-controlling-framework) once everything has settled: exactly the wanted pods are in the pools,
 * and load balancers are created and deleted as asked. The rest of the settled cluster is `quiescence.ts`.
 */
import type { Resource } from "../../sandbox/azure/model/index.ts";
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import { propertiesOf } from "../../sandbox/azure/model/json.ts";
import { BALANCERS, BIND, BOUND } from "../actions/lbcf.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import type { Simulation } from "../environment/simulation.ts";
import { isForeign, lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import { addressIn, entriesOf } from "./backend-law.ts";
import type { Report } from "./law.ts";
import { entryKey, type RecordLaw } from "./record-law.ts";

const MADE_BY_TAG = "azlb-lbcf";
const PARTS = ["frontendIPConfigurations", "backendAddressPools", "loadBalancingRules", "probes", "outboundRules"];

export function checkLbcfQuiescence(simulation: Simulation, records: RecordLaw, report: Report): void {
  const wanted = records.wanted();
  const found = new Set(records.entries());
  for (const [key, isDown] of wanted) {
    if (!found.has(key)) report("served", `${lastName(key)} is not in its pool`);
    else if (isDown !== undefined && isDownAt(simulation, key) !== isDown)
      report("drain", `${lastName(key)} is ${isDown ? "not " : ""}Down`);
  }
  for (const key of found)
    if (!wanted.has(key) && !records.exempt.has(key)) report("leak", `${lastName(key)} is still in its pool`);
  for (const what of [...pending(simulation), ...leftBehind(simulation)]) report("served", what);
}

/**
 * LoadBalancers that could have been created or deleted but were not. One in the cluster's own load balancer may be
 * refused; the deletion of one that other clients use waits for them.
 */
function* pending({ azure, cluster }: Simulation): Iterable<string> {
  const shared = resourcesOf(azure.state, LOAD_BALANCER).filter(hasForeignParts);
  const isWaiting = (name: string): boolean =>
    shared.some(({ id }) => lastName(id).toLowerCase() === name.toLowerCase());
  for (const { metadata, spec, status } of cluster.objects("loadbalancers.lbcf.tkestack.io") as readonly Balancer[]) {
    if (metadata.deletionTimestamp !== undefined && !isWaiting(spec.lbSpec.name))
      yield `load balancer ${metadata.name} is still being deleted`;
    if (!isCreated(status) && metadata.name !== "shared") yield `load balancer ${metadata.name} was never created`;
  }
  for (const { metadata, spec, status } of cluster.objects("binds.lbcf.tkestack.io") as readonly BindObject[]) {
    const made = status?.loadBalancerStatuses ?? [];
    const isGoing = metadata.deletionTimestamp !== undefined;
    const wanted = isGoing ? [] : spec.loadBalancers;
    for (const { name } of wanted)
      if (!isCreated(made.find((one) => one.name === name)) && name !== "among")
        yield `${name} of the Bind was never created`;
    const left = made.filter(({ name }) => !wanted.some((one) => one.name === name));
    for (const { name, spec: former } of left)
      if (!isWaiting(former?.name ?? "")) yield `${name} of the Bind is still being deleted`;
    if (isGoing && left.length === 0) yield "the Bind is still being deleted";
  }
}

function isCreated(status: Status | undefined): boolean {
  return status?.conditions?.some((one) => one.type === "Created" && one.status === "True") ?? false;
}

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

interface Balancer extends KubeObject {
  readonly spec: { readonly lbSpec: { readonly name: string } };
  readonly status?: Status;
}

interface BindObject extends KubeObject {
  readonly spec: { readonly loadBalancers: readonly { readonly name: string }[] };
  readonly status?: { readonly loadBalancerStatuses?: readonly BoundStatus[] };
}

interface BoundStatus extends Status {
  readonly name: string;
  readonly spec?: { readonly name?: string };
}

/** Load balancers that were created for an object that is gone, and that no other client uses. */
function* leftBehind({ azure, cluster }: Simulation): Iterable<string> {
  const present = new Set(lbcfOwnerTags(cluster));
  const owners = [...BALANCERS, ...BOUND.map((name) => `${BIND.name}/${name}`)].map((name) => `lbcf:default/${name}`);
  const gone = owners.filter((owner) => !present.has(owner));
  for (const resource of resourcesOf(azure.state, LOAD_BALANCER)) {
    const { [MADE_BY_TAG]: owner = "" } = (resource.body["tags"] ?? {}) as Record<string, string>;
    const isShared = hasForeignParts(resource);
    const isOfCluster = lastName(resource.id).toLowerCase().startsWith("kubernetes");
    if (gone.includes(owner) && !isShared && !isOfCluster)
      yield `load balancer ${lastName(resource.id)} was left behind`;
  }
}

/** The tags of load balancers and public IPs that may exist for LBCF objects. */
export function lbcfOwnerTags(cluster: SimulatedKubernetes): string[] {
  const balancers = cluster.objects("loadbalancers.lbcf.tkestack.io").map(({ metadata }) => metadata.name);
  const bound = (cluster.objects("binds.lbcf.tkestack.io") as readonly BindObject[]).flatMap(({ spec, status }) =>
    [...spec.loadBalancers, ...(status?.loadBalancerStatuses ?? [])].map(({ name }) => `${BIND.name}/${name}`),
  );
  return [...balancers, ...bound].map((name) => `lbcf:default/${name}`);
}

function hasForeignParts(resource: Resource): boolean {
  return PARTS.some((collection) =>
    partsOf(resource, collection).some((part) => isForeign(nameOf(part)) || entriesOf(part).length > 0),
  );
}

function isDownAt({ azure }: Simulation, key: string): boolean {
  return resourcesOf(azure.state, LOAD_BALANCER).some((resource) =>
    partsOf(resource, "backendAddressPools").some((pool) =>
      entriesOf(pool).some(
        (entry) =>
          entryKey(`${resource.id}/backendAddressPools/${nameOf(pool)}`, addressIn(entry)) === key &&
          propertiesOf(entry)["adminState"] === "Down",
      ),
    ),
  );
}
