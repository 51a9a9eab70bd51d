/** The kinds whose protobuf bodies are decoded: all built-in kinds but Pods. */
import {
  base64,
  integer,
  list,
  map,
  microTime,
  one,
  sentFlag,
  sentInteger,
  sentText,
  text,
  time,
  type Message,
} from "./message.ts";
import { OBJECT_META, OBJECT_REFERENCE } from "./metadata.ts";
import { NODE_SPEC, NODE_STATUS } from "./node.ts";
import { ENDPOINT, ENDPOINT_PORT, SERVICE_SPEC, SERVICE_STATUS } from "./service.ts";

const METADATA = ["metadata", one(OBJECT_META)] as const;

const NAMESPACE_CONDITION: Message = {
  1: ["type", text],
  2: ["status", text],
  4: ["lastTransitionTime", time],
  5: ["reason", text],
  6: ["message", text],
};

const NAMESPACE_SPEC: Message = { 1: ["finalizers", list(sentText)] };
const NAMESPACE_STATUS: Message = { 1: ["phase", text], 2: ["conditions", list(one(NAMESPACE_CONDITION))] };

const LEASE_SPEC: Message = {
  1: ["holderIdentity", sentText],
  2: ["leaseDurationSeconds", sentInteger],
  3: ["acquireTime", microTime],
  4: ["renewTime", microTime],
  5: ["leaseTransitions", sentInteger],
  6: ["strategy", sentText],
  7: ["preferredHolder", sentText],
};

const EVENT_SOURCE: Message = { 1: ["component", text], 2: ["host", text] };
const EVENT_SERIES: Message = { 1: ["count", integer], 2: ["lastObservedTime", microTime] };

const CORE_EVENT: Message = {
  1: METADATA,
  2: ["involvedObject", one(OBJECT_REFERENCE)],
  3: ["reason", text],
  4: ["message", text],
  5: ["source", one(EVENT_SOURCE)],
  6: ["firstTimestamp", time],
  7: ["lastTimestamp", time],
  8: ["count", integer],
  9: ["type", text],
  10: ["eventTime", microTime],
  11: ["series", one(EVENT_SERIES)],
  12: ["action", text],
  13: ["related", one(OBJECT_REFERENCE)],
  14: ["reportingComponent", text],
  15: ["reportingInstance", text],
};

const EVENT: Message = {
  1: METADATA,
  2: ["eventTime", microTime],
  3: ["series", one(EVENT_SERIES)],
  4: ["reportingController", text],
  5: ["reportingInstance", text],
  6: ["action", text],
  7: ["reason", text],
  8: ["regarding", one(OBJECT_REFERENCE)],
  9: ["related", one(OBJECT_REFERENCE)],
  10: ["note", text],
  11: ["type", text],
  12: ["deprecatedSource", one(EVENT_SOURCE)],
  13: ["deprecatedFirstTimestamp", time],
  14: ["deprecatedLastTimestamp", time],
  15: ["deprecatedCount", integer],
};

/** By `apiVersion/kind`. */
export const KINDS: Readonly<Record<string, Message>> = {
  "v1/Namespace": { 1: METADATA, 2: ["spec", one(NAMESPACE_SPEC)], 3: ["status", one(NAMESPACE_STATUS)] },
  "v1/ConfigMap": {
    1: METADATA,
    2: ["data", map(sentText)],
    3: ["binaryData", map(base64)],
    4: ["immutable", sentFlag],
  },
  "v1/Secret": {
    1: METADATA,
    2: ["data", map(base64)],
    3: ["type", text],
    4: ["stringData", map(sentText)],
    5: ["immutable", sentFlag],
  },
  "v1/Service": { 1: METADATA, 2: ["spec", one(SERVICE_SPEC)], 3: ["status", one(SERVICE_STATUS)] },
  "v1/Node": { 1: METADATA, 2: ["spec", one(NODE_SPEC)], 3: ["status", one(NODE_STATUS)] },
  "v1/Event": CORE_EVENT,
  "events.k8s.io/v1/Event": EVENT,
  "coordination.k8s.io/v1/Lease": { 1: METADATA, 2: ["spec", one(LEASE_SPEC)] },
  "discovery.k8s.io/v1/EndpointSlice": {
    1: METADATA,
    2: ["endpoints", list(one(ENDPOINT))],
    3: ["ports", list(one(ENDPOINT_PORT))],
    4: ["addressType", text],
  },
};
