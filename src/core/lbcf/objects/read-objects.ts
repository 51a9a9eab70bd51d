/**
 * What the API server sends, read into `objects.ts`: defaults filled in, deprecated spellings translated, what nobody
 * reads left out. Nothing here refuses: an object that the schema let pass is read as well as can be.
 */
import { parseDurationMs } from "./durations.ts";
import { REGISTERED_GATE } from "./names.ts";
import type {
  Acceptance,
  BackendGroup,
  BackendRecord,
  Backends,
  Bind,
  BindLoadBalancerStatus,
  Condition,
  DeregisterPolicy,
  Driver,
  EnsurePolicy,
  LoadBalancer,
  LoadBalancerStatus,
  Meta,
  OwnerReference,
  Pod,
  Port,
  RecordedBackend,
  StringMap,
} from "./objects.ts";
import {
  isGiven,
  type Json,
  listOf,
  numberOf,
  objectOf,
  optional,
  rawMetaOf,
  stringMapOf,
  textOf,
  textsOf,
} from "./read-json.ts";

const DEFAULT_PERIOD_MS = 60_000;
/** Whatever was stored: nobody is asked all the time. */
const SHORTEST_PERIOD_MS = 10_000;
const LONGEST_PERIOD_MS = (2 ** 31 - 1) * 1_000;

/** Any stored object. */
export interface Stored {
  readonly metadata: object;
}

function parts(object: Stored): { metadata: Json; spec: Json; status: Json } {
  const json = object as unknown as Json;
  return { metadata: objectOf(json["metadata"]), spec: objectOf(json["spec"]), status: objectOf(json["status"]) };
}

function metaOf(metadata: Json): Meta {
  const owners = listOf(metadata["ownerReferences"]).map(objectOf);
  const controller = owners.find((owner) => owner["controller"] === true) ?? owners[0];
  return {
    ...rawMetaOf(metadata),
    generation: numberOf(metadata["generation"]) ?? 0,
    ...(controller !== undefined && { owner: ownerOf(controller) }),
  };
}

function ownerOf(owner: Json): OwnerReference {
  return { kind: textOf(owner["kind"]), name: textOf(owner["name"]), uid: textOf(owner["uid"]) };
}

function conditionsOf(status: Json): Condition[] {
  return listOf(status["conditions"]).map((each) => {
    const condition = objectOf(each);
    return {
      type: textOf(condition["type"]),
      status: textOf(condition["status"]) as Condition["status"],
      ...optional("reason", textOf(condition["reason"]) || undefined),
      ...optional("message", textOf(condition["message"]) || undefined),
      ...optional("lastTransitionTime", textOf(condition["lastTransitionTime"]) || undefined),
      ...optional("observedGeneration", numberOf(condition["observedGeneration"])),
    };
  });
}

/** `minPeriod` is a BackendGroup's, `resyncPeriodInSeconds` a Bind's. */
function ensurePolicyOf(value: unknown): EnsurePolicy {
  const policy = objectOf(value);
  if (policy["policy"] !== "Always") return { policy: "IfNotSucc" };
  const seconds = numberOf(policy["resyncPeriodInSeconds"]);
  const givenMs = seconds === undefined ? parseDurationMs(textOf(policy["minPeriod"])) : seconds * 1_000;
  const periodMs = Math.min(LONGEST_PERIOD_MS, Math.max(SHORTEST_PERIOD_MS, givenMs ?? DEFAULT_PERIOD_MS));
  return { policy: "Always", periodMs: Math.round(periodMs / 1_000) * 1_000 }; // records keep whole seconds
}

function portOf(value: unknown): Port {
  const port = objectOf(value);
  const protocol = textOf(port["protocol"]).toUpperCase();
  return {
    port: numberOf(port["port"]) || numberOf(port["portNumber"]) || 0,
    protocol: protocol === "UDP" ? "UDP" : "TCP",
  };
}

