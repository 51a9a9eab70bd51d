/** Pods: the fields that load balancing needs are typed; all others are stored as sent. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString, sameJson, without } from "../json.ts";
import { ageColumn, column, nameColumn, wide } from "../read/column.ts";
import { type DecisionContext, part, type Resource } from "../resource.ts";
import {
  anyObject,
  anything,
  condition,
  count,
  flag,
  integer,
  listOf,
  mapOf,
  mergeList,
  optionalFlag,
  optionalText,
  type Schema,
  struct,
  text,
  textMap,
  time,
} from "../schema/schema.ts";
import { objectAt, type State } from "../state.ts";
import { type Cause, duplicate, forbidden, forbiddenField, invalidValue, required } from "../status-error.ts";
import { defineKind } from "./define.ts";
import { labelProblems } from "./metadata.ts";
import { accountNames, environmentDefaults, probeDefaults, volumeDefaults } from "./pod-parts.ts";

const container: Schema = struct({
  name: text,
  image: text,
  command: listOf(text),
  args: listOf(text),
  workingDir: text,
  ports: mergeList(
    "containerPort",
    struct({ name: text, hostPort: count, containerPort: integer, protocol: text, hostIP: text }),
  ),
  envFrom: listOf(anyObject),
  env: mergeList("name", struct({ name: text, value: text, valueFrom: anyObject })),
  resources: struct({ limits: mapOf(anything), requests: mapOf(anything), claims: listOf(anyObject) }),
  resizePolicy: listOf(anyObject),
  restartPolicy: optionalText,
  volumeMounts: mergeList("mountPath", anyObject),
  volumeDevices: listOf(anyObject),
  livenessProbe: anyObject,
  readinessProbe: anyObject,
  startupProbe: anyObject,
  lifecycle: anyObject,
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: anyObject,
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
});

const containers = mergeList("name", container);
const podIPs = mergeList("ip", struct({ ip: text }));

export const pod: Resource = defineKind({
  kind: "Pod",
  plural: "pods",
  shortNames: ["po"],
  categories: ["all"],
  subresources: ["status", "eviction"],
  generation: true,
  deleteAnswersObject: true,
  selectableFields: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  fields: {
    spec: struct({
      volumes: mergeList("name", anyObject),
      initContainers: containers,
      containers,
      ephemeralContainers: listOf(anyObject),
      restartPolicy: text,
      terminationGracePeriodSeconds: integer,
      activeDeadlineSeconds: integer,
      dnsPolicy: text,
      nodeSelector: textMap,
      serviceAccountName: text,
      serviceAccount: text,
      automountServiceAccountToken: optionalFlag,
      nodeName: text,
      hostNetwork: flag,
      hostPID: flag,
      hostIPC: flag,
      shareProcessNamespace: optionalFlag,
      securityContext: anyObject,
      imagePullSecrets: mergeList("name", struct({ name: text })),
      hostname: text,
      subdomain: text,
      affinity: anyObject,
      schedulerName: text,
      tolerations: listOf(anyObject),
      hostAliases: mergeList("ip", anyObject),
      priorityClassName: text,
      priority: integer,
      dnsConfig: anyObject,
      readinessGates: listOf(struct({ conditionType: text })),
      runtimeClassName: optionalText,
      enableServiceLinks: optionalFlag,
      preemptionPolicy: optionalText,
      overhead: mapOf(anything),
      topologySpreadConstraints: mergeList("topologyKey", anyObject),
      setHostnameAsFQDN: optionalFlag,
      os: anyObject,
      hostUsers: optionalFlag,
      schedulingGates: listOf(struct({ name: text })),
      resourceClaims: listOf(anyObject),
      resources: anyObject,
    }),
    status: struct({
      observedGeneration: count,
      phase: text,
      conditions: mergeList("type", condition),
      message: text,
      reason: text,
      nominatedNodeName: text,
      hostIP: text,
      hostIPs: listOf(struct({ ip: text })),
      podIP: text,
      podIPs,
      startTime: time,
      initContainerStatuses: listOf(anyObject),
      containerStatuses: listOf(anyObject),
      qosClass: text,
      ephemeralContainerStatuses: listOf(anyObject),
      resize: text,
      resourceClaimStatuses: listOf(anyObject),
    }),
  },
  columns: [
    nameColumn,
    column("Ready", (object) => {
      const ready = statuses(object).filter((status) => status["ready"] === true).length;
      return `${ready}/${asArray(part(object, "spec")["containers"]).length}`;
    }),
    column("Status", statusCell),
    column("Restarts", (object) =>
      String(statuses(object).reduce((sum, status) => sum + Number(status["restartCount"] ?? 0), 0)),
    ),
    ageColumn,
    wide("IP", (object) => part(object, "status")["podIP"] ?? "<none>"),
    wide("Node", (object) => part(object, "spec")["nodeName"] ?? "<none>"),
    wide("Nominated Node", (object) => part(object, "status")["nominatedNodeName"] ?? "<none>"),
    wide("Readiness Gates", () => "<none>"),
  ],
  behaviour: {
    setDefaults: withDefaults,
    prepareCreate: (object, context) => ({
      ...admitted(object, context),
      status: { phase: "Pending", qosClass: "BestEffort" },
    }),
    validate,
  },
});

function statuses(object: KubeObject): Record<string, unknown>[] {
  return asArray(part(object, "status")["containerStatuses"]).map(asObject);
}

function statusCell(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return "Terminating";
  const status = part(object, "status");
  return asString(status["reason"]) || asString(status["phase"]);
}

function withDefaults(object: KubeObject): KubeObject {
  return { ...object, spec: { enableServiceLinks: true, ...podSpecDefaults(part(object, "spec")) } };
}

/** The defaults that a Pod has in common with a template of Pods. */
export function podSpecDefaults(spec: JsonObject): JsonObject {
  const filled = asArray(spec["containers"]).map((item) => containerDefaults(asObject(item)));
  const first = asArray(spec["initContainers"]).map((item) => containerDefaults(asObject(item)));
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...spec,
    ...(filled.length === 0 ? {} : { containers: filled }),
    ...(first.length === 0 ? {} : { initContainers: first }),
    ...volumeDefaults(spec),
    ...accountNames(spec),
  };
}

