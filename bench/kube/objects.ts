/**
 * The objects of a large cluster, in realistic sizes: a node reports fifty images and the managers of its fields, a slice holds
 * a hundred endpoints.
 */

export interface Kind {
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly count: number;
  /** The object after that many changes. */
  readonly make: (index: number, changes: number) => object;
}

const uid = (kind: string, index: number): string => `${kind}-0000-4000-8000-${String(index).padStart(12, "0")}`;
const version = (index: number, changes: number): string => String(1_000 + index + changes * 1_000_000);
const address = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

function managedFields(manager: string, names: readonly string[]): object {
  const fields = Object.fromEntries(names.map((name) => [`f:${name}`, { ".": {}, "f:value": {} }]));
  const stamp = { operation: "Update", apiVersion: "v1", time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1" };
  return { manager, ...stamp, fieldsV1: { "f:metadata": fields, "f:status": { "f:conditions": fields } } };
}

function node(index: number, changes: number): object {
  const name = `aks-pool-12345678-vmss${index.toString(36).padStart(6, "0")}`;
  const labels = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`kubernetes.azure.com/label-${n}`, `value-${n % 7}`]),
  );
  const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready", "VMEventScheduled", "KernelDeadlock"];
  return {
    metadata: {
      name,
      uid: uid("node", index),
      resourceVersion: version(index, changes),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { ...labels, "kubernetes.io/hostname": name, changes: String(changes) },
      annotations: {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
      },
      managedFields: ["kubelet", "cloud-node-manager", "kube-controller-manager"].map((manager) =>
        managedFields(manager, Object.keys(labels)),
      ),
    },
    spec: { podCIDR: address(index << 8), providerID: `azure:///subscriptions/s/resourceGroups/r/vm/${name}` },
    status: {
      capacity: { cpu: "8", memory: "32863664Ki", pods: "110" },
      allocatable: { cpu: "7820m", memory: "28362160Ki", pods: "110" },
      conditions: conditions.map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        lastHeartbeatTime: "2026-01-01T00:00:00Z",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        reason: "KubeletHasSufficientMemory",
        message: "kubelet has sufficient memory available",
      })),
      addresses: [
        { type: "InternalIP", address: address(index) },
        { type: "Hostname", address: name },
      ],
      nodeInfo: { kubeletVersion: "v1.34.1", osImage: "Ubuntu 24.04", kernelVersion: "6.8.0-azure" },
      images: Array.from({ length: 50 }, (_, n) => ({
        names: [`registry.example/team-${n}/application@sha256:${"0".repeat(64)}`],
        sizeBytes: 100_000_000 + n,
      })),
    },
  };
}

function service(index: number, changes: number): object {
  return {
    metadata: {
      name: `service-${index}`,
      namespace: `team-${index % 100}`,
      uid: uid("svc0", index),
      resourceVersion: version(index, changes),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: `application-${index}`, changes: String(changes) },
      annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
      managedFields: [managedFields("kubectl", ["app", "tier", "selector", "ports", "type"])],
    },
    spec: {
      type: index % 20 === 0 ? "LoadBalancer" : "ClusterIP",
      clusterIP: address(index),
      clusterIPs: [address(index)],
      ipFamilies: ["IPv4"],
      selector: { app: `application-${index}` },
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080, nodePort: 30_000 + (index % 2_000) }],
      sessionAffinity: "None",
    },
    status: { loadBalancer: {} },
  };
}

function endpointSlice(index: number, changes: number): object {
  return {
    metadata: {
      name: `service-${index}-abcde`,
      namespace: `team-${index % 100}`,
      uid: uid("eps0", index),
      resourceVersion: version(index, changes),
      labels: { "kubernetes.io/service-name": `service-${index}`, changes: String(changes) },
      managedFields: [managedFields("kube-controller-manager", ["service-name", "endpoints", "ports"])],
    },
    addressType: "IPv4",
    endpoints: Array.from({ length: 100 }, (_, n) => ({
      addresses: [address(index * 100 + n)],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `aks-pool-12345678-vmss${((index + n) % 5_000).toString(36).padStart(6, "0")}`,
      targetRef: {
        kind: "Pod",
        name: `application-${index}-${n}`,
        namespace: `team-${index % 100}`,
        uid: uid("pod0", n),
      },
      zone: `westus2-${n % 3}`,
    })),
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  };
}

export const NODE_KIND: Kind = { path: "/api/v1/nodes", kind: "Node", apiVersion: "v1", count: 5_000, make: node };
export const SERVICE_KIND: Kind = {
  path: "/api/v1/services",
  kind: "Service",
  apiVersion: "v1",
  count: 10_000,
  make: service,
};
export const SLICE_KIND: Kind = {
  path: "/apis/discovery.k8s.io/v1/endpointslices",
  kind: "EndpointSlice",
  apiVersion: "discovery.k8s.io/v1",
  count: 1_000,
  make: endpointSlice,
};

export const KINDS: readonly Kind[] = [NODE_KIND, SERVICE_KIND, SLICE_KIND];
