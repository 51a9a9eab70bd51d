/** Requests about field ownership: each is sent to a server, and its answer is kept without identities and times. */
import type { Cluster } from "../../support/cluster.ts";
import { speak } from "./api.ts";
import { defineWidgets } from "./widgets.ts";

interface Step {
  readonly title: string;
  readonly method: "POST" | "PUT" | "PATCH" | "GET";
  /** Below the namespace's collections of its group. */
  readonly path: string;
  readonly body?: unknown;
  /** Default: `apply-patch+yaml` for PATCH. */
  readonly type?: string;
}

const CORE = "/api/v1/namespaces/apply";
const service = (spec: object, labels?: object): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "a", ...(labels && { labels }) },
  spec,
});
/** kube-apiserver keeps the times of a Pod's condition as null where they are not set. */
const TIMES = { lastProbeTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z" };
const http = { name: "http", port: 80 };
const https = { name: "https", port: 443, targetPort: 8443 };
const config = (data: object): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data });
const WIDGET = "/apis/contract.example.com/v1/namespaces/apply/widgets/w";
const widget = (body: object): object => ({
  apiVersion: "contract.example.com/v1",
  kind: "Widget",
  metadata: { name: "w" },
  ...body,
});
const by = (path: string, manager: string, more = ""): string => `${path}?fieldManager=${manager}${more}`;

export const STEPS: readonly Step[] = [
  { title: "an apply without a manager", method: "PATCH", path: `${CORE}/services/a`, body: service({}) },
  {
    title: "apply makes a Service",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: service({ type: "LoadBalancer", ports: [http] }, { app: "a" }),
  },
  {
    title: "another applier adds a port",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "two"),
    body: service({ ports: [https] }),
  },
  {
    title: "another applier shares a label",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "three"),
    body: service({}, { app: "a" }),
  },
  {
    title: "a conflict",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "two"),
    body: service({ type: "ClusterIP", ports: [https] }),
  },
  {
    title: "two conflicts with one manager",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "four"),
    body: service({ type: "ClusterIP", ports: [{ ...http, name: "web" }] }),
  },
  {
    title: "a conflict, forced",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "two", "&force=true"),
    body: service({ type: "NodePort", ports: [https] }),
  },
  {
    title: "an applier no longer lists its label, which another has too",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "three"),
    body: service({}),
  },
  {
    title: "an applier no longer lists its port and label",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: service({ sessionAffinity: "ClientIP" }),
  },
  {
    title: "a merge patch takes over a field",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "editor"),
    type: "merge-patch+json",
    body: { spec: { sessionAffinity: "None" }, metadata: { annotations: { note: "x" } } },
  },
  {
    title: "a conflict with an updater",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: service({ sessionAffinity: "ClientIP" }),
  },
  {
    title: "a status patch",
    method: "PATCH",
    path: by(`${CORE}/services/a/status`, "cloud"),
    type: "merge-patch+json",
    body: { status: { conditions: [condition("Ready")] } },
  },
  {
    title: "a status apply",
    method: "PATCH",
    path: by(`${CORE}/services/a/status`, "applier"),
    body: { ...service({}), status: { conditions: [condition("Seen")] } },
  },
  {
    title: "a field that does not exist",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: service({ colour: "red" }),
  },
  {
    title: "managedFields in a configuration",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: { apiVersion: "v1", kind: "Service", metadata: { name: "a", managedFields: [] } },
  },
  {
    title: "another kind",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  },
  {
    title: "force without apply",
    method: "PATCH",
    path: `${CORE}/services/a?force=true`,
    type: "merge-patch+json",
    body: {},
  },
  {
    title: "ownership is cleared",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "editor"),
    type: "merge-patch+json",
    body: { metadata: { managedFields: [{}] } },
  },
  {
    title: "the first apply to an object without owners",
    method: "PATCH",
    path: by(`${CORE}/services/a`, "one"),
    body: service({ externalTrafficPolicy: "Local" }),
  },
  {
    title: "a created Service",
    method: "POST",
    path: by(`${CORE}/services`, "maker"),
    body: {
      metadata: { name: "b", labels: { app: "b" } },
      spec: { type: "NodePort", ports: [http], selector: { app: "b" } },
    },
  },
  {
    title: "a created ConfigMap, by the user agent",
    method: "POST",
    path: `${CORE}/configmaps`,
    body: config({ k: "v", l: "w" }),
  },
  {
    title: "a replaced ConfigMap",
    method: "PUT",
    path: by(`${CORE}/configmaps/c`, "other"),
    body: config({ k: "v", l: "x", m: "y" }),
  },
  {
    title: "a replacement without a change",
    method: "PUT",
    path: by(`${CORE}/configmaps/c`, "third"),
    body: config({ k: "v", l: "x", m: "y" }),
  },
  {
    title: "a removed key",
    method: "PUT",
    path: by(`${CORE}/configmaps/c`, "third"),
    body: config({ k: "v", l: "x" }),
  },
  {
    title: "a created Pod",
    method: "POST",
    path: by(`${CORE}/pods`, "maker"),
    body: {
      metadata: { name: "p", finalizers: ["example.com/one"] },
      spec: {
        containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }], env: [{ name: "E", value: "1" }] }],
      },
    },
  },
  {
    title: "a Pod's conditions",
    method: "PATCH",
    path: by(`${CORE}/pods/p/status`, "kubelet"),
    type: "strategic-merge-patch+json",
    body: { status: { conditions: [{ ...TIMES, type: "Ready", status: "True" }] } },
  },
  {
    title: "a finalizer is applied",
    method: "PATCH",
    path: by(`${CORE}/pods/p`, "one"),
    body: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", finalizers: ["example.com/two"] } },
  },
  {
    title: "a finalizer is applied no longer",
    method: "PATCH",
    path: by(`${CORE}/pods/p`, "one"),
    body: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } },
  },
  {
    title: "apply makes a custom resource",
    method: "PATCH",
    path: by(WIDGET, "one"),
    body: widget({ spec: { size: 3, parts: [{ name: "x" }], set: ["a", "b"], tags: { t: "1" } } }),
  },
  {
    title: "parts and sets of a custom resource are merged",
    method: "PATCH",
    path: by(WIDGET, "two"),
    body: widget({ spec: { parts: [{ name: "y", weight: 2 }], set: ["b", "c"], free: { any: { thing: [1] } } } }),
  },
  {
    title: "parts and sets of a custom resource go",
    method: "PATCH",
    path: by(WIDGET, "one"),
    body: widget({ spec: { size: 3, set: ["a"] } }),
  },
  {
    title: "a custom resource's status",
    method: "PATCH",
    path: by(`${WIDGET}/status`, "one"),
    body: widget({ status: { phase: "Ready" } }),
  },
  {
    title: "an updated custom resource",
    method: "PATCH",
    path: by(WIDGET, "editor"),
    type: "merge-patch+json",
    body: { spec: { size: 4 }, metadata: { labels: { l: "1" } } },
  },
  {
    title: "a list with two items of one name",
    method: "PATCH",
    path: by(WIDGET, "two"),
    body: widget({ spec: { parts: [{ name: "y" }, { name: "y" }] } }),
  },
  {
    title: "a list with an item that has no name",
    method: "PATCH",
    path: by(WIDGET, "two"),
    body: widget({ spec: { parts: [{ weight: 1 }] } }),
  },
  {
    title: "a dry run",
    method: "PATCH",
    path: by(`${CORE}/configmaps/c`, "dry", "&dryRun=All"),
    body: config({ z: "1" }),
  },
  { title: "after the dry run", method: "GET", path: `${CORE}/configmaps/c` },
  {
    title: "a dry run of a creation",
    method: "PATCH",
    path: by(`${CORE}/configmaps/d`, "dry", "&dryRun=All"),
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } },
  },
  { title: "after the dry run of a creation", method: "GET", path: `${CORE}/configmaps/d` },
  {
    title: "conflicts with two managers",
    method: "PATCH",
    path: by(`${CORE}/configmaps/c`, "dry"),
    body: config({ k: "1", l: "1" }),
  },
  {
    title: "apply makes a Deployment",
    method: "PATCH",
    path: by("/apis/apps/v1/namespaces/apply/deployments/web", "one"),
    body: deployment({ replicas: 2 }, "web:1"),
  },
  {
    title: "an autoscaler's replicas",
    method: "PATCH",
    path: by("/apis/apps/v1/namespaces/apply/deployments/web", "autoscaler"),
    type: "merge-patch+json",
    body: { spec: { replicas: 5 } },
  },
  {
    title: "a Deployment whose replicas are left to the autoscaler",
    method: "PATCH",
    path: by("/apis/apps/v1/namespaces/apply/deployments/web", "one"),
    body: deployment({}, "web:2"),
  },
  {
    title: "the name of another object",
    method: "PATCH",
    path: by(`${CORE}/configmaps/e`, "one"),
    body: config({}),
  },
  {
    title: "a uid of an object that is not there",
    method: "PATCH",
    path: by(`${CORE}/configmaps/e`, "one"),
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "e", uid: "u" } },
  },
];

