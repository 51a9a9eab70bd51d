/** Pods in load balancers of their own: LBCF with the driver that is built in. */
import type { ClusterShape, CrashBed } from "../crash-bed.ts";
import { NAMESPACE, doom, type Act, type CrashScenario } from "./scenario.ts";

const LBCF = "/apis/lbcf.tkestack.io";
const PLACES: Readonly<Record<string, string>> = {
  LoadBalancer: `${LBCF}/v1beta1/namespaces/default/loadbalancers`,
  BackendGroup: `${LBCF}/v1beta1/namespaces/default/backendgroups`,
  Bind: `${LBCF}/v1/namespaces/default/binds`,
};
const SHAPE: ClusterShape = { topology: { nodes: 2 }, backends: true };
const NODE = "vmss000001";
const LABELS = { app: "web" };
const GATE = "lbcf.tkestack.io/registered";
const ATTRIBUTES = { frontend: "internal", rules: "80:8080/TCP" };

const made = make("LoadBalancer", "lb", { lbDriver: "lbcf-azure", lbSpec: { name: "pods" }, attributes: ATTRIBUTES });
const PODS = { ports: [{ port: 8080, protocol: "TCP" }], byLabel: { selector: LABELS } };
const grouped = make("BackendGroup", "web", { loadBalancers: ["lb"], pods: PODS });
const bound = make("Bind", "web", {
  loadBalancers: [{ name: "lb", driver: "lbcf-azure", spec: { name: "pods" }, attributes: ATTRIBUTES }],
  pods: PODS,
});
const SERVED: readonly Act[] = [together(addPod("web-0"), addPod("web-1")), made, grouped];

export const BACKEND_SCENARIOS: readonly CrashScenario[] = [
  { name: "LBCF: a load balancer is made", act: made },
  { name: "LBCF: a group registers its pods", before: SERVED.slice(0, 2), act: grouped },
  { name: "LBCF: everything at once", act: together(...SERVED) },
  { name: "LBCF: a pod comes", before: SERVED, act: addPod("web-2") },
  { name: "LBCF: a pod with a readiness gate comes", before: SERVED, act: addPod("web-2", [{ conditionType: GATE }]) },
  { name: "LBCF: a pod gets another address", before: SERVED, act: readdress("web-1", "10.244.200.1") },
  { name: "LBCF: a pod ends", before: SERVED, act: endPod("web-1", 2) },
  { name: "LBCF: a pod is gone", before: SERVED, act: endPod("web-1", 0) },
  { name: "LBCF: a pod's node is doomed", before: SERVED, act: doom(NODE) },
  {
    name: "LBCF: other rules",
    before: SERVED,
    act: change("LoadBalancer", "lb", { spec: { attributes: { ...ATTRIBUTES, rules: "80:8080/TCP,81:8081" } } }),
  },
  { name: "LBCF: a group goes", before: SERVED, act: drop("BackendGroup", "web") },
  { name: "LBCF: a load balancer goes", before: SERVED, act: drop("LoadBalancer", "lb") },
  {
    name: "LBCF: group and load balancer go",
    before: SERVED,
    act: together(drop("BackendGroup", "web"), drop("LoadBalancer", "lb")),
  },
  { name: "LBCF: a Bind comes", before: SERVED.slice(0, 1), act: bound },
  { name: "LBCF: a Bind goes", before: [...SERVED.slice(0, 1), bound], act: drop("Bind", "web") },
].map((scenario) => ({ ...scenario, shape: SHAPE }));

function together(...acts: readonly Act[]): Act {
  return async (bed) => {
    for (const act of acts) await act(bed);
  };
}

function make(kind: string, name: string, spec: object): Act {
  return (bed) => {
    const version = kind === "Bind" ? "v1" : "v1beta1";
    const body = { apiVersion: `lbcf.tkestack.io/${version}`, kind, metadata: { name }, spec };
    bed.user("POST", PLACES[kind] ?? "", body);
  };
}

function change(kind: string, name: string, merge: object): Act {
  return (bed) => void bed.user("PATCH", `${PLACES[kind]}/${name}`, merge);
}

function drop(kind: string, name: string): Act {
  return (bed) => void bed.user("DELETE", `${PLACES[kind]}/${name}`);
}

/** It runs at once; its address is given, since who comes first would get another in every run. */
function addPod(name: string, readinessGates: readonly object[] = []): Act {
  return (bed) => {
    const spec = { nodeName: NODE, containers: [{ name: "web", image: "web" }], readinessGates };
    bed.user("POST", `${NAMESPACE}/pods`, { metadata: { name, labels: LABELS }, spec });
    const conditions = [
      { type: "ContainersReady", status: "True" },
      { type: "Ready", status: readinessGates.length === 0 ? "True" : "False" },
    ];
    setStatus(bed, name, { phase: "Running", ...addressed(`10.244.100.${name.slice(-1)}`), conditions });
  };
}

function readdress(name: string, ip: string): Act {
  return (bed) => setStatus(bed, name, addressed(ip));
}

function endPod(name: string, gracePeriodSeconds: number): Act {
  return (bed) => void bed.user("DELETE", `${NAMESPACE}/pods/${name}`, { gracePeriodSeconds });
}

function addressed(ip: string): object {
  return { podIP: ip, podIPs: [{ ip }] };
}

function setStatus(bed: CrashBed, name: string, status: object): void {
  bed.user("PATCH", `${NAMESPACE}/pods/${name}/status`, { status });
}
