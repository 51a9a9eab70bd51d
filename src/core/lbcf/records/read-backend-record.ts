/** A BackendRecord as the API server sends it. */
import type { BackendRecord, RecordedBackend } from "../objects/objects.ts";
import { isGiven, numberOf, objectOf, optional, stringMapOf, textOf, type Json } from "../objects/read-json.ts";
import { type Stored, parts, metaOf, conditionsOf, ensurePolicyOf, portOf } from "../objects/read-common.ts";

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
