/** Keeps the EndpointSlices of Services with a selector, as kube-controller-manager does. */
import { familyOf } from "../service-ranges.ts";
import type { HistoryEntry, JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { type ServicePort, specOf } from "../kinds/service/spec.ts";
import { part } from "../resource.ts";
import { keyOf } from "../state.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { LoopClient } from "./loop-client.ts";

const SLICES = "endpointslices.discovery.k8s.io";
const MANAGER = "endpointslice-controller.k8s.io";
const SERVICE_LABEL = "kubernetes.io/service-name";
const MANAGER_LABEL = "endpointslice.kubernetes.io/managed-by";
const MOST_ENDPOINTS = 100;

export function updateEndpointSlices(
  client: LoopClient,
  queue: DelayQueue,
  { collection, object, previous }: HistoryEntry,
): void {
  const schedule = (service: KubeObject): void => {
    const key = keyOf(service);
    queue.schedule(`slices/${key}`, 0, () => reconcileSlices(client, key));
  };
  if (collection === "services") schedule(object);
  if (collection !== "pods") return;
  for (const service of client.all("services")) {
    if (service.metadata.namespace !== object.metadata.namespace) continue;
    if (selects(service, object) || (previous !== undefined && selects(service, previous))) schedule(service);
  }
}

function selects(service: KubeObject, pod: KubeObject): boolean {
  const selector = Object.entries(specOf(service).selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => pod.metadata.labels?.[key] === value);
}

function reconcileSlices(client: LoopClient, key: string): void {
  const service = client.get("services", key);
  // The garbage collector deletes the slices of a deleted Service.
  if (service === undefined || Object.keys(specOf(service).selector ?? {}).length === 0) return;
  const existing = client.all(SLICES).filter((slice) => isSliceOf(slice, service));
  const wanted = (specOf(service).ipFamilies ?? []).flatMap((family) => desiredSlices(client, service, family));
  for (const slice of wanted) {
    const at = existing.findIndex((other) => other["addressType"] === slice["addressType"]);
    const [reused] = at < 0 ? [] : existing.splice(at, 1);
    if (reused === undefined) client.create(SLICES, slice);
    else client.update(SLICES, { ...slice, metadata: { ...reused.metadata, labels: slice.metadata.labels ?? {} } });
  }
  for (const slice of existing) client.remove(SLICES, keyOf(slice));
}

function isSliceOf(slice: KubeObject, service: KubeObject): boolean {
  const { namespace, labels = {} } = slice.metadata;
  return (
    namespace === service.metadata.namespace &&
    labels[SERVICE_LABEL] === service.metadata.name &&
    labels[MANAGER_LABEL] === MANAGER
  );
}

/** At least one slice per family, even without endpoints; at most 100 endpoints in each. */
function desiredSlices(client: LoopClient, service: KubeObject, family: string): KubeObject[] {
  const pods = client
    .all("pods")
    .filter((pod) => pod.metadata.namespace === service.metadata.namespace && selects(service, pod))
    .filter((pod) => addressOf(pod, family) !== undefined);
  const endpoints = pods.map((pod) => endpointOf(service, pod, family));
  const ports = (specOf(service).ports ?? []).flatMap((port) => slicePort(port, pods[0]));
  const chunks = Array.from({ length: Math.max(1, Math.ceil(endpoints.length / MOST_ENDPOINTS)) }, (_, index) =>
    endpoints.slice(index * MOST_ENDPOINTS, (index + 1) * MOST_ENDPOINTS),
  );
  return chunks.map((chunk) => newSlice(service, family, chunk, ports));
}

function newSlice(service: KubeObject, addressType: string, endpoints: JsonObject[], ports: JsonObject[]): KubeObject {
  const { name = "", namespace = "", uid = "" } = service.metadata;
  const owner = { apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: { ...service.metadata.labels, [SERVICE_LABEL]: name, [MANAGER_LABEL]: MANAGER },
      ownerReferences: [owner],
    },
    addressType,
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}

function addressOf(pod: KubeObject, family: string): string | undefined {
  const addresses = asArray(part(pod, "status")["podIPs"]).map((item) => asString(asObject(item)["ip"]));
  return addresses.find((ip) => familyOf(ip) === family);
}

function endpointOf(service: KubeObject, pod: KubeObject, family: string): JsonObject {
  const conditions = asArray(part(pod, "status")["conditions"]).map(asObject);
  const serving = conditions.some((condition) => condition["type"] === "Ready" && condition["status"] === "True");
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [addressOf(pod, family)],
    conditions: {
      ready: specOf(service)["publishNotReadyAddresses"] === true || (serving && !terminating),
      serving,
      terminating,
    },
    nodeName: part(pod, "spec")["nodeName"],
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

/** Resolves a named target port with the pod's container ports; omits the port if there is none of that name. */
function slicePort(port: ServicePort, pod: KubeObject | undefined): JsonObject[] {
  const number = typeof port.targetPort === "number" ? port.targetPort : namedPort(pod, port);
  if (number === undefined) return [];
  return [{ name: port.name ?? "", protocol: port.protocol ?? "TCP", port: number }];
}

function namedPort(pod: KubeObject | undefined, port: ServicePort): unknown {
  const containers = pod === undefined ? [] : asArray(part(pod, "spec")["containers"]).map(asObject);
  const ports = containers.flatMap((container) => asArray(container["ports"]).map(asObject));
  return ports.find((item) => item["name"] === port.targetPort && item["protocol"] === port.protocol)?.[
    "containerPort"
  ];
}
