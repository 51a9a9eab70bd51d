/** Seeds a cluster: its namespaces, what a new Kubernetes has of its own, and the requested nodes. */
import { nthAddress } from "../shared/cidr.ts";
import { BUILT_IN_OBJECTS } from "./built-in-objects.ts";
import type { EmbeddedApi } from "./model/embedded-api.ts";
import type { JsonObject } from "./model/contract.ts";

export interface ClusterNode {
  readonly name: string;
  readonly internalIPs: readonly string[];
  readonly providerID?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Creates missing objects; existing ones are left unchanged. */
export function seedCluster(api: EmbeddedApi, nodes: readonly ClusterNode[]): void {
  for (const name of NAMESPACES) ensure(api, "/api/v1/namespaces", { metadata: { name } });
  ensure(api, "/api/v1/namespaces/default/services", kubernetesService(api));
  for (const [path, objects] of Object.entries(BUILT_IN_OBJECTS))
    for (const object of objects) ensure(api, path, object);
  for (const node of nodes) ensure(api, "/api/v1/nodes", nodeObject(node));
}

function ensure(api: EmbeddedApi, path: string, body: JsonObject): void {
  const reply = api.request({ method: "POST", path, query: {}, accept: "", contentType: "application/json", body });
  if (reply.kind === "answer" && (reply.status === 201 || reply.status === 409)) return;
  throw new Error(`the cluster could not be seeded: POST ${path}: ${JSON.stringify(reply)}`);
}

function kubernetesService(api: EmbeddedApi): JsonObject {
  const range = api.decisionContext().ranges.cidrs.IPv4;
  return {
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: "ClusterIP",
      ipFamilyPolicy: "SingleStack",
      ...(range === undefined ? {} : { clusterIP: nthAddress(range, 1) }),
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    },
  };
}

function nodeObject({ name, internalIPs, providerID, labels }: ClusterNode): JsonObject {
  return {
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ...labels,
      },
    },
    spec: providerID === undefined ? {} : { providerID },
    status: {
      addresses: [
        ...internalIPs.map((address) => ({ type: "InternalIP", address })),
        { type: "Hostname", address: name },
      ],
    },
  };
}
