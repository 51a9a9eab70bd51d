/** The status that a kubelet reports for its node and pods. */
import { nthAddress, parseBlock } from "../../../shared/cidr.ts";
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { part } from "../resource.ts";
import type { LoopClient } from "./loop-client.ts";

const VERSION = "v1.33.0";
const POD_RANGES = ["10.244.0.0/16", "fd00:10:244::/112"].map(parseBlock);

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

/** The status of a pod that runs and is ready on this node. */
export function runningStatus(client: LoopClient, pod: KubeObject, node: KubeObject): JsonObject {
  const now = client.now;
  const hostIPs = addressesOf(node);
  const podIPs = part(pod, "spec")["hostNetwork"] === true ? hostIPs : freePodIPs(client);
  const ready = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  const containers = asArray(part(pod, "spec")["containers"]).map(asObject);
  return {
    ...part(pod, "status"),
    phase: "Running",
    hostIP: hostIPs[0],
    hostIPs: hostIPs.map((ip) => ({ ip })),
    podIP: podIPs[0],
    podIPs: podIPs.map((ip) => ({ ip })),
    startTime: now,
    conditions: ready.map((type) => ({ type, status: "True", lastTransitionTime: now })),
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
