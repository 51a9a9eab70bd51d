/**
 * Reads everything that the core's decisions need from the simulated servers at one moment, without calls on the network:
 * to ask the core what it would still do. What must hold then is `laws/quiescence.ts`.
 */
import type { LoadBalancer, SecurityGroup, Subnet } from "../../src/core/model/arm.ts";
import type { Compute, Instance, NetworkInterface, ScaleSet, VirtualMachine } from "../../src/core/backends/compute.ts";
import { watchesEndpoints, watchesNamespaces } from "../../src/core/config/cluster-config.ts";
import { needsCompute } from "../../src/core/backends/eligible-nodes.ts";
import { securityGroupId, subnetId } from "../../src/core/model/ids.ts";
import type { Bodies } from "../../src/core/resources/azure-step.ts";
import { listPath } from "../../src/core/resources/kinds.ts";
import { type Listed, withListed } from "../../src/core/resources/observed-azure.ts";
import type { ReadRequest } from "../../src/core/steps.ts";
import { countsForOthers, needsCleanup, wantsLoadBalancer, type ClassFilter } from "../../src/core/intent/ownership.ts";
import { reconcileService } from "../../src/core/service/reconcile-service.ts";
import type { Observed } from "../../src/core/observed.ts";
import { MEMBER_LIST_NAMESPACE, projectMemberList } from "../../src/controller/pools/member-list.ts";
import {
  projectEndpointSlice,
  projectNode,
  projectService,
  type CachedService,
} from "../../src/controller/projections.ts";
import { storedObject } from "./simulated-kubernetes.ts";
import type { Simulation } from "./simulation.ts";

const MOST_ROUNDS = 10;

export interface ClusterObservation {
  readonly services: readonly CachedService[];
  observe(service: CachedService): Observed;
  readonly pools: Omit<Observed, "service" | "listed" | "subnets" | "securityGroup">;
}

/** What the controller of that class would observe. */
export function observeCluster(simulation: Simulation, classFilter: ClassFilter): ClusterObservation {
  const { config, cluster, azure } = simulation;
  const all = cluster.objects("services").map((object) => projectService(storedObject(object)));
  const services = all.filter((one) => wantsLoadBalancer(one, classFilter) || needsCleanup(one, classFilter));
  const otherServices = all.filter((one) => countsForOthers(one, classFilter));
  const find = (id: string): unknown => {
    const { status, body } = azure.request({ caller: "law", method: "GET", path: id });
    return status === 200 ? body : null;
  };
  const list = <Body>(path: string): Body[] => {
    const found = find(path) as { value: Body[] } | null;
    if (found === null) throw new Error(`${path} cannot be read`);
    return found.value;
  };
  const members = cluster
    .objects("configmaps")
    .filter(
      ({ metadata }) => metadata.namespace === MEMBER_LIST_NAMESPACE && metadata.name?.startsWith("azlb-members-"),
    )
    .map((object) => projectMemberList(storedObject(object)));
  const nodes = cluster.objects("nodes").map((object) => projectNode(storedObject(object)));
  const slices = cluster
    .objects("endpointslices.discovery.k8s.io")
    .map((object) => projectEndpointSlice(storedObject(object)));
  const namespaces = new Map(
    cluster.objects("namespaces").map(({ metadata }) => [metadata.name ?? "", metadata.labels ?? {}]),
  );
  const pools = {
    config,
    otherServices,
    ...(classFilter !== undefined && { classFilter }),
    nodes,
    ...(watchesEndpoints(config) && { endpointSlices: slices }),
    ...(watchesNamespaces(config) && { namespaces }),
    loadBalancers: list<LoadBalancer>(listPath("loadBalancer", config, config.loadBalancerResourceGroup)),
    zones: zonesOf(find(`/subscriptions/${config.subscriptionId}/providers/Microsoft.Compute`)),
    members: new Map(members.map(({ loadBalancerId, members: names }) => [loadBalancerId, names])),
    ...(needsCompute(config, nodes) && { compute: computeOf(config, list) }),
  };
  const securityGroup = (find(securityGroupId(config)) ?? undefined) as SecurityGroup | undefined;
  const listsOf = (needs: readonly ReadRequest[]): Pick<Observed, "listed" | "missingGroups"> => {
    let listed: Listed = {};
    const missingGroups = new Set<string>();
    for (const need of needs) {
      if (need.kind !== "list") continue;
      const group = need.resourceGroup.toLowerCase();
      const found = find(listPath(need.of, config, group)) as {
        value: Bodies[typeof need.of][];
      } | null;
      listed = withListed(listed, need.of, group, found?.value ?? []);
      if (found === null) missingGroups.add(group);
    }
    return { listed, missingGroups };
  };
  const observeWith = (service: CachedService, needs: readonly ReadRequest[]): Observed => ({
    ...pools,
    service,
    securityGroup,
    ...listsOf(needs),
    subnets: new Map(
      needs.flatMap((need) =>
        need.kind === "subnet"
          ? [[need.name, (find(subnetId(config, need.name)) ?? undefined) as Subnet | undefined]]
          : [],
      ),
    ),
  });
  return {
    services,
    pools,
    observe(service) {
      let needs: readonly ReadRequest[] = [];
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const observed = observeWith(service, needs);
        const decision = reconcileService(observed);
        if (decision.kind !== "read") return observed;
        needs = [...needs, ...decision.needs];
      }
      throw new Error(`observing ${service.metadata.name} did not end`);
    },
  };
}

function computeOf(config: Simulation["config"], list: <Body>(path: string) => Body[]): Compute {
  const group = `/subscriptions/${config.subscriptionId}/resourceGroups/${config.resourceGroup}/providers`;
  const scaleSets = list<ScaleSet>(`${group}/Microsoft.Compute/virtualMachineScaleSets`);
  const uniform = scaleSets.filter(({ properties }) => properties["orchestrationMode"] !== "Flexible");
  return {
    virtualMachines: byId(list<VirtualMachine>(`${group}/Microsoft.Compute/virtualMachines`)),
    networkInterfaces: byId(list<NetworkInterface>(`${group}/Microsoft.Network/networkInterfaces`)),
    scaleSets: byId(scaleSets),
    instances: byId(uniform.flatMap(({ id }) => list<Instance>(`${id}/virtualMachines`))),
  };
}

function byId<Body extends { readonly id: string }>(bodies: readonly Body[]): ReadonlyMap<string, Body> {
  return new Map(bodies.map((body) => [body.id.toLowerCase(), body]));
}

function zonesOf(provider: unknown): string[] {
  const { resourceTypes = [] } = (provider ?? {}) as {
    resourceTypes?: { resourceType: string; zoneMappings?: { location: string; zones: string[] }[] }[];
  };
  const machines = resourceTypes.find(({ resourceType }) => resourceType === "virtualMachines");
  const mapping = machines?.zoneMappings?.find(
    ({ location }) => location.toLowerCase().replaceAll(" ", "") === "westus2",
  );
  return [...(mapping?.zones ?? [])].sort();
}
