/**
 * What users and controllers try to write under the policies of `deploy/policies`, as dry runs: the bad, each with the
 * policy that objects, and the good, to which none does. `PREPARED` is there before any policy is.
 */
import type { KubeConnection, Reply } from "../support/kube-connection.ts";

const TENANT = "team";
const SHARING = "sharing";
const USER = "jane";
const AZLB = "system:serviceaccount:kube-system:azlb-controller";
const INCUMBENTS = [
  "system:serviceaccount:kube-system:cloud-controller-manager",
  "system:serviceaccount:kube-system:service-controller",
  "system:cloud-controller-manager",
];

const PREFIX = "service.beta.kubernetes.io/";
const INTERNAL = `${PREFIX}azure-load-balancer-internal`;
const PIP_NAME = `${PREFIX}azure-pip-name`;
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const ADDRESS_KEYS = {
  "azure-load-balancer-ipv4": "20.0.0.8",
  "azure-load-balancer-ipv6": "fd00::8",
  "azure-pip-name": "finance",
  "azure-pip-name-ipv6": "finance6",
  "azure-pip-prefix-id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p",
  "azure-pip-prefix-id-ipv6": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p6",
  "azure-additional-public-ips": "20.0.0.9,20.0.0.10",
  "azure-load-balancer-resource-group": "another",
};
const EVERY_ADDRESS_KEY = Object.fromEntries(
  Object.entries(ADDRESS_KEYS).map(([key, value]) => [`${PREFIX}${key}`, value]),
);

export interface Attempt {
  readonly what: string;
  readonly by: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly patchType?: "merge" | "strategic-merge";
}

export interface BadAttempt extends Attempt {
  readonly policy: string;
}

interface ServiceParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Readonly<Record<string, unknown>>;
}

function service(name: string, { spec = {}, ...metadata }: ServiceParts): unknown {
  return { metadata: { name, ...metadata }, spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec } };
}

const MEMBER_LIST = { "azlb.io/member-list": "true" };

/** Path of the collection, and the object. */
export const PREPARED: readonly (readonly [string, unknown])[] = [
  ["/api/v1/namespaces", { metadata: { name: TENANT, labels: { "azlb.io/may-share-addresses": "false" } } }],
  ["/api/v1/namespaces", { metadata: { name: SHARING, labels: { "azlb.io/may-share-addresses": "true" } } }],
  ["/api/v1/namespaces/kube-system/configmaps", { metadata: { name: "coredns" } }],
  [
    "/api/v1/namespaces/kube-system/configmaps",
    { metadata: { name: "azlb-members-kubernetes", labels: MEMBER_LIST }, data: {} },
  ],
  [
    `/api/v1/namespaces/${TENANT}/services`,
    service("old", {
      annotations: { ...EVERY_ADDRESS_KEY, [INTERNAL]: "True", "azlb.io/applied": "h=1" },
      finalizers: [FINALIZER],
      spec: { loadBalancerIP: "20.0.0.8", externalIPs: ["20.0.0.7", "20.0.0.6"] },
    }),
  ],
];

function create(what: string, parts: ServiceParts, namespace = TENANT): Attempt {
  const path = `/api/v1/namespaces/${namespace}/services`;
  return { what: `create a Service ${what}`, by: USER, method: "POST", path, body: service("new", parts) };
}

/** A change of the Service `old`. */
function change(
  what: string,
  body: unknown,
  rest: Partial<Attempt> & { readonly subresource?: "status" } = {},
): Attempt {
  const { subresource, ...others } = rest;
  const path = `/api/v1/namespaces/${TENANT}/services/old${subresource === undefined ? "" : `/${subresource}`}`;
  return { what: `change a Service: ${what}`, by: USER, method: "PATCH", path, body, patchType: "merge", ...others };
}

function annotate(annotations: Readonly<Record<string, string | null>>): object {
  return { metadata: { annotations } };
}

const PUBLISHED = { loadBalancer: { ingress: [{ ip: "20.0.0.8", ipMode: "VIP" }] } };
const WITHOUT_FINALIZER = { metadata: { "$deleteFromPrimitiveList/finalizers": [FINALIZER] } };
const STRATEGIC = { patchType: "strategic-merge" } as const;

function event(namespace: string, kind: string, by: string, about = namespace): Attempt {
  const involvedObject = { kind, name: "n1", ...(about !== "" && { namespace: about }) };
  const body = {
    metadata: { name: "n1.1" },
    involvedObject,
    reason: "PreemptScheduled",
    type: "Warning",
    message: "m",
  };
  const path = `/api/v1/namespaces/${namespace}/events`;
  return { what: `an Event about a ${kind} in ${namespace}`, by, method: "POST", path, body };
}