/** Admission: the priority of the pod's class, and tolerations for not-ready and unreachable nodes. */
function admitted(object: KubeObject, { state }: DecisionContext): KubeObject {
  const spec = part(object, "spec");
  const own = asArray(spec["tolerations"]).map(asObject);
  const patience = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter((key) => !own.some((toleration) => toleration["key"] === key))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  return { ...object, spec: { ...spec, ...priorityOf(object, state), tolerations: [...own, ...patience] } };
}

function priorityOf(object: KubeObject, state: State): JsonObject {
  const name = asString(part(object, "spec")["priorityClassName"]);
  const found = name === "" ? undefined : objectAt(state, "priorityclasses.scheduling.k8s.io", name);
  if (name !== "" && found === undefined) {
    throw forbidden(pod, object.metadata.name ?? "", `no PriorityClass with name ${name} was found`);
  }
  return { priority: found?.["value"] ?? 0, preemptionPolicy: found?.["preemptionPolicy"] ?? "PreemptLowerPriority" };
}

function containerDefaults(item: Record<string, unknown>): Record<string, unknown> {
  const image = asString(item["image"]);
  const latest = !/:[^/]+$/.test(image) || image.endsWith(":latest");
  const ports = asArray(item["ports"]).map((port) => ({ protocol: "TCP", ...asObject(port) }));
  return {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: latest ? "Always" : "IfNotPresent",
    resources: {},
    ...item,
    ...(ports.length === 0 ? {} : { ports }),
    ...probeDefaults(item),
    ...environmentDefaults(item),
  };
}

function validate(object: KubeObject, old: KubeObject | undefined): Cause[] {
  const containers = asArray(part(object, "spec")["containers"]).map(asObject);
  const causes: Cause[] = containers.length === 0 ? [required("spec.containers")] : [];
  const names = new Set<string>();
  containers.forEach((item, index) => {
    const name = asString(item["name"]);
    const at = `spec.containers[${index}]`;
    if (name === "") causes.push(required(`${at}.name`));
    else causes.push(...labelProblems(name).map((problem) => invalidValue(`${at}.name`, name, problem)));
    if (names.has(name)) causes.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (asString(item["image"]) === "") causes.push(required(`${at}.image`));
  });
  if (old !== undefined && !sameJson(frozen(object), frozen(old))) {
    const why =
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    causes.push(forbiddenField("spec", why));
  }
  return causes;
}

/** The immutable part of a pod's spec. */
function frozen(object: KubeObject): unknown {
  const spec = without(part(object, "spec"), "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds");
  const imageless = (list: unknown): unknown => asArray(list).map((item) => without(asObject(item), "image"));
  return { ...spec, containers: imageless(spec["containers"]), initContainers: imageless(spec["initContainers"]) };
}
