/** Objects for tests of LBCF's decisions: what matters is given, the rest is plain. */
import type {
  BackendGroup,
  BackendRecord,
  Backends,
  LoadBalancer,
  Meta,
  Pod,
  RecordSpec,
  RecordStatus,
} from "../../src/core/lbcf/objects/objects.ts";
import { FINALIZER } from "../../src/core/lbcf/objects/names.ts";

export const DELETED = "2026-01-01T00:00:00Z";
const NEVER = { policy: "IfNotSucc" } as const;

export function meta(name: string, more: Partial<Meta> = {}): Meta {
  return { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1", generation: 1, ...more };
}

export function pod(name: string, more: Partial<Pod> = {}, metadata: Partial<Meta> = {}): Pod {
  return {
    metadata: { ...meta(name), labels: { app: "web" }, ...metadata },
    nodeName: "node-1",
    ip: "10.0.0.1",
    phase: "Running",
    ready: true,
    containersReady: true,
    ...more,
  };
}

export function loadBalancer(
  name: string,
  more: Partial<LoadBalancer["spec"]> = {},
  metadata: Partial<Meta> = {},
): LoadBalancer {
  return {
    metadata: { ...meta(name), finalizers: [FINALIZER.loadBalancer], ...metadata },
    spec: { lbDriver: "driver", lbSpec: { id: name }, attributes: {}, scope: [], ensurePolicy: NEVER, ...more },
    status: {
      lbInfo: { id: name },
      lastSyncedAttributes: {},
      conditions: [
        { type: "Created", status: "True" },
        { type: "AttributesSynced", status: "True" },
      ],
    },
  };
}

const PODS: Backends = {
  kind: "Pod",
  ports: [{ port: 80, protocol: "TCP" }],
  select: { labels: { app: "web" }, except: [] },
};

export function group(
  name: string,
  more: Partial<BackendGroup["spec"]> = {},
  metadata: Partial<Meta> = {},
): BackendGroup {
  const loadBalancers = more.loadBalancers ?? ["lb"];
  return {
    kind: "BackendGroup",
    metadata: meta(name, metadata),
    spec: {
      loadBalancers,
      backends: PODS,
      parameters: {},
      deregister: { policy: "IfNotReady" },
      ensurePolicy: NEVER,
      ...more,
    },
    status: {
      backends: 0,
      registeredBackends: 0,
      loadBalancers: loadBalancers.map((each) => ({ name: each, accepted: true, parameters: "[]" })),
      conditions: [],
    },
  };
}

export function record(
  status: Partial<RecordStatus> = {},
  metadata: Partial<Meta> = {},
  spec: Partial<RecordSpec> = {},
): BackendRecord {
  return {
    metadata: { ...meta("record"), finalizers: [FINALIZER.record], ...metadata },
    spec: {
      lbName: "lb",
      lbDriver: "driver",
      lbInfo: { id: "lb" },
      lbAttributes: {},
      parameters: {},
      ensurePolicy: NEVER,
      backend: { kind: "Pod", name: "web-0", uid: "uid-web-0", port: { port: 80, protocol: "TCP" } },
      ...spec,
    },
    status: { backendAddr: "", injectedInfo: {}, conditions: [], ...status },
  };
}

/** The status of one that is registered at this address. */
export function registered(address: string, source = address): RecordStatus {
  return {
    backendAddr: address,
    generatedFrom: source,
    registeredAddr: address,
    injectedInfo: {},
    conditions: [{ type: "Registered", status: "True", observedGeneration: 1 }],
  };
}
