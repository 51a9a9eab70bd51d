/**
 * The words in which the contract is written: verbs of the API, and what is expected of a reply. Message texts
 * drift between versions, so expectations are on code, reason and the causes' reason and field.
 */
import assert from "node:assert/strict";

import type { Cluster } from "../../support/cluster.ts";
import { type KubeConnection, type KubeObject, type Reply, connect } from "../../support/kube-connection.ts";

export interface Api extends Pick<Cluster, "request" | "watch" | "compact"> {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown): Promise<Reply>;
  put(path: string, body: unknown): Promise<Reply>;
  delete(path: string, options?: unknown): Promise<Reply>;
  strategicPatch(path: string, body: unknown): Promise<Reply>;
  mergePatch(path: string, body: unknown): Promise<Reply>;
  jsonPatch(path: string, body: unknown): Promise<Reply>;
  /** POSTs and must succeed; answers the stored object. */
  create(path: string, body: unknown): Promise<KubeObject>;
  /** GETs and must find it. */
  read(path: string): Promise<KubeObject>;
  /** A connection that has no credentials. */
  stranger(): KubeConnection;
  /** A new namespace's collections: `in("services")` is `/api/v1/namespaces/<it>/services`. */
  namespace(): Promise<NamespacePaths>;
}

export interface NamespacePaths {
  readonly name: string;
  /** Path of a core/v1 collection in it, or of an object there. */
  in(...path: string[]): string;
  /** The same for a named group and version, such as `discovery.k8s.io/v1`. */
  group(groupVersion: string, ...path: string[]): string;
}

/** The cluster is asked for at each call: tests are declared before it is opened. */
export function speak(cluster: () => Cluster): Api {
  const request: Api["request"] = (...call) => cluster().request(...call);
  const patch = (type: string) => (path: string, body: unknown) =>
    request("PATCH", path, { body, headers: { "content-type": `application/${type}+json` } });
  const post = (path: string, body: unknown): Promise<Reply> => request("POST", path, { body });
  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> => request("GET", path, { headers });
  const create = async (path: string, body: unknown): Promise<KubeObject> => accepted(await post(path, body), 201);
  return {
    request,
    watch: (...call) => cluster().watch(...call),
    compact: () => cluster().compact(),
    get,
    post,
    put: (path, body) => request("PUT", path, { body }),
    delete: (path, options) => request("DELETE", path, options === undefined ? {} : { body: options }),
    strategicPatch: patch("strategic-merge-patch"),
    mergePatch: patch("merge-patch"),
    jsonPatch: patch("json-patch"),
    create,
    read: async (path) => accepted(await get(path)),
    stranger: () => connect(cluster().kubeconfig, "anonymously"),
    namespace: async () => {
      const made = await create("/api/v1/namespaces", { metadata: { generateName: "contract-" } });
      return pathsOf(String(made.metadata.name));
    },
  };
}

function pathsOf(name: string): NamespacePaths {
  return {
    name,
    in: (...path) => ["/api/v1/namespaces", name, ...path].join("/"),
    group: (groupVersion, ...path) => ["/apis", groupVersion, "namespaces", name, ...path].join("/"),
  };
}

/** The reply's object; 200 unless another code is due. */
export function accepted(reply: Reply, code = 200): KubeObject {
  assert.equal(reply.code, code, reply.text);
  return reply.body;
}

export interface Refusal {
  readonly code: number;
  readonly reason: string;
  /** Causes that must be among those given, as "Reason field". */
  readonly causes?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The reply is a Status that refuses, in the way that clients tell refusals apart. */
export function refused(reply: Reply, refusal: Refusal): void {
  const { code, reason, causes = [], details } = refusal;
  assert.equal(reply.code, code, reply.text);
  partly(reply.body, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason });
  assert.equal(typeof reply.body["message"], "string", "a refusal says why");
  if (details) partly(reply.body["details"], details);
  const given = at(reply.body, "details.causes");
  const seen = (Array.isArray(given) ? given : []).map(({ reason, field }) => `${reason} ${field}`);
  for (const cause of causes) assert.ok(seen.includes(cause), `${cause} is not among ${JSON.stringify(seen)}`);
}

/** Everything in `part` is in `whole`; lists are compared element by element and in full. */
export function partly(whole: unknown, part: unknown): void {
  if (Array.isArray(part)) {
    assert.ok(Array.isArray(whole) && whole.length === part.length, `${show(whole)} is not as long as ${show(part)}`);
    for (const [index, element] of part.entries()) partly(whole[index], element);
  } else if (part !== null && typeof part === "object") {
    assert.ok(whole !== null && typeof whole === "object", `${show(whole)} should hold ${show(part)}`);
    for (const [key, value] of Object.entries(part)) partly((whole as Record<string, unknown>)[key], value);
  } else assert.deepEqual(whole, part);
}

/** The value at a dotted path, such as `spec.ports.0.nodePort`; undefined where there is none. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const key of path.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}

/** Names of a list's items, in the order given. */
export function names(list: KubeObject): string[] {
  return (list["items"] as KubeObject[]).map((item) => String(item.metadata.name));
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
