/**
 * Clusters with several Standard load balancers: a list of them, in which each `Local` Service has a pool of its own, and a
 * fleet that grows by itself. A Service is placed, moves, goes; its pool follows its pods; nodes move between load balancers.
 */
import type { ClusterShape } from "../crash-bed.ts";
import {
  INTERNAL,
  NAMESPACE,
  OTHER_PORT,
  PREFIX,
  create,
  doom,
  patch,
  patchNode,
  remove,
  removeNode,
  type Act,
  type CrashScenario,
} from "./scenario.ts";

const NODES = ["vmss000000", "vmss000001"] as const;
const LIST: ClusterShape = {
  topology: { nodes: NODES.length },
  cloudConfig: {
    multipleStandardLoadBalancerConfigurations: [
      { name: "kubernetes", primaryVMSet: "vmss" },
      { name: "second", primaryVMSet: "no-such-set" },
    ],
  },
};
/** Without a set of its own each node goes by its labels. */
const SELECTING: ClusterShape = {
  topology: { nodes: NODES.length },
  cloudConfig: {
    multipleStandardLoadBalancerConfigurations: [
      { name: "kubernetes", primaryVMSet: "no-such-set-1" },
      { name: "second", primaryVMSet: "no-such-set-2", nodeSelector: { matchLabels: { half: "second" } } },
    ],
  },
};
const FLEET: ClusterShape = {
  topology: { nodes: NODES.length },
  cloudConfig: { loadBalancerFleet: { max: 3 }, loadBalancerLimits: "frontends=1" },
};

const on = (loadBalancer: string): Record<string, string> => ({ [`${PREFIX}configurations`]: loadBalancer });
const LOCAL = { externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 };
const CLUSTER = { spec: { externalTrafficPolicy: "Cluster", healthCheckNodePort: null } };
const web = create("web", { annotations: on("kubernetes") });
const other = create("other", { port: OTHER_PORT, annotations: on("second") });
/** One of the two is internal: which of two public addresses goes to whom, when both are asked for at once, is chance. */
const inside = create("inside", { port: OTHER_PORT, annotations: { ...INTERNAL, ...on("second") } });
const local = create("local", { annotations: on("second"), spec: LOCAL });
const LOCAL_SERVED: readonly Act[] = [addPod("local-0", NODES[0]), local];

export const SEVERAL_SCENARIOS: readonly CrashScenario[] = [
  ...[
    { name: "one on each, at once", act: together(web, inside) },
    {
      name: "two change places, at once",
      before: [web, other],
      act: together(moves("web", "second"), moves("other", "kubernetes")),
    },
    { name: "the first of another load balancer", before: [web], act: other },
    { name: "the last of another load balancer goes", before: [web, other], act: remove("other") },
    {
      name: "a Service moves",
      before: [web],
      act: moves("web", "second"),
    },
    {
      name: "a Service becomes internal",
      before: [other],
      act: patch("other", { metadata: { annotations: INTERNAL } }),
    },
    { name: "a node is doomed", before: [web, other], act: doom(NODES[1]) },
  ].map((scenario) => ({ ...scenario, name: `several: ${scenario.name}`, shape: LIST })),
  {
    name: "several: a node moves to another load balancer",
    shape: SELECTING,
    before: [web, other],
    act: patchNode(NODES[1], { metadata: { labels: { half: "second" } } }),
  },
  ...[
    { name: "create", before: LOCAL_SERVED.slice(0, 1), act: local },
    { name: "a pod comes on another node", before: LOCAL_SERVED, act: addPod("local-1", NODES[1]) },
    {
      name: "its last pod goes",
      before: LOCAL_SERVED,
      act: endPod("local-0"),
    },
    { name: "its node is doomed", before: LOCAL_SERVED, act: doom(NODES[0]) },
    { name: "its node goes", before: [addPod("local-1", NODES[1]), ...LOCAL_SERVED], act: removeNode(NODES[1]) },
    { name: "becomes Cluster", before: LOCAL_SERVED, act: patch("local", CLUSTER) },
    {
      name: "moves",
      before: LOCAL_SERVED,
      act: moves("local", "kubernetes"),
    },
    { name: "delete", before: LOCAL_SERVED, act: remove("local") },
  ].map((scenario) => ({ ...scenario, name: `pool of a Local Service: ${scenario.name}`, shape: LIST })),
  ...[
    { name: "the second load balancer is made", before: [create("web")], act: create("other", { port: OTHER_PORT }) },
    {
      name: "the second load balancer goes",
      before: [create("web"), create("other", { port: OTHER_PORT })],
      act: remove("other"),
    },
    {
      name: "the Service of the first goes",
      before: [create("web"), create("other", { port: OTHER_PORT })],
      act: remove("web"),
    },
    {
      name: "a node is doomed",
      before: [create("web"), create("other", { port: OTHER_PORT })],
      act: doom(NODES[1]),
    },
  ].map((scenario) => ({ ...scenario, name: `fleet: ${scenario.name}`, shape: FLEET })),
];

function together(...acts: readonly Act[]): Act {
  return async (bed) => {
    for (const act of acts) await act(bed);
  };
}

function moves(name: string, loadBalancer: string): Act {
  return patch(name, { metadata: { annotations: on(loadBalancer) } });
}

/** A pod of the Local Service, which runs at once at the address that is given. */
function addPod(name: string, nodeName: string): Act {
  return (bed) => {
    const spec = { nodeName, containers: [{ name: "web", image: "web" }] };
    bed.user("POST", `${NAMESPACE}/pods`, { metadata: { name, labels: { app: "local" } }, spec });
    const ip = `10.244.100.${name.slice(-1)}`;
    const conditions = ["ContainersReady", "Ready"].map((type) => ({ type, status: "True" }));
    bed.user("PATCH", `${NAMESPACE}/pods/${name}/status`, {
      status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions },
    });
  };
}

function endPod(name: string): Act {
  return (bed) => void bed.user("DELETE", `${NAMESPACE}/pods/${name}`, { gracePeriodSeconds: 0 });
}
