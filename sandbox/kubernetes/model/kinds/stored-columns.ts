/** What `kubectl get` prints of the kinds that stored.ts lists. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString, scalarText } from "../json.ts";
import { ageColumn, type Column, column, nameColumn, wide } from "../read/column.ts";
import { selectorText } from "../read/label-selector.ts";
import { part } from "../resource.ts";

const UNSET = "<unset>";

const statusCount = (name: string, field: string): Column =>
  column(name, (object) => Number(part(object, "status")[field] ?? 0), "integer");

const containersOf = (object: KubeObject, field: string): string =>
  asArray(asObject(asObject(part(object, "spec")["template"])["spec"])["containers"])
    .map((item) => asString(asObject(item)[field]))
    .join(",");

const TEMPLATE: readonly Column[] = [
  wide("Containers", (object) => containersOf(object, "name")),
  wide("Images", (object) => containersOf(object, "image")),
  wide("Selector", (object) => selectorText(part(object, "spec")["selector"])),
];

const desiredReplicas = (object: KubeObject): number => Number(part(object, "spec")["replicas"] ?? 0);

const createdAt = column("Created At", (object) => object.metadata.creationTimestamp, "date");

function subjects(kind: string): (object: KubeObject) => string {
  return (object) =>
    asArray(object["subjects"])
      .map(asObject)
      .filter((subject) => subject["kind"] === kind)
      .map(({ namespace, name }) =>
        kind === "ServiceAccount" ? `${asString(namespace)}/${asString(name)}` : asString(name),
      )
      .join(", ");
}

const BINDING: readonly Column[] = [
  nameColumn,
  column("Role", (object) => {
    const { kind, name } = asObject(object["roleRef"]);
    return `${asString(kind)}/${asString(name)}`;
  }),
  ageColumn,
  wide("Users", subjects("User")),
  wide("Groups", subjects("Group")),
  wide("ServiceAccounts", subjects("ServiceAccount")),
];

const WEBHOOKS: readonly Column[] = [
  nameColumn,
  column("Webhooks", (object) => asArray(object["webhooks"]).length, "integer"),
  ageColumn,
];

const orNotSet = (value: unknown): string => (value === undefined ? "N/A" : scalarText(value));

function paramKind(object: KubeObject): string {
  const kind = part(object, "spec")["paramKind"];
  return kind === undefined ? UNSET : `${asString(asObject(kind)["apiVersion"])}/${asString(asObject(kind)["kind"])}`;
}

function paramRef(object: KubeObject): string {
  const ref = part(object, "spec")["paramRef"];
  if (ref === undefined) return UNSET;
  const { namespace, name } = asObject(ref) as JsonObject & { namespace?: string; name?: string };
  return namespace === undefined ? (name ?? "*") : `${namespace}/${name ?? "*"}`;
}

export const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Deployment: [
    nameColumn,
    column("Ready", (object) => `${Number(part(object, "status")["readyReplicas"] ?? 0)}/${desiredReplicas(object)}`),
    statusCount("Up-to-date", "updatedReplicas"),
    statusCount("Available", "availableReplicas"),
    ageColumn,
    ...TEMPLATE,
  ],
  ReplicaSet: [
    nameColumn,
    column("Desired", desiredReplicas, "integer"),
    statusCount("Current", "replicas"),
    statusCount("Ready", "readyReplicas"),
    ageColumn,
    ...TEMPLATE,
  ],
  DaemonSet: [
    nameColumn,
    statusCount("Desired", "desiredNumberScheduled"),
    statusCount("Current", "currentNumberScheduled"),
    statusCount("Ready", "numberReady"),
    statusCount("Up-to-date", "updatedNumberScheduled"),
    statusCount("Available", "numberAvailable"),
    column("Node Selector", (object) =>
      selectorText({ matchLabels: asObject(asObject(part(object, "spec")["template"])["spec"])["nodeSelector"] }),
    ),
    ageColumn,
    ...TEMPLATE,
  ],
  PodDisruptionBudget: [
    nameColumn,
    column("Min Available", (object) => orNotSet(part(object, "spec")["minAvailable"])),
    column("Max Unavailable", (object) => orNotSet(part(object, "spec")["maxUnavailable"])),
    statusCount("Allowed Disruptions", "disruptionsAllowed"),
    ageColumn,
  ],
  NetworkPolicy: [
    nameColumn,
    column("Pod-Selector", (object) => selectorText(part(object, "spec")["podSelector"])),
    ageColumn,
  ],
  PriorityClass: [
    nameColumn,
    column("Value", (object) => Number(object["value"] ?? 0), "integer"),
    column("Global-Default", (object) => object["globalDefault"] === true, "boolean"),
    ageColumn,
    column("PreemptionPolicy", (object) => asString(object["preemptionPolicy"])),
  ],
  ServiceAccount: [nameColumn, column("Secrets", (object) => asArray(object["secrets"]).length, "integer"), ageColumn],
  ClusterRole: [nameColumn, createdAt],
  Role: [nameColumn, createdAt],
  ClusterRoleBinding: BINDING,
  RoleBinding: BINDING,
  MutatingWebhookConfiguration: WEBHOOKS,
  ValidatingWebhookConfiguration: WEBHOOKS,
  ValidatingAdmissionPolicy: [
    nameColumn,
    column("Validations", (object) => asArray(part(object, "spec")["validations"]).length, "integer"),
    column("ParamKind", paramKind),
    ageColumn,
  ],
  ValidatingAdmissionPolicyBinding: [
    nameColumn,
    column("PolicyName", (object) => asString(part(object, "spec")["policyName"])),
    column("ParamRef", paramRef),
    ageColumn,
  ],
};
