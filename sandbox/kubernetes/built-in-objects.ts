/**
 * What a Kubernetes has before anybody uses it, as far as clients look at it: the roles that people bind (`cluster-admin`,
 * `admin`, `edit`, `view`), those that let every user discover the API and ask about itself, and the priority classes of the
 * system. `edit` and `view` name the kinds of this server; a real one's name more.
 */
import type { JsonObject } from "./model/contract.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

const WORKLOADS = ["deployments", "deployments/scale", "replicasets", "replicasets/scale", "daemonsets"];
const NAMESPACED: readonly (readonly [group: string, resources: readonly string[]])[] = [
  ["", ["configmaps", "pods", "serviceaccounts", "services"]],
  ["apps", WORKLOADS],
  ["policy", ["poddisruptionbudgets"]],
  ["networking.k8s.io", ["networkpolicies"]],
];
const WATCHED: readonly (readonly [group: string, resources: readonly string[]])[] = [
  ["", ["events", "namespaces", "pods/status", "services/status"]],
  ["apps", ["controllerrevisions", "daemonsets/status", "deployments/status", "replicasets/status"]],
  ["discovery.k8s.io", ["endpointslices"]],
  ["policy", ["poddisruptionbudgets/status"]],
];

const rulesFor = (kinds: typeof NAMESPACED, verbs: readonly string[]): JsonObject[] =>
  kinds.map(([group, resources]) => ({ apiGroups: [group], resources, verbs }));

const VIEW = rulesFor([...NAMESPACED, ...WATCHED], READ);
const EDIT = [
  ...VIEW,
  ...rulesFor(NAMESPACED, WRITE),
  { apiGroups: [""], resources: ["secrets"], verbs: [...READ, ...WRITE] },
  { apiGroups: [""], resources: ["pods/eviction", "serviceaccounts/token"], verbs: ["create"] },
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: [...READ, ...WRITE] },
];
const ADMIN = [
  ...EDIT,
  { apiGroups: [GROUP], resources: ["roles", "rolebindings"], verbs: [...READ, ...WRITE] },
  { apiGroups: ["authorization.k8s.io"], resources: ["localsubjectaccessreviews"], verbs: ["create"] },
];
const PAGES = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"];
const HEALTH = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

const ROLES: Readonly<Record<string, readonly JsonObject[]>> = {
  "cluster-admin": [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ],
  admin: ADMIN,
  edit: EDIT,
  view: VIEW,
  "system:auth-delegator": [
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ],
  "system:basic-user": [
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      verbs: ["create"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
  ],
  "system:discovery": [{ nonResourceURLs: [...PAGES, ...HEALTH], verbs: ["get"] }],
};

const BOUND: Readonly<Record<string, string>> = {
  "cluster-admin": "system:masters",
  "system:basic-user": "system:authenticated",
  "system:discovery": "system:authenticated",
};

const PRIORITIES: Readonly<Record<string, readonly [value: number, description: string]>> = {
  "system-cluster-critical": [
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ],
  "system-node-critical": [
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ],
};

const metadata = (name: string): JsonObject => ({
  name,
  labels: LABELS,
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
});

/** Objects by the path that they are created at. */
export const BUILT_IN_OBJECTS: Readonly<Record<string, readonly JsonObject[]>> = {
  [`${RBAC}/clusterroles`]: Object.entries(ROLES).map(([name, rules]) => ({ metadata: metadata(name), rules })),
  [`${RBAC}/clusterrolebindings`]: Object.entries(BOUND).map(([name, group]) => ({
    metadata: metadata(name),
    roleRef: { apiGroup: GROUP, kind: "ClusterRole", name },
    subjects: [{ apiGroup: GROUP, kind: "Group", name: group }],
  })),
  "/apis/scheduling.k8s.io/v1/priorityclasses": Object.entries(PRIORITIES).map(([name, [value, description]]) => ({
    metadata: { name },
    value,
    description,
    preemptionPolicy: "PreemptLowerPriority",
  })),
};
