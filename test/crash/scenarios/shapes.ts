/** The same on clusters of other shapes: pools of network interfaces, availability sets, Basic, both families. */
import type { ClusterShape, CrashBed } from "../crash-bed.ts";
import {
  INTERNAL,
  PREFIX,
  configure,
  create,
  doom,
  patch,
  remove,
  removeNode,
  save,
  type CrashScenario,
} from "./scenario.ts";

interface Shape {
  readonly name: string;
  readonly shape: ClusterShape;
  readonly node: string;
  /** Basic has no admin state. */
  readonly hasAdminState: boolean;
}

const NICS = { nodes: 2, backendPool: "nodeIPConfiguration" } as const;

const SHAPES: readonly Shape[] = [
  { name: "uniform scale set", shape: { topology: NICS }, node: "vmss000001", hasAdminState: true },
  {
    name: "flexible scale set",
    shape: { topology: { ...NICS, vmType: "vmssflex" } },
    node: "vmss000001",
    hasAdminState: true,
  },
  {
    name: "availability set",
    shape: { topology: { ...NICS, vmType: "standard" } },
    node: "agent-1",
    hasAdminState: true,
  },
  {
    name: "Basic",
    shape: { topology: { ...NICS, vmType: "standard", sku: "basic" } },
    node: "agent-1",
    hasAdminState: false,
  },
];

/** Private link services need pools of network interfaces. */
const LINKS: ClusterShape = { topology: NICS };
const LINK = {
  ...INTERNAL,
  "service.beta.kubernetes.io/azure-pls-create": "true",
  "service.beta.kubernetes.io/azure-pls-name": "link",
};

const POOL_TYPE = "loadBalancerBackendPoolConfigurationType";

const DUAL_STACK = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const IPV4_ALONE = { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] };
const BOTH: ClusterShape = { topology: { nodes: 2 }, dualStack: true };

export const SHAPE_SCENARIOS: readonly CrashScenario[] = [
  ...SHAPES.flatMap(onShape),
  { name: "private link service: create", shape: LINKS, act: create("web", { annotations: LINK }) },
  {
    name: "private link service: change",
    shape: LINKS,
    before: [create("web", { annotations: LINK })],
    act: patch("web", { metadata: { annotations: { "service.beta.kubernetes.io/azure-pls-fqdns": "a.example.com" } } }),
  },
  {
    name: "private link service: move to another frontend",
    shape: LINKS,
    before: [create("web", { annotations: LINK }), connect],
    act: patch("web", { metadata: { annotations: { [`${PREFIX}internal-subnet`]: "subnet2" } } }),
  },
  {
    name: "private link service: delete, with a connection",
    shape: LINKS,
    before: [create("web", { annotations: LINK }), connect],
    act: remove("web"),
  },
  migration("network interfaces to addresses", NICS, { [POOL_TYPE]: "nodeIP" }),
  migration("network interfaces to addresses, by Azure's action", NICS, {
    [POOL_TYPE]: "nodeIP",
    enableMigrateToIPBasedBackendPoolAPI: true,
  }),
  migration("addresses to network interfaces", { nodes: 2 }, { [POOL_TYPE]: "nodeIPConfiguration" }),
  { name: "dual stack: create", shape: BOTH, act: create("web", { spec: DUAL_STACK }) },
  {
    name: "dual stack: one family less",
    shape: BOTH,
    before: [create("web", { spec: DUAL_STACK })],
    act: patch("web", { spec: IPV4_ALONE }),
  },
  {
    name: "dual stack: one family more",
    shape: BOTH,
    before: [create("web", { spec: IPV4_ALONE })],
    act: patch("web", { spec: DUAL_STACK }),
  },
  { name: "dual stack: delete", shape: BOTH, before: [create("web", { spec: DUAL_STACK })], act: remove("web") },
  {
    name: "dual stack: a node is doomed",
    shape: BOTH,
    before: [create("web", { spec: DUAL_STACK })],
    act: doom("vmss000001"),
  },
];

function migration(
  name: string,
  topology: NonNullable<ClusterShape["topology"]>,
  change: Readonly<Record<string, unknown>>,
): CrashScenario {
  return {
    name: `migration: ${name}`,
    shape: { topology },
    flags: ["--accept-change=pool-type"],
    before: [create("web")],
    act: configure(change),
    startsAfterAct: true,
  };
}

function onShape({ name, shape, node, hasAdminState }: Shape): readonly CrashScenario[] {
  const named = (what: string): { name: string; shape: ClusterShape } => ({ name: `${name}: ${what}`, shape });
  return [
    { ...named("create external"), act: create("web") },
    {
      ...named("flip to internal"),
      before: [create("web")],
      act: patch("web", { metadata: { annotations: INTERNAL } }),
    },
    { ...named("delete"), before: [create("web")], act: remove("web") },
    { ...named("a node goes"), before: [create("web")], act: removeNode(node) },
    ...(hasAdminState
      ? [
          { ...named("a node is doomed"), before: [create("web")], act: doom(node) },
          { ...named("a doomed node is saved"), before: [create("web"), doom(node)], act: save(node) },
        ]
      : []),
  ];
}

/** Another user's private endpoint. */
async function connect(bed: CrashBed): Promise<void> {
  await bed.plant("Microsoft.Network/privateLinkServices/link/privateEndpointConnections/pe", { properties: {} });
}
