/** Nodes: spec and status. The kubelet configuration that nodes once carried (`configSource`, `config`) is gone from Kubernetes. */
import {
  flag,
  integer,
  list,
  map,
  one,
  quantity,
  sentFlag,
  sentInteger,
  sentText,
  text,
  time,
  type Message,
} from "./message.ts";

const TAINT: Message = { 1: ["key", text], 2: ["value", text], 3: ["effect", text], 4: ["timeAdded", time] };

export const NODE_SPEC: Message = {
  1: ["podCIDR", text],
  2: ["externalID", text],
  3: ["providerID", text],
  4: ["unschedulable", flag],
  5: ["taints", list(one(TAINT))],
  7: ["podCIDRs", list(sentText)],
};

const CONDITION: Message = {
  1: ["type", text],
  2: ["status", text],
  3: ["lastHeartbeatTime", time],
  4: ["lastTransitionTime", time],
  5: ["reason", text],
  6: ["message", text],
};

const ADDRESS: Message = { 1: ["type", text], 2: ["address", sentText] };
const PORT: Message = { 1: ["Port", sentInteger] };
const DAEMON_ENDPOINTS: Message = { 1: ["kubeletEndpoint", one(PORT)] };
const SWAP: Message = { 1: ["capacity", sentInteger] };

const SYSTEM_INFO: Message = {
  1: ["machineID", sentText],
  2: ["systemUUID", sentText],
  3: ["bootID", sentText],
  4: ["kernelVersion", sentText],
  5: ["osImage", sentText],
  6: ["containerRuntimeVersion", sentText],
  7: ["kubeletVersion", sentText],
  8: ["kubeProxyVersion", sentText],
  9: ["operatingSystem", sentText],
  10: ["architecture", sentText],
  11: ["swap", one(SWAP)],
};

const IMAGE: Message = { 1: ["names", list(sentText)], 2: ["sizeBytes", integer] };
const ATTACHED_VOLUME: Message = { 1: ["name", text], 2: ["devicePath", sentText] };
const HANDLER_FEATURES: Message = { 1: ["recursiveReadOnlyMounts", sentFlag], 2: ["userNamespaces", sentFlag] };
const RUNTIME_HANDLER: Message = { 1: ["name", sentText], 2: ["features", one(HANDLER_FEATURES)] };
const FEATURES: Message = { 1: ["supplementalGroupsPolicy", sentFlag] };

export const NODE_STATUS: Message = {
  1: ["capacity", map(quantity)],
  2: ["allocatable", map(quantity)],
  3: ["phase", text],
  4: ["conditions", list(one(CONDITION))],
  5: ["addresses", list(one(ADDRESS))],
  6: ["daemonEndpoints", one(DAEMON_ENDPOINTS)],
  7: ["nodeInfo", one(SYSTEM_INFO)],
  8: ["images", list(one(IMAGE))],
  9: ["volumesInUse", list(sentText)],
  10: ["volumesAttached", list(one(ATTACHED_VOLUME))],
  12: ["runtimeHandlers", list(one(RUNTIME_HANDLER))],
  13: ["features", one(FEATURES)],
};
