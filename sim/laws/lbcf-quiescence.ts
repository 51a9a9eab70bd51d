/** What must be true of LBCF's pools once nobody has done anything for long: exactly the pods that are wanted are in. */
import type { Resource } from "../../sandbox/azure/model/index.ts";
import { propertiesOf } from "../../sandbox/azure/model/json.ts";
import { BALANCERS, BIND, BOUND } from "../actions/lbcf.ts";
import type { ClusterSide } from "../environment/simulated-kubernetes.ts";
import type { World } from "../environment/simulation.ts";
import { isForeign, lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import { addressIn, entriesOf } from "./backend-law.ts";
import type { Report } from "./law.ts";
import { placeOf, type RecordLaw } from "./record-law.ts";

const MADE_BY_TAG = "azlb-lbcf";
const PARTS = ["frontendIPConfigurations", "backendAddressPools", "loadBalancingRules", "probes", "outboundRules"];

export function judgeBackends(world: World, records: RecordLaw, report: Report): void {
  const wanted = records.wanted();
  const found = new Set(records.entries());
  for (const [place, isDown] of wanted) {
    if (!found.has(place)) report("served", `${lastName(place)} is not in its pool`);
    else if (isDown !== undefined && isDownAt(world, place) !== isDown)
      report("drain", `${lastName(place)} is ${isDown ? "not " : ""}Down`);
  }
  for (const place of found)
    if (!wanted.has(place) && !records.exempt.has(place)) report("leak", `${lastName(place)} is still in its pool`);
  for (const what of [...unmade(world), ...leftBehind(world)]) report("served", what);
}

/**
 * Load balancers that could be made or deleted, and are not. One in the cluster's own may be refused there; one that
 * others have something in waits for them, and says so.
 */
function* unmade({ azure, cluster }: World): Iterable<string> {
  const shared = resourcesOf(azure.state, LOAD_BALANCER).filter(hasOthers);
  const isWaiting = (name: string): boolean =>
    shared.some(({ id }) => lastName(id).toLowerCase() === name.toLowerCase());
  for (const { metadata, spec, status } of cluster.objects("loadbalancers.lbcf.tkestack.io") as unknown as Balancer[]) {
    if (metadata.deletionTimestamp !== undefined && !isWaiting(spec.lbSpec.name))
      yield `load balancer ${metadata.name} is still being deleted`;
    if (!isCreated(status) && metadata.name !== "shared") yield `load balancer ${metadata.name} was never made`;
  }
  for (const { metadata, spec, status } of cluster.objects("binds.lbcf.tkestack.io") as unknown as BindObject[]) {
    const made = status?.loadBalancerStatuses ?? [];
    const isGoing = metadata.deletionTimestamp !== undefined;
    const wanted = isGoing ? [] : spec.loadBalancers;
    for (const { name } of wanted)
      if (!isCreated(made.find((one) => one.name === name)) && name !== "among")
        yield `${name} of the Bind was never made`;
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

interface Balancer {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly lbSpec: { readonly name: string } };
  readonly status?: Status;
}

interface BindObject {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly loadBalancers: readonly { readonly name: string }[] };
  readonly status?: { readonly loadBalancerStatuses?: readonly BoundStatus[] };
}

interface BoundStatus extends Status {
  readonly name: string;
  readonly spec?: { readonly name?: string };
}

/** Load balancers that we made for an object that is gone, unless others have something there. */
function* leftBehind({ azure, cluster }: World): Iterable<string> {
  const present = new Set(makersIn(cluster));
  const makers = [...BALANCERS, ...BOUND.map((name) => `${BIND.name}/${name}`)].map((name) => `lbcf:default/${name}`);
  const gone = makers.filter((maker) => !present.has(maker));
  for (const resource of resourcesOf(azure.state, LOAD_BALANCER)) {
    const { [MADE_BY_TAG]: maker = "" } = (resource.body["tags"] ?? {}) as Record<string, string>;
    const isShared = hasOthers(resource);
    const isClusters = lastName(resource.id).toLowerCase().startsWith("kubernetes");
    if (gone.includes(maker) && !isShared && !isClusters)
      yield `load balancer ${lastName(resource.id)} was left behind`;
  }
}

/** Who may have load balancers and public IPs, as these are tagged. */
export function makersIn(cluster: ClusterSide): string[] {
  const balancers = cluster.objects("loadbalancers.lbcf.tkestack.io").map(({ metadata }) => metadata.name);
  const bound = (cluster.objects("binds.lbcf.tkestack.io") as unknown as BindObject[]).flatMap(({ spec, status }) =>
    [...spec.loadBalancers, ...(status?.loadBalancerStatuses ?? [])].map(({ name }) => `${BIND.name}/${name}`),
  );
  return [...balancers, ...bound].map((name) => `lbcf:default/${name}`);
}

function hasOthers(resource: Resource): boolean {
  return PARTS.some((collection) =>
    partsOf(resource, collection).some((part) => isForeign(nameOf(part)) || entriesOf(part).length > 0),
  );
}

function isDownAt({ azure }: World, place: string): boolean {
  return resourcesOf(azure.state, LOAD_BALANCER).some((resource) =>
    partsOf(resource, "backendAddressPools").some((pool) =>
      entriesOf(pool).some(
        (entry) =>
          placeOf(`${resource.id}/backendAddressPools/${nameOf(pool)}`, addressIn(entry)) === place &&
          propertiesOf(entry)["adminState"] === "Down",
      ),
    ),
  );
}
