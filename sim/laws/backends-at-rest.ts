/** What must be true of LBCF's pools once nobody has done anything for long: exactly the pods that are wanted are in. */
import type { Resource } from "../../sandbox/azure/model/index.ts";
import { propertiesOf } from "../../sandbox/azure/model/json.ts";
import { BALANCERS } from "../backends.ts";
import type { World } from "../world.ts";
import { isForeign, lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-sight.ts";
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
  for (const { metadata, spec, status } of cluster.objects("loadbalancers.lbcf.tkestack.io") as unknown as Balancer[]) {
    const isWaiting = shared.some(({ id }) => lastName(id).toLowerCase() === spec.lbSpec.name.toLowerCase());
    if (metadata.deletionTimestamp !== undefined && !isWaiting)
      yield `load balancer ${metadata.name} is still being deleted`;
    const isCreated = status?.conditions?.some((one) => one.type === "Created" && one.status === "True") ?? false;
    if (!isCreated && metadata.name !== "shared") yield `load balancer ${metadata.name} was never made`;
  }
}

interface Balancer {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly lbSpec: { readonly name: string } };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Load balancers that we made for an object that is gone, unless others have something there. */
function* leftBehind({ azure, cluster }: World): Iterable<string> {
  const names = new Set(cluster.objects("loadbalancers.lbcf.tkestack.io").map(({ metadata }) => metadata.name));
  const gone = BALANCERS.filter((name) => !names.has(name)).map((name) => `lbcf:default/${name}`);
  for (const resource of resourcesOf(azure.state, LOAD_BALANCER)) {
    const { [MADE_BY_TAG]: maker = "" } = (resource.body["tags"] ?? {}) as Record<string, string>;
    const isShared = hasOthers(resource);
    const isClusters = lastName(resource.id).toLowerCase().startsWith("kubernetes");
    if (gone.includes(maker) && !isShared && !isClusters)
      yield `load balancer ${lastName(resource.id)} was left behind`;
  }
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
