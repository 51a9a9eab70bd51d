/** Services and EndpointSlices: spec, status and parts. */
import {
  flag,
  integer,
  integerOrText,
  list,
  map,
  one,
  sentFlag,
  sentInteger,
  sentText,
  text,
  time,
  type Message,
} from "./message.ts";
import { OBJECT_REFERENCE } from "./metadata.ts";

const SERVICE_PORT: Message = {
  1: ["name", text],
  2: ["protocol", text],
  3: ["port", sentInteger],
  4: ["targetPort", integerOrText],
  5: ["nodePort", integer],
  6: ["appProtocol", sentText],
};

const CLIENT_IP: Message = { 1: ["timeoutSeconds", sentInteger] };
const SESSION_AFFINITY: Message = { 1: ["clientIP", one(CLIENT_IP)] };

export const SERVICE_SPEC: Message = {
  1: ["ports", list(one(SERVICE_PORT))],
  2: ["selector", map(sentText)],
  3: ["clusterIP", text],
  4: ["type", text],
  5: ["externalIPs", list(sentText)],
  7: ["sessionAffinity", text],
  8: ["loadBalancerIP", text],
  9: ["loadBalancerSourceRanges", list(sentText)],
  10: ["externalName", text],
  11: ["externalTrafficPolicy", text],
  12: ["healthCheckNodePort", integer],
  13: ["publishNotReadyAddresses", flag],
  14: ["sessionAffinityConfig", one(SESSION_AFFINITY)],
  17: ["ipFamilyPolicy", sentText],
  18: ["clusterIPs", list(sentText)],
  19: ["ipFamilies", list(sentText)],
  20: ["allocateLoadBalancerNodePorts", sentFlag],
  21: ["loadBalancerClass", sentText],
  22: ["internalTrafficPolicy", sentText],
  23: ["trafficDistribution", sentText],
};

const PORT_STATUS: Message = { 1: ["port", sentInteger], 2: ["protocol", text], 3: ["error", sentText] };

const INGRESS: Message = {
  1: ["ip", text],
  2: ["hostname", text],
  3: ["ipMode", sentText],
  4: ["ports", list(one(PORT_STATUS))],
};

const CONDITION: Message = {
  1: ["type", text],
  2: ["status", text],
  3: ["observedGeneration", integer],
  4: ["lastTransitionTime", time],
  5: ["reason", text],
  6: ["message", sentText],
};

const LOAD_BALANCER_STATUS: Message = { 1: ["ingress", list(one(INGRESS))] };

export const SERVICE_STATUS: Message = {
  1: ["loadBalancer", one(LOAD_BALANCER_STATUS)],
  2: ["conditions", list(one(CONDITION))],
};

const ENDPOINT_CONDITIONS: Message = {
  1: ["ready", sentFlag],
  2: ["serving", sentFlag],
  3: ["terminating", sentFlag],
};

const NAMED: Message = { 1: ["name", text] };
const HINTS: Message = { 1: ["forZones", list(one(NAMED))], 2: ["forNodes", list(one(NAMED))] };

export const ENDPOINT: Message = {
  1: ["addresses", list(sentText)],
  2: ["conditions", one(ENDPOINT_CONDITIONS)],
  3: ["hostname", sentText],
  4: ["targetRef", one(OBJECT_REFERENCE)],
  5: ["deprecatedTopology", map(sentText)],
  6: ["nodeName", sentText],
  7: ["zone", sentText],
  8: ["hints", one(HINTS)],
};

export const ENDPOINT_PORT: Message = {
  1: ["name", sentText],
  2: ["protocol", sentText],
  3: ["port", sentInteger],
  4: ["appProtocol", sentText],
};