function deployment(spec: object, image: string): object {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, template, ...spec },
  };
}

function condition(type: string): object {
  return { type, status: "True", reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

/** The code and body of each answer, by title. */
export async function answersOf(cluster: Cluster): Promise<Map<string, { code: number; body: unknown }>> {
  const api = speak(() => cluster);
  await api.create("/api/v1/namespaces", { metadata: { name: "apply" } });
  await defineWidgets(api);
  const answers = new Map<string, { code: number; body: unknown }>();
  for (const { title, method, path, body, type = "apply-patch+yaml" } of STEPS) {
    const headers = {
      "user-agent": "contract/1.0 (test)",
      ...(method === "PATCH" ? { "content-type": `application/${type}` } : {}),
    };
    const reply = await api.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
    answers.set(title, { code: reply.code, body: comparable(reply.body) });
  }
  return answers;
}

/**
 * Without what differs between any two servers. Causes of different managers come in any order; entries of managedFields are ordered by
 * the second of their time, which two servers may see differently.
 */
function comparable(value: unknown): unknown {
  const own = /^(uid|resourceVersion|creationTimestamp|time|nodePort|healthCheckNodePort|clusterIPs?)$/;
  const text = JSON.stringify(value, (key, each: unknown) => {
    if (key === "causes" && Array.isArray(each)) return each.map((cause) => JSON.stringify(cause)).sort();
    if (key === "managedFields" && Array.isArray(each)) return each.toSorted(byOwner);
    return own.test(key) ? "-" : each;
  });
  return JSON.parse(text) as unknown;
}

interface Entry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

function byOwner(one: Entry, other: Entry): number {
  const [a = "", b = ""] = [one, other].map((each) => `${each.operation} ${each.manager} ${each.subresource ?? ""}`);
  return a < b ? -1 : Number(a > b);
}