export function readDriver(object: Stored): Driver {
  const { metadata, spec, status } = parts(object);
  const webhooks = listOf(spec["webhooks"]).map(objectOf);
  const timeouts = webhooks.flatMap((webhook) => {
    const ms = parseDurationMs(textOf(webhook["timeout"]));
    return ms === undefined ? [] : [[textOf(webhook["name"]), ms] as const];
  });
  return {
    metadata: metaOf(metadata),
    spec: {
      url: textOf(spec["url"]),
      timeoutsMs: Object.fromEntries(timeouts),
      ...optional("caBundle", textOf(spec["caBundle"]) || undefined),
    },
    status: { conditions: conditionsOf(status) },
  };
}

export function readLoadBalancer(object: Stored): LoadBalancer {
  const { metadata, spec, status } = parts(object);
  return {
    metadata: metaOf(metadata),
    spec: {
      lbDriver: textOf(spec["lbDriver"]),
      lbSpec: stringMapOf(spec["lbSpec"]),
      attributes: stringMapOf(spec["attributes"]),
      scope: textsOf(spec["scope"]),
      ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
    },
    status: loadBalancerStatusOf(status),
  };
}

function loadBalancerStatusOf(status: Json): LoadBalancerStatus {
  return {
    ...optional("lbInfo", presentMap(status["lbInfo"])),
    ...optional("lastSyncedAttributes", presentMap(status["lastSyncedAttributes"])),
    conditions: conditionsOf(status),
  };
}

function presentMap(value: unknown): StringMap | undefined {
  return isGiven(value) ? stringMapOf(value) : undefined;
}

export function readBackendGroup(object: Stored): BackendGroup {
  const { metadata, spec, status } = parts(object);
  const named = [...textsOf(spec["loadBalancers"]), textOf(spec["lbName"])].filter((name) => name !== "");
  return {
    kind: "BackendGroup",
    metadata: metaOf(metadata),
    spec: {
      loadBalancers: [...new Set(named)],
      backends: backendsOf(spec),
      parameters: stringMapOf(spec["parameters"]),
      deregister: deregisterOf(spec),
      ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
    },
    status: groupStatusOf(status, status["loadBalancers"]),
  };
}

function backendsOf(spec: Json): Backends {
  if (isGiven(spec["pods"])) return podsOf(objectOf(spec["pods"]));
  if (isGiven(spec["service"])) {
    const service = objectOf(spec["service"]);
    const nodeSelector = stringMapOf(service["nodeSelector"]);
    return { kind: "Service", service: textOf(service["name"]), port: portOf(service["port"]), nodeSelector };
  }
  return { kind: "Static", addresses: [...new Set(textsOf(spec["static"]))] };
}

function podsOf(pods: Json): Backends {
  const given = [...listOf(pods["ports"]), ...(isGiven(pods["port"]) ? [pods["port"]] : [])].map(portOf);
  const ports = new Map(given.map((port) => [`${port.port}/${port.protocol}`, port]));
  const byLabel = objectOf(pods["byLabel"]);
  const select = isGiven(pods["byLabel"])
    ? { labels: stringMapOf(byLabel["selector"]), except: textsOf(byLabel["except"]) }
    : { names: textsOf(pods["byName"]) };
  return { kind: "Pod", ports: [...ports.values()], select };
}

function deregisterOf(spec: Json): DeregisterPolicy {
  const policy = textOf(spec["deregisterPolicy"]);
  if (policy !== "Webhook") return { policy: policy === "IfNotRunning" ? policy : "IfNotReady" };
  const webhook = objectOf(spec["deregisterWebhook"]);
  const failure = textOf(webhook["failurePolicy"]);
  const onFailure = failure === "IfNotReady" || failure === "IfNotRunning" ? failure : "DoNothing";
  return { policy: "Webhook", driver: textOf(webhook["driverName"]), onFailure };
}

function groupStatusOf(status: Json, acceptances: unknown): BackendGroup["status"] {
  return {
    ...optional("observedGeneration", numberOf(status["observedGeneration"])),
    backends: numberOf(status["backends"]) ?? 0,
    registeredBackends: numberOf(status["registeredBackends"]) ?? 0,
    loadBalancers: listOf(acceptances).map((each) => acceptanceOf(objectOf(each))),
    conditions: conditionsOf(status),
  };
}

