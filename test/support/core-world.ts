/**
 * A cluster and its Azure in memory, in which whole histories run on the core alone: Services are applied and deleted as
 * an API server would, decisions come from `reconcileService`, and what they lead to is predicted.
 */
import type { LoadBalancer, PublicIP, SecurityGroup, Subnet } from "../../src/core/model/arm.ts";
import type { Compute } from "../../src/core/backends/compute.ts";
import { LISTED_KINDS } from "../../src/core/resources/kinds.ts";
import { type Listed, type ListedGroups, listedOf, withListed } from "../../src/core/resources/observed-azure.ts";
import type { PoolBrake } from "../../src/core/brake/pool-brake.ts";
import type { PoolsInput } from "../../src/core/resources/managed-pools.ts";
import { reconcilePools } from "../../src/core/resources/reconcile-pools.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { parentId } from "../../src/core/model/ids.ts";
import {
  serviceKey,
  type EndpointSlice,
  type Node,
  type Service,
  type ServicePort,
} from "../../src/core/model/kubernetes.ts";
import { baseName } from "../../src/core/model/names.ts";
import type { AzureStep, Decision, ReadRequest, Step } from "../../src/core/steps.ts";
import { predict } from "../../src/core/plan/predict.ts";
import type { Rejection } from "../../src/core/outcome.ts";
import { reconcileService } from "../../src/core/service/reconcile-service.ts";
import type { Observed } from "../../src/core/observed.ts";
import { aService, CONFIG } from "./core-fixtures.ts";
import type { KnownService } from "./incumbent-states.ts";

/** More than any story has. */
const MOST_ROUNDS = 40;
const FIRST_NODE_PORT = 30_000;

export class CoreWorld {
  readonly config: ClusterConfig;
  nodes: readonly Node[];
  services = new Map<string, Service>();
  loadBalancers: readonly LoadBalancer[] = [];
  listed: Listed;
  subnets: ReadonlyMap<string, Subnet | undefined>;
  securityGroup: SecurityGroup | undefined;
  zones: readonly string[] = ["1", "2", "3"];
  members = new Map<string, readonly string[]>();
  compute: Compute | undefined;
  /** With several load balancers. */
  endpointSlices: readonly EndpointSlice[] | undefined;
  /** Absent: nothing is withheld. */
  brake: PoolBrake | undefined;
  /** Every Service that ever was. */
  readonly known = new Map<string, KnownService>();
  /** What is in groups that the controller has not looked at. */
  #unseen: Listed = {};
  #counted: readonly Service[] = [];
  #nextUid = 1;
  #nextPort = FIRST_NODE_PORT;

  constructor(config: Partial<ClusterConfig> = {}) {
    this.config = { ...CONFIG, ...config };
    this.nodes = [0, 1, 2].map((at) =>
      aNode(`vmss00000${at}`, [`10.240.0.${4 + at}`, `fd00::${(100 + at).toString(16)}`]),
    );
    this.listed = withListed({}, "publicIP", this.config.resourceGroup, []);
    this.subnets = new Map([
      ["subnet", aSubnet("subnet", "10.240.0.0/16")],
      ["subnet2", aSubnet("subnet2", "10.241.0.0/16")],
    ]);
    this.securityGroup = aSecurityGroup();
  }

  get publicIPs(): ListedGroups<"publicIP"> {
    return listedOf(this, "publicIP");
  }

  set publicIPs(publicIP: ListedGroups<"publicIP">) {
    this.listed = { ...this.listed, publicIP };
  }

