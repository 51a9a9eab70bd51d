/** Compares record specs, and writes them in LBCF's spelling. */
import { formatDuration } from "../objects/durations.ts";
import { FINALIZER, LBCF_GROUP, recordLabels } from "../objects/names.ts";
import type { BackendGroup, EnsurePolicy, Port, RecordedBackend, RecordSpec, StringMap } from "../objects/objects.ts";

export interface RecordDraft {
  readonly name: string;
  readonly spec: RecordSpec;
}

/** Whether a record with spec `stored` needs no write to match `wanted`. Both belong to the same record name. */
export function sameSpec(stored: RecordSpec, wanted: RecordSpec): boolean {
  return (
    stored.lbName === wanted.lbName &&
    stored.lbDriver === wanted.lbDriver &&
    sameMap(stored.lbInfo, wanted.lbInfo) &&
    sameMap(stored.lbAttributes, wanted.lbAttributes) &&
    sameMap(stored.parameters, wanted.parameters) &&
    samePolicy(stored.ensurePolicy, wanted.ensurePolicy) &&
    sameBackend(stored.backend, wanted.backend)
  );
}

export function sameMap(one: StringMap, other: StringMap): boolean {
  if (one === other) return true;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

function samePolicy(one: EnsurePolicy, other: EnsurePolicy): boolean {
  if (one.policy !== "Always" || other.policy !== "Always") return one.policy === other.policy;
  return one.periodMs === other.periodMs;
}

function sameBackend(stored: RecordedBackend, wanted: RecordedBackend): boolean {
  if (stored.kind === "Pod" && wanted.kind === "Pod") {
    // records of an older LBCF hold the uid only as part of their name
    return stored.name === wanted.name && (stored.uid === undefined || stored.uid === wanted.uid);
  }
  if (stored.kind === "Service" && wanted.kind === "Service") {
    return stored.nodePort === wanted.nodePort && stored.nodeName === wanted.nodeName;
  }
  return stored.kind === wanted.kind;
}

/** The record to create, with its finalizer set from the start. */
export function newRecord(group: BackendGroup, { name, spec }: RecordDraft) {
  const { namespace, name: ownerName, uid } = group.metadata;
  const version = group.kind === "Bind" ? "v1" : "v1beta1";
  const owner = { apiVersion: `${LBCF_GROUP}/${version}`, kind: group.kind, name: ownerName, uid };
  return {
    metadata: {
      name,
      namespace,
      labels: recordLabels(group, spec.lbName, spec.lbDriver, spec.backend),
      finalizers: [FINALIZER.record],
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: recordSpecOnWire(spec),
  };
}

/**
 * What is empty, or the default, is left out, as LBCF does: it compares a record with its group field by field, where an empty map
 * differs from none, and would write and ensure each backend once more when it takes its objects back.
 */
export function recordSpecOnWire(spec: RecordSpec) {
  const { lbName, lbDriver, lbInfo, lbAttributes, parameters, ensurePolicy, backend } = spec;
  return {
    lbName,
    lbDriver,
    lbInfo,
    ...(!isEmpty(lbAttributes) && { lbAttributes }),
    ...(!isEmpty(parameters) && { parameters }),
    ...ensurePolicyOnWire(ensurePolicy),
    ...backendOnWire(backend),
  };
}

function isEmpty(map: StringMap): boolean {
  return Object.keys(map).length === 0;
}

function ensurePolicyOnWire(policy: EnsurePolicy): { ensurePolicy?: { policy: string; minPeriod: string } } {
  if (policy.policy !== "Always") return {};
  return { ensurePolicy: { policy: policy.policy, minPeriod: formatDuration(policy.periodMs) } };
}

function backendOnWire(backend: RecordedBackend): object {
  switch (backend.kind) {
    case "Pod":
      return { podBackend: { name: backend.name, uid: backend.uid, port: portOnWire(backend.port) } };
    case "Service": {
      const { name, port, nodePort, nodeName } = backend;
      return { serviceBackend: { name, port: portOnWire(port), nodePort, nodeName } };
    }
    case "Static":
      return { staticAddr: backend.address };
  }
}

/** Both spellings, for old and new drivers. */
export function portOnWire({ port, protocol }: Port): { port: number; portNumber: number; protocol: string } {
  return { port, portNumber: port, protocol };
}
