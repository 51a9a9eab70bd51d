/** A BackendGroup as the API server sends it. A Bind has the same fields for its pods and its status. */
import type { Acceptance, BackendGroup, Backends, DeregisterPolicy } from "../objects/objects.ts";
import {
  isGiven,
  listOf,
  numberOf,
  objectOf,
  optional,
  stringMapOf,
  textOf,
  textsOf,
  type Json,
} from "../objects/read-json.ts";
import { type Stored, parts, metaOf, conditionsOf, ensurePolicyOf, portOf } from "../objects/read-common.ts";

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

export function podsOf(pods: Json): Backends {
  const given = [...listOf(pods["ports"]), ...(isGiven(pods["port"]) ? [pods["port"]] : [])].map(portOf);
  const ports = new Map(given.map((port) => [`${port.port}/${port.protocol}`, port]));
  const byLabel = objectOf(pods["byLabel"]);
  // neither is read as a selector without labels, which is a mistake; an empty byName selects no pod on purpose
  const select =
    !isGiven(pods["byLabel"]) && Array.isArray(pods["byName"])
      ? { names: textsOf(pods["byName"]) }
      : { labels: stringMapOf(byLabel["selector"]), except: textsOf(byLabel["except"]) };
  return { kind: "Pod", ports: [...ports.values()], select };
}

export function deregisterOf(spec: Json): DeregisterPolicy {
  const policy = textOf(spec["deregisterPolicy"]);
  if (policy !== "Webhook") return { policy: policy === "IfNotRunning" ? policy : "IfNotReady" };
  const webhook = objectOf(spec["deregisterWebhook"]);
  const failure = textOf(webhook["failurePolicy"]);
  const onFailure = failure === "IfNotReady" || failure === "IfNotRunning" ? failure : "DoNothing";
  return { policy: "Webhook", driver: textOf(webhook["driverName"]), onFailure };
}

export function groupStatusOf(status: Json, acceptances: unknown): BackendGroup["status"] {
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
