/**
 * Kinds that are stored and validated by their fields' names and types alone. Only workloads (workload.ts) have defaults. What
 * acts on some of them reads them: the loops of `controllers/workloads`, `access/rbac.ts`, `write/evict.ts`.
 * One row adds a kind; its types come from types.json, which build/kubernetes-types.ts writes.
 */
import type { Resource } from "../resource.ts";
import { typeOfKind } from "../schema/types.ts";
import { ageColumn, nameColumn } from "../read/column.ts";
import { defineKind } from "./define.ts";
import { COLUMNS } from "./stored-columns.ts";
import { isWorkload, workloadBehaviour } from "./workload.ts";

type Trait = "cluster" | "status" | "generation" | "all" | "scale" | "token";

const ADMISSION = "admissionregistration.k8s.io";
const RBAC = "rbac.authorization.k8s.io";

/** Group, kind, plural, short names, and what differs from a namespaced kind without status and generation. */
const ROWS: readonly (readonly [string, string, string, readonly string[], ...Trait[]])[] = [
  ["", "ServiceAccount", "serviceaccounts", ["sa"], "token"],
  [ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", [], "cluster", "generation"],
  [ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", [], "cluster", "status", "generation"],
  [ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", [], "cluster", "generation"],
  [ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", [], "cluster", "generation"],
  ["apps", "ControllerRevision", "controllerrevisions", []],
  ["apps", "DaemonSet", "daemonsets", ["ds"], "status", "generation", "all"],
  ["apps", "Deployment", "deployments", ["deploy"], "status", "generation", "all", "scale"],
  ["apps", "ReplicaSet", "replicasets", ["rs"], "status", "generation", "all", "scale"],
  ["networking.k8s.io", "NetworkPolicy", "networkpolicies", ["netpol"], "generation"],
  ["policy", "PodDisruptionBudget", "poddisruptionbudgets", ["pdb"], "status", "generation"],
  [RBAC, "ClusterRole", "clusterroles", [], "cluster"],
  [RBAC, "ClusterRoleBinding", "clusterrolebindings", [], "cluster"],
  [RBAC, "Role", "roles", []],
  [RBAC, "RoleBinding", "rolebindings", []],
  ["scheduling.k8s.io", "PriorityClass", "priorityclasses", ["pc"], "cluster", "generation"],
];

/** Names of RBAC objects may have colons: `system:node`. */
function pathSegmentProblems(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** The status of a new budget. */
const NO_DISRUPTIONS = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

function behaviourOf(group: string, kind: string): Resource["behaviour"] {
  if (kind === "PodDisruptionBudget") return { prepareCreate: (object) => ({ ...object, status: NO_DISRUPTIONS }) };
  if (group === RBAC) return { validateName: pathSegmentProblems };
  return isWorkload(kind) ? workloadBehaviour(kind) : {};
}

export const storedKinds: readonly Resource[] = ROWS.map(([group, kind, plural, shortNames, ...traits]) =>
  defineKind({
    group,
    kind,
    plural,
    shortNames,
    namespaced: !traits.includes("cluster"),
    categories: traits.includes("all") ? ["all"] : [],
    subresources: (["status", "scale", "token"] as const).filter((name) => traits.includes(name)),
    columns: COLUMNS[kind] ?? [nameColumn, ageColumn],
    generation: traits.includes("generation"),
    fields: typeOfKind(group, "v1", kind),
    behaviour: behaviourOf(group, kind),
  }),
);