  apply(manifest: {
    metadata: { name: string; namespace?: string; annotations?: Readonly<Record<string, string>> };
    spec: object;
  }): Service {
    const { name, namespace = "default", annotations = {} } = manifest.metadata;
    const uid = `00000000-0000-4000-8000-${String(this.#nextUid++).padStart(11, "0")}0`;
    const spec = manifest.spec as Partial<Service["spec"]>;
    return this.#store({
      metadata: { name, namespace, uid, annotations },
      spec: {
        ...spec,
        type: spec.type ?? "LoadBalancer",
        ports: this.#allocate(spec.ports ?? []),
        ...(spec.externalTrafficPolicy === "Local" && {
          healthCheckNodePort: spec.healthCheckNodePort ?? this.#nextPort++,
        }),
      },
      status: { loadBalancer: {} },
    });
  }

  annotate(name: string, annotations: Readonly<Record<string, string | null>>): Service {
    const service = this.service(name);
    const merged = Object.entries({ ...service.metadata.annotations, ...annotations }).filter(
      ([, value]) => value !== null,
    );
    const kept = Object.fromEntries(merged) as Record<string, string>;
    return this.#store({ ...service, metadata: { ...service.metadata, annotations: kept } });
  }

  respec(name: string, spec: Partial<Service["spec"]>): Service {
    const service = this.service(name);
    const ports = spec.ports === undefined ? service.spec.ports : this.#allocate(spec.ports);
    return this.#store({ ...service, spec: { ...service.spec, ...spec, ports } });
  }

  delete(name: string): void {
    const service = this.service(name);
    this.#store({ ...service, metadata: { ...service.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    this.#collect();
  }

  /** In namespace `default`, or `namespace/name`; so wherever a Service is named. */
  service(name: string): Service {
    const service = this.services.get(name.includes("/") ? name : `default/${name}`);
    if (service === undefined) throw new Error(`no Service ${name}`);
    return service;
  }

  observe(service: Service): Observed {
    return {
      config: this.config,
      service,
      otherServices: this.#counting(),
      clusterServices: [...this.services.values()],
      nodes: this.nodes,
      loadBalancers: this.loadBalancers,
      listed: this.listed,
      subnets: this.subnets,
      subnetNames: [...this.subnets].flatMap(([name, subnet]) => (subnet === undefined ? [] : [name])),
      securityGroup: this.securityGroup,
      zones: this.zones,
      members: this.members,
      ...(this.compute && { compute: this.compute }),
      ...(this.endpointSlices && { endpointSlices: this.endpointSlices }),
      ...(this.brake && { brake: this.brake }),
    };
  }

  /** Decides for one Service; what it wants to look at is shown to it. */
  decide(service: Service): Decision {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const decision = reconcileService(this.observe(service));
      if (decision.kind !== "read") return decision;
      for (const need of decision.needs) this.#show(need);
    }
    throw new Error(`${serviceKey(service)} asks for one read after another`);
  }

  /** Does what the steps say, and no more. */
  write(service: Service, steps: readonly Step[]): void {
    for (const step of steps) if (step.kind === "backendPool") this.#remember(step);
    const after = predict(this.observe(service), steps);
    this.loadBalancers = after.loadBalancers;
    this.members = new Map(after.members);
    this.listed = after.listed;
    this.securityGroup = after.securityGroup;
    this.compute = after.compute;
    if (this.services.get(serviceKey(service)) === service) this.#store(after.service);
    this.#collect();
  }

  /** Runs every Service to its end, and the pools after them. Answers the rejections by name. */
  settle(): Map<string, Rejection> {
    const rejected = new Map<string, Rejection>();
    for (const key of this.services.keys()) {
      const rejection = this.#settleOne(key);
      if (rejection !== undefined) rejected.set(key.replace(/^default\//, ""), rejection);
    }
    this.write(aService(), this.poolSteps());
    return rejected;
  }

  poolSteps(): AzureStep[] {
    return reconcilePools(this.observePools());
  }

  observePools(): PoolsInput {
    const { config, nodes, loadBalancers, members, compute, endpointSlices, brake } = this;
    return {
      config,
      nodes,
      loadBalancers,
      members,
      ...(compute && { compute }),
      ...(endpointSlices && { endpointSlices, otherServices: this.#counting() }),
      ...(brake && { brake }),
    };
  }

  #settleOne(key: string): Rejection | undefined {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const service = this.services.get(key);
      if (service === undefined) return undefined;
      const decision = this.decide(service);
      if (decision.kind === "reject") return decision.rejection;
      if (decision.kind === "wait") throw new Error(`${key} waits: ${decision.why}`);
      if (decision.kind !== "act") return undefined;
      this.write(service, decision.steps);
    }
    throw new Error(`${key} does not settle`);
  }

  /** A write of another client. */
  putPublicIP(name: string, body: { readonly [field: string]: unknown }, group = this.config.resourceGroup): PublicIP {
    const id = `/subscriptions/sub/resourceGroups/${group}/providers/Microsoft.Network/publicIPAddresses/${name}`;
    const list = this.publicIPs.get(group) ?? [];
    const { properties = {}, ...rest } = body as { properties?: PublicIP["properties"] };
    const address = `20.9.9.${list.length + 1}`;
    const made: PublicIP = {
      id,
      name,
      ...rest,
      properties: { idleTimeoutInMinutes: 4, ipAddress: address, ...properties },
    };
    this.listed = withListed(this.listed, "publicIP", group, [...list.filter((one) => one.id !== id), made]);
    return made;
  }

  /** A controller that starts anew has looked nowhere; what is in Azure is still there. */
  forget(): void {
    this.#unseen = LISTED_KINDS.reduce<Listed>((unseen, kind) => {
      const groups = [...listedOf({ listed: unseen }, kind), ...listedOf(this, kind)];
      return { ...unseen, [kind]: new Map(groups) };
    }, this.#unseen);
    this.listed = {};
  }

  /** The same array until a Service changes, as from a cache. */
  #counting(): readonly Service[] {
    const now = [...this.services.values()].filter(({ spec }) => spec.type === "LoadBalancer");
    if (now.length !== this.#counted.length || now.some((service, at) => service !== this.#counted[at]))
      this.#counted = now;
    return this.#counted;
  }

  #show(need: ReadRequest): void {
    if (need.kind === "list") {
      const hidden = listedOf({ listed: this.#unseen }, need.of).get(need.resourceGroup.toLowerCase()) ?? [];
      this.listed = withListed(this.listed, need.of, need.resourceGroup, hidden);
      this.#unseen = withListed(this.#unseen, need.of, need.resourceGroup, []);
    } else if (need.kind === "subnet") {
      this.subnets = new Map([...this.subnets, [need.name, undefined]]);
    } else {
      this.compute ??= {
        virtualMachines: new Map(),
        networkInterfaces: new Map(),
        scaleSets: new Map(),
        instances: new Map(),
      };
    }
  }

  #remember({ id, fragment }: Extract<AzureStep, { kind: "backendPool" }>): void {
    const key = parentId(id).toLowerCase();
    const names = new Set([...(this.members.get(key) ?? []), ...fragment.members.map(({ name }) => name)]);
    this.members.set(key, [...names]);
  }

  /** One node port for one port, whatever its protocols. */
  #allocate(ports: readonly Partial<ServicePort>[]): ServicePort[] {
    const allocated = new Map<number, number>();
    return ports.map(({ port = 0, ...more }) => {
      const nodePort = more.nodePort ?? allocated.get(port) ?? this.#nextPort++;
      allocated.set(port, nodePort);
      return { protocol: "TCP", port, ...more, nodePort };
    });
  }

  #store(service: Service): Service {
    this.services.set(serviceKey(service), service);
    const { name, uid } = service.metadata;
    const { ports, healthCheckNodePort } = service.spec;
    const nodePorts = ports.map(({ protocol, port, nodePort = 0 }) => ({ protocol, port, nodePort }));
    this.known.set(uid, { name, base: baseName(uid), nodePorts, healthPort: healthCheckNodePort });
    return service;
  }

  /** A Service that is deleted and without finalizers is gone. */
  #collect(): void {
    for (const [key, { metadata }] of this.services) {
      if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0)
        this.services.delete(key);
    }
  }
}

export function aNode(name: string, addresses: readonly string[], more: Partial<Node["spec"]> = {}): Node {
  return {
    metadata: { name, uid: `node-${name}` },
    spec: more,
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  };
}

export function aSubnet(name: string, addressPrefix: string): Subnet {
  return { name, properties: { addressPrefix } };
}

/** With another client's rule. */
function aSecurityGroup(): SecurityGroup {
  return {
    id: "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/networkSecurityGroups/nsg",
    name: "nsg",
    location: "westus2",
    properties: {
      securityRules: [
        {
          name: "foreign-ssh",
          properties: {
            access: "Allow",
            destinationAddressPrefix: "*",
            destinationPortRange: "22",
            direction: "Inbound",
            priority: 200,
            protocol: "Tcp",
            sourceAddressPrefix: "1.2.3.4/32",
            sourcePortRange: "*",
          },
        },
      ],
    },
  };
}