function newEvent(namespace: string, kind: string, about = namespace): Attempt {
  const body = {
    metadata: { name: "n1.2" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    regarding: { kind, name: "n1", ...(about !== "" && { namespace: about }) },
    reportingController: "example.com/reporter",
    reportingInstance: "reporter-1",
    action: "Preempt",
    reason: "PreemptScheduled",
    type: "Warning",
  };
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  return { what: `an events.k8s.io Event about a ${kind} in ${namespace}`, by: USER, method: "POST", path, body };
}

function configMap(method: "POST" | "PATCH", name: string, labels: object, by = AZLB): Attempt {
  const collection = "/api/v1/namespaces/kube-system/configmaps";
  const body = { metadata: { name, labels }, data: { members: "n1" } };
  const what = `${method} of ConfigMap ${name} by ${by}`;
  if (method === "POST") return { what, by, method, path: collection, body };
  return { what, by, method, path: `${collection}/${name}`, body: { data: body.data }, patchType: "merge" };
}

function refusedBy(policy: string, ...attempts: readonly Attempt[]): readonly BadAttempt[] {
  return attempts.map((attempt) => ({ ...attempt, policy }));
}

export const BAD: readonly BadAttempt[] = [
  ...refusedBy(
    "azlb-addresses",
    ...Object.entries(EVERY_ADDRESS_KEY).map(([key, value]) =>
      create(`with ${key}`, { annotations: { [key]: value } }),
    ),
    create("with loadBalancerIP", { spec: { loadBalancerIP: "20.0.0.8" } }),
    create("with externalIPs", { spec: { externalIPs: ["20.0.0.8"] } }),
    create("of another type, to be changed later", { annotations: EVERY_ADDRESS_KEY, spec: { type: "ClusterIP" } }),
    create("in a namespace without labels", { spec: { loadBalancerIP: "20.0.0.8" } }, "default"),
    change("another public IP", annotate({ [PIP_NAME]: "other" })),
    change("another public IP, through the status", annotate({ [PIP_NAME]: "other" }), { subresource: "status" }),
    change("another loadBalancerIP", { spec: { loadBalancerIP: "20.0.0.11" } }),
    change("one more external IP", { spec: { externalIPs: ["20.0.0.7", "20.0.0.6", "20.0.0.5"] } }),
  ),
  ...refusedBy("azlb-node-events", event(TENANT, "Node", USER), newEvent(TENANT, "Node")),
  ...refusedBy(
    "azlb-controller-fields",
    create("with the finalizer", { finalizers: [FINALIZER] }),
    create("with azlb.io/applied", { annotations: { "azlb.io/applied": "h=1" } }),
    create("with azlb.io/class", { annotations: { "azlb.io/class": "c" } }),
    change("another azlb.io/applied", annotate({ "azlb.io/applied": "changing addresses=20.99.0.1" })),
    change("no azlb.io/applied", annotate({ "azlb.io/applied": null })),
    change("azlb.io/applied through the status", annotate({ "azlb.io/applied": "h=2" }), { subresource: "status" }),
    change("no finalizer", WITHOUT_FINALIZER, STRATEGIC),
    change("an address in the status", { status: PUBLISHED }, { subresource: "status" }),
    change(
      "the status, by an account of another namespace",
      { status: PUBLISHED },
      {
        subresource: "status",
        by: `system:serviceaccount:${TENANT}:azlb-controller`,
      },
    ),
  ),
  ...refusedBy(
    "azlb-member-lists",
    configMap("POST", "kube-proxy", MEMBER_LIST),
    configMap("POST", "azlb-members-new", {}),
    configMap("PATCH", "coredns", {}),
  ),
  ...refusedBy(
    "azlb-exposure",
    ...["True", "yes", "1", "", " true"].map((value) => create(`"${value}"`, { annotations: { [INTERNAL]: value } })),
    change("another invalid value", annotate({ [INTERNAL]: "TRUE" })),
    change("another invalid value, through the status", annotate({ [INTERNAL]: "TRUE" }), { subresource: "status" }),
  ),
];

const CONTROLLER_WRITES = [AZLB, ...INCUMBENTS].flatMap((by) => [
  change(`finalizer, by ${by}`, WITHOUT_FINALIZER, { ...STRATEGIC, by }),
  change(
    `status, by ${by}`,
    { ...annotate({ "azlb.io/applied": "h=2" }), status: PUBLISHED },
    {
      subresource: "status",
      by,
    },
  ),
]);

export const GOOD: readonly Attempt[] = [
  create("without annotations", {}),
  create("that is internal", { annotations: { [INTERNAL]: "true" } }),
  create("that is public", { annotations: { [INTERNAL]: "false" } }),
  create("with empty values", { annotations: { [PIP_NAME]: "" }, spec: { externalIPs: [] } }),
  create("with drift policy", { annotations: { "azlb.io/drift-policy": "enforce" } }),
  create("with another finalizer", { finalizers: ["example.com/mine"] }),
  create(
    "with every address, where that is allowed",
    { annotations: EVERY_ADDRESS_KEY, spec: { loadBalancerIP: "20.0.0.8", externalIPs: ["20.0.0.7"] } },
    SHARING,
  ),
  change("something else", { metadata: { labels: { a: "b" } }, spec: { ports: [{ port: 81 }] } }),
  change("something else through the status", { metadata: { labels: { a: "b" } } }, { subresource: "status" }),
  change("no public IP, no addresses", {
    ...annotate({ [PIP_NAME]: null }),
    spec: { loadBalancerIP: null, externalIPs: ["20.0.0.6"] },
  }),
  change("a valid value", annotate({ [INTERNAL]: "false" })),
  change("no value", annotate({ [INTERNAL]: null })),
  change("nothing left of it", undefined, { method: "DELETE" }),
  ...CONTROLLER_WRITES,
  configMap("POST", "azlb-members-new", MEMBER_LIST),
  configMap("PATCH", "azlb-members-kubernetes", {}),
  configMap("PATCH", "coredns", {}, USER),
  event(TENANT, "Pod", USER),
  newEvent(TENANT, "Pod"),
  event("default", "Node", "system:node:n1", ""),
  event("kube-system", "Node", USER),
  newEvent("default", "Node", ""),
];

export function attempt(kube: KubeConnection, { method, path, body, by, patchType }: Attempt): Promise<Reply> {
  const type = patchType === undefined ? {} : { "content-type": `application/${patchType}-patch+json` };
  const headers = { "impersonate-user": by, "impersonate-group": "system:masters", ...type };
  return kube.request(method, `${path}?dryRun=All`, { headers, ...(body !== undefined && { body }) });
}
