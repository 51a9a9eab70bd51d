/** The status that a kubelet reports for its node and pods. */
import { nthAddress, parseBlock } from "../../../shared/cidr.ts";
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { part } from "../resource.ts";
import type { LoopClient } from "./loop-client.ts";

const VERSION = "v1.33.0";
const POD_RANGES = ["10.244.0.0/16", "fd00:10:244::/112"].map(parseBlock);

const READY = "Ready";
const OWN_CONDITIONS = ["PodReadyToStartContainers", "Initialized", READY, "ContainersReady", "PodScheduled"];
const GATES_NOT_READY = "ReadinessGatesNotReady";

export function nodeInfo(): JsonObject {
  const capacity = { cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "100Gi" };
  return {
    capacity,
    allocatable: capacity,
    nodeInfo: {
      machineID: "",
      systemUUID: "",
      bootID: "",
      kernelVersion: "6.8.0",
      osImage: "Sandbox Linux",
      containerRuntimeVersion: "sandbox://1.0",
      kubeletVersion: VERSION,
      kubeProxyVersion: VERSION,
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}

export function nodeConditions(now: string): JsonObject[] {
  const condition = (type: string, status: string, reason: string, message: string): JsonObject => ({
    type,
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
    reason,
    message,
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
  ];
}

/** The status of a pod that runs on this node, and is ready unless a readiness gate is unmet. */
export function runningStatus(client: LoopClient, pod: KubeObject, node: KubeObject): JsonObject {
  const now = client.now;
  const hostIPs = addressesOf(node);
  const podIPs = part(pod, "spec")["hostNetwork"] === true ? hostIPs : freePodIPs(client);
  const ofOthers = conditionsOf(pod).filter(({ type }) => !OWN_CONDITIONS.includes(asString(type)));
  const containers = asArray(part(pod, "spec")["containers"]).map(asObject);
  return {
    ...part(pod, "status"),
    phase: "Running",
    hostIP: hostIPs[0],
    hostIPs: hostIPs.map((ip) => ({ ip })),
    podIP: podIPs[0],
    podIPs: podIPs.map((ip) => ({ ip })),
    startTime: now,
    conditions: [
      ...ofOthers,
      ...OWN_CONDITIONS.map((type) => (type === READY ? readyCondition(pod, now) : met(type, now))),
    ],
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    })),
  };
}

/**
 * The conditions of a running pod after another controller changed its readiness gates. A Ready condition that is False
 * for another reason stays, as it does while the containers are not ready.
 */
export function gatedConditions(pod: KubeObject, now: string): readonly JsonObject[] {
  const containers = conditionsOf(pod).find(({ type }) => type === "ContainersReady");
  return conditionsOf(pod).map((condition) => {
    if (containers?.["status"] !== "True") return condition;
    const isOurs = condition["status"] === "True" || condition["reason"] === GATES_NOT_READY;
    if (condition["type"] !== READY || !isOurs) return condition;
    const next = readyCondition(pod, now);
    const { lastTransitionTime } = condition["status"] === next["status"] ? condition : next;
    return { ...next, lastTransitionTime };
  });
}

function readyCondition(pod: KubeObject, now: string): JsonObject {
  const message = unmetGates(pod).join(", ");
  if (message === "") return met(READY, now);
  return { type: READY, status: "False", reason: GATES_NOT_READY, message, lastTransitionTime: now };
}

/** Why the pod's readiness gates are unmet, in the words of a kubelet. */
function unmetGates(pod: KubeObject): string[] {
  const gates = asArray(part(pod, "spec")["readinessGates"]).map((gate) => asString(asObject(gate)["conditionType"]));
  return gates.flatMap((gate) => {
    const status = conditionsOf(pod).find(({ type }) => type === gate)?.["status"];
    if (status === "True") return [];
    if (status === undefined) return [`corresponding condition of pod readiness gate "${gate}" does not exist.`];
    return [`the status of pod readiness gate "${gate}" is not "True", but ${asString(status)}`];
  });
}

function met(type: string, now: string): JsonObject {
  return { type, status: "True", lastTransitionTime: now };
}

function conditionsOf(pod: KubeObject): readonly JsonObject[] {
  return asArray(part(pod, "status")["conditions"]).map(asObject);
}

function addressesOf(node: KubeObject): string[] {
  const addresses = asArray(part(node, "status")["addresses"]).map(asObject);
  return addresses.filter((address) => address["type"] === "InternalIP").map((address) => asString(address["address"]));
}

/** One address of each family at the first offset that no pod has. */
function freePodIPs(client: LoopClient): string[] {
  const taken = new Set(client.all("pods").map((pod) => part(pod, "status")["podIP"]));
  for (let offset = 2; ; offset++) {
    const ips = POD_RANGES.flatMap((range) => (range === undefined ? [] : [nthAddress(range, offset)]));
    if (!taken.has(ips[0])) return ips;
  }
}