function acceptanceOf(value: Json): Acceptance {
  return {
    name: textOf(value["name"]),
    accepted: value["accepted"] === true,
    ...optional("parameters", textOf(value["parameters"]) || undefined),
    ...optional("reason", textOf(value["reason"]) || undefined),
    ...optional("message", textOf(value["message"]) || undefined),
  };
}

export function readBackendRecord(object: Stored): BackendRecord {
  const { metadata, spec, status } = parts(object);
  return {
    metadata: metaOf(metadata),
    spec: {
      lbName: textOf(spec["lbName"]),
      lbDriver: textOf(spec["lbDriver"]),
      lbInfo: stringMapOf(spec["lbInfo"]),
      lbAttributes: stringMapOf(spec["lbAttributes"]),
      parameters: stringMapOf(spec["parameters"]),
      ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
      backend: recordedBackendOf(spec),
    },
    status: {
      backendAddr: textOf(status["backendAddr"]),
      ...optional("generatedFrom", textOf(status["generatedFrom"]) || undefined),
      ...optional("registeredAddr", textOf(status["registeredAddr"]) || undefined),
      injectedInfo: stringMapOf(status["injectedInfo"]),
      conditions: conditionsOf(status),
    },
  };
}

function recordedBackendOf(spec: Json): RecordedBackend {
  const pod = objectOf(spec["podBackend"]);
  const service = objectOf(spec["serviceBackend"]);
  if (isGiven(pod["name"])) {
    const uid = optional("uid", textOf(pod["uid"]) || undefined);
    return { kind: "Pod", name: textOf(pod["name"]), ...uid, port: portOf(pod["port"]) };
  }
  if (isGiven(service["name"])) {
    const nodePort = numberOf(service["nodePort"]) ?? 0;
    const nodeName = textOf(service["nodeName"]);
    return { kind: "Service", name: textOf(service["name"]), port: portOf(service["port"]), nodePort, nodeName };
  }
  return { kind: "Static", address: textOf(spec["staticAddr"]) };
}

export function readBind(object: Stored): Bind {
  const { metadata, spec, status } = parts(object);
  const loadBalancers = listOf(spec["loadBalancers"])
    .map(objectOf)
    .map((each) => ({
      name: textOf(each["name"]),
      driver: textOf(each["driver"]),
      spec: stringMapOf(each["spec"]),
      attributes: stringMapOf(each["attributes"]),
    }));
  const meta = metaOf(metadata);
  return {
    metadata: meta,
    spec: { loadBalancers },
    group: {
      kind: "Bind",
      metadata: meta,
      spec: {
        loadBalancers: loadBalancers.map(({ name }) => name),
        backends: podsOf(objectOf(spec["pods"])),
        parameters: stringMapOf(spec["parameters"]),
        deregister: deregisterOf(spec),
        ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
      },
      status: groupStatusOf(status, status["acceptedLoadBalancers"]),
    },
    status: {
      loadBalancerStatuses: listOf(status["loadBalancerStatuses"]).map((each) => bindStatusOf(objectOf(each))),
      conditions: conditionsOf(status),
    },
  };
}

function bindStatusOf(status: Json): BindLoadBalancerStatus {
  return {
    name: textOf(status["name"]),
    driver: textOf(status["driver"]),
    ...optional("spec", presentMap(status["spec"])),
    ...optional("deletionTimestamp", textOf(status["deletionTimestamp"]) || undefined),
    ...loadBalancerStatusOf(status),
  };
}

export function readPod(object: Stored): Pod {
  const { metadata, spec, status } = parts(object);
  const conditions = conditionsOf(status);
  const statusOf = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
  const gates = listOf(spec["readinessGates"]).map((gate) => textOf(objectOf(gate)["conditionType"]));
  return {
    metadata: rawMetaOf(metadata),
    ...optional("nodeName", textOf(spec["nodeName"]) || undefined),
    ...optional("ip", textOf(status["podIP"]) || undefined),
    phase: textOf(status["phase"]),
    ready: statusOf("Ready"),
    containersReady: statusOf("ContainersReady"),
    ...(gates.includes(REGISTERED_GATE) && { gate: statusOf(REGISTERED_GATE) ? "True" : "False" }),
  };
}
