/** Services that come, change and go, on the usual cluster. */
import type { CrashBed } from "../crash-bed.ts";
import {
  INTERNAL,
  OTHER_PORT,
  PREFIX,
  create,
  createAtAddressOf,
  patch,
  remove,
  type Act,
  type CrashScenario,
} from "./scenario.ts";

const HANDMADE = { "service.beta.kubernetes.io/azure-pip-name": "handmade" };
const SOURCES = { loadBalancerSourceRanges: ["203.0.113.0/24"] };
const annotate = (annotations: Readonly<Record<string, string | null>>): Act =>
  patch("web", { metadata: { annotations } });

export const SERVICE_SCENARIOS: readonly CrashScenario[] = [
  { name: "create external", act: create("web") },
  { name: "create internal", act: create("web", { annotations: INTERNAL }) },
  {
    name: "create two at once",
    act: async (bed) => {
      await create("web")(bed);
      await create("other", { port: OTHER_PORT, annotations: INTERNAL })(bed);
    },
  },
  { name: "change a port", before: [create("web")], act: patch("web", { spec: { ports: [OTHER_PORT] } }) },
  { name: "open to fewer", before: [create("web")], act: patch("web", { spec: SOURCES }) },
  { name: "open to all", before: [create("web", { spec: SOURCES })], act: patch("web", unlimited()) },
  { name: "flip to internal", before: [create("web")], act: annotate(INTERNAL) },
  {
    name: "flip to external",
    before: [create("web", { annotations: INTERNAL })],
    act: annotate({ [`${PREFIX}internal`]: null }),
  },
  {
    name: "another subnet",
    before: [create("web", { annotations: INTERNAL })],
    act: annotate({ [`${PREFIX}internal-subnet`]: "subnet2" }),
  },
  {
    name: "another internal address",
    before: [create("web", { annotations: INTERNAL })],
    act: annotate({ [`${PREFIX}ipv4`]: "10.240.7.7" }),
  },
  { name: "share an address", before: [create("web")], act: createAtAddressOf("web", "other") },
  {
    name: "leave a shared address, its owner first",
    before: [create("web"), createAtAddressOf("web", "other")],
    act: remove("web"),
  },
  {
    name: "leave a shared address, its guest first",
    before: [create("web"), createAtAddressOf("web", "other")],
    act: remove("other"),
  },
  { name: "use a public IP made by hand", before: [makePublicIP], act: create("web", { annotations: HANDMADE }) },
  { name: "move to a public IP made by hand", before: [makePublicIP, create("web")], act: annotate(HANDMADE) },
  {
    name: "give a public IP made by hand back",
    before: [makePublicIP, create("web", { annotations: HANDMADE })],
    act: remove("web"),
  },
  {
    name: "an edit by hand is put right",
    flags: ["--drift-policy=enforce", "--drift-check-period=1s"],
    before: [create("web")],
    act: editRule,
  },
  { name: "delete", before: [create("web")], act: remove("web") },
  {
    name: "delete internal, the last of its load balancer",
    before: [create("web", { annotations: INTERNAL })],
    act: remove("web"),
  },
  {
    name: "delete one of two",
    before: [create("web"), create("other", { port: OTHER_PORT })],
    act: remove("web"),
  },
  {
    name: "no load balancer any more",
    before: [create("web")],
    act: patch("web", { spec: { type: "ClusterIP" } }),
  },
];

function unlimited(): object {
  return { spec: { loadBalancerSourceRanges: null } };
}

async function makePublicIP(bed: CrashBed): Promise<void> {
  await bed.plant("Microsoft.Network/publicIPAddresses/handmade", {
    location: "westus2",
    sku: { name: "Standard" },
    properties: { publicIPAllocationMethod: "Static" },
    tags: { owner: "someone" },
  });
}

interface LoadBalancer {
  readonly properties: { readonly loadBalancingRules: readonly { name: string; properties: object }[] };
}

/** Another client changes the idle timeout of the Service's rule. */
async function editRule(bed: CrashBed): Promise<void> {
  const found = (await bed.resources()).find(({ id }) => id.endsWith("/loadBalancers/kubernetes"));
  const body = found?.body as LoadBalancer;
  const loadBalancingRules = body.properties.loadBalancingRules.map((rule) =>
    rule.name.startsWith("foreign") ? rule : { ...rule, properties: { ...rule.properties, idleTimeoutInMinutes: 30 } },
  );
  await bed.plant("Microsoft.Network/loadBalancers/kubernetes", {
    location: "westus2",
    sku: { name: "Standard" },
    ...body,
    properties: { ...body.properties, loadBalancingRules },
  });
}
