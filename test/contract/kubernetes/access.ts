/** Who a token is and what it may do: tokens of service accounts, reviews, and roles that are enforced. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { eventually } from "../../support/eventually.ts";
import type { KubeObject, Reply } from "../../support/kube-connection.ts";
import { type Api, accepted, at, type NamespacePaths, partly, refused } from "./api.ts";

const RBAC = "rbac.authorization.k8s.io";
const TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

interface Account {
  readonly user: string;
  readonly token: string;
  get(path: string): Promise<Reply>;
  post(path: string, body: unknown): Promise<Reply>;
}

export function access(api: Api): void {
  /** A service account with a token, which may do what the role says. */
  const account = async (namespace: NamespacePaths, rules: readonly object[] = []): Promise<Account> => {
    const { metadata } = await api.create(namespace.in("serviceaccounts"), { metadata: { generateName: "robot-" } });
    const name = String(metadata.name);
    await api.create(namespace.group(`${RBAC}/v1`, "roles"), { metadata: { name }, rules });
    await api.create(namespace.group(`${RBAC}/v1`, "rolebindings"), {
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: namespace.name }],
    });
    const made = await api.create(namespace.in("serviceaccounts", name, "token"), {
      spec: { expirationSeconds: 3600 },
    });
    const token = String(at(made, "status.token"));
    const stranger = api.stranger();
    const ask = async (method: string, path: string, body?: unknown): Promise<Reply> =>
      stranger.request(method, path, {
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
      });
    return {
      user: `system:serviceaccount:${namespace.name}:${name}`,
      token,
      get: (path) => ask("GET", path),
      post: (path, body) => ask("POST", path, body),
    };
  };
  const review = (path: string, spec: object): Promise<KubeObject> => api.create(path, { spec });

  test("a service account's token is a user of three groups", async () => {
    const namespace = await api.namespace();
    const robot = await account(namespace);
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace.name}`, "system:authenticated"];
    partly(await review(TOKEN_REVIEWS, { token: robot.token }), {
      kind: "TokenReview",
      status: { authenticated: true, user: { username: robot.user, groups } },
    });
    const asked = await robot.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    partly(accepted(asked, 201), { status: { userInfo: { username: robot.user, groups } } });
  });

  test("a token is for its audience, and any other text is nobody", async () => {
    const namespace = await api.namespace();
    await api.create(namespace.in("serviceaccounts"), { metadata: { name: "robot" } });
    const made = await api.create(namespace.in("serviceaccounts", "robot", "token"), {
      spec: { audiences: ["vault"] },
    });
    const token = String(at(made, "status.token"));
    partly(await review(TOKEN_REVIEWS, { token, audiences: ["vault", "other"] }), {
      status: { authenticated: true, audiences: ["vault"] },
    });
    for (const spec of [{ token }, { token: "guessed" }, { token: `${token}x`, audiences: ["vault"] }]) {
      const { status } = (await review(TOKEN_REVIEWS, spec)) as { status?: object };
      assert.equal(at(status, "authenticated"), undefined);
    }
    const stranger = api.stranger();
    const asked = await stranger.request("GET", "/api", { headers: { authorization: `Bearer ${token}` } });
    assert.equal(asked.code, 401);
  });

  test("a token for less than ten minutes is refused", async () => {
    const namespace = await api.namespace();
    await api.create(namespace.in("serviceaccounts"), { metadata: { name: "robot" } });
    const path = namespace.in("serviceaccounts", "robot", "token");
    refused(await api.post(path, { spec: { audiences: [], expirationSeconds: 60 } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.expirationSeconds"],
    });
    refused(await api.post(namespace.in("serviceaccounts", "nobody", "token"), {}), { code: 404, reason: "NotFound" });
  });

  test("a token ends with its service account", async () => {
    const namespace = await api.namespace();
    const robot = await account(namespace);
    accepted(await robot.get("/api"));
    await api.delete(namespace.in("serviceaccounts", robot.user.split(":").at(-1) ?? ""));
    // kube-apiserver remembers a token for ten seconds
    await eventually(async () => assert.equal((await robot.get("/api")).code, 401), 30_000);
  });

  test("a role lets its subjects do what it says, in its namespace, and nothing else", async () => {
    const namespace = await api.namespace();
    const other = await api.namespace();
    const robot = await account(namespace, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] },
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["update"] },
    ]);
    await api.create(namespace.in("configmaps"), { metadata: { name: "mine" } });
    accepted(await robot.get(namespace.in("configmaps")));
    accepted(await robot.get(namespace.in("configmaps", "mine")));
    const refusal = { code: 403, reason: "Forbidden", details: { kind: "configmaps" } };
    refused(await robot.get(other.in("configmaps")), refusal);
    refused(await robot.get("/api/v1/configmaps"), refusal);
    refused(await robot.get(`${namespace.in("configmaps")}?watch=true`), refusal);
    refused(await robot.post(namespace.in("configmaps"), { metadata: { name: "new" } }), refusal);
    refused(await robot.get("/apis/apps/v1/deployments"), {
      code: 403,
      reason: "Forbidden",
      details: { kind: "deployments", group: "apps" },
    });
  });

  test("every user may discover the API and ask what it may do", async () => {
    const namespace = await api.namespace();
    const robot = await account(namespace, [{ apiGroups: [""], resources: ["pods"], verbs: ["*"] }]);
    for (const path of ["/api", "/apis", "/version", "/openapi/v3"]) accepted(await robot.get(path));
    const ask = async (attributes: object): Promise<unknown> => {
      const asked = { spec: { resourceAttributes: { namespace: namespace.name, ...attributes } } };
      return at(accepted(await robot.post(OWN_ACCESS_REVIEWS, asked), 201), "status.allowed");
    };
    assert.equal(await ask({ verb: "delete", resource: "pods" }), true);
    assert.equal(await ask({ verb: "delete", resource: "pods", namespace: "default" }), false);
    assert.equal(await ask({ verb: "get", resource: "pods", subresource: "log" }), false);
    assert.equal(await ask({ verb: "get", resource: "secrets" }), false);
  });

  test("a review answers for users, groups and paths", async () => {
    const metadata = { generateName: "contract-" };
    const rules = [
      { apiGroups: ["apps"], resources: ["*/scale"], verbs: ["update"] },
      { nonResourceURLs: ["/metrics/*"], verbs: ["get"] },
    ];
    const role = String((await api.create(`/apis/${RBAC}/v1/clusterroles`, { metadata, rules })).metadata.name);
    await api.create(`/apis/${RBAC}/v1/clusterrolebindings`, {
      metadata: { name: role },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
      subjects: [
        { apiGroup: RBAC, kind: "User", name: "ada" },
        { apiGroup: RBAC, kind: "Group", name: "owners" },
      ],
    });
    const scale = {
      verb: "update",
      group: "apps",
      resource: "deployments",
      subresource: "scale",
      namespace: "default",
    };
    const expected: readonly [object, boolean][] = [
      [{ user: "ada", resourceAttributes: scale }, true],
      [{ user: "bob", groups: ["owners"], resourceAttributes: scale }, true],
      [{ user: "bob", resourceAttributes: scale }, false],
      [{ user: "ada", resourceAttributes: { ...scale, subresource: "" } }, false],
      [{ user: "ada", resourceAttributes: { ...scale, group: "batch" } }, false],
      [{ user: "ada", nonResourceAttributes: { path: "/metrics/slis", verb: "get" } }, true],
      [{ user: "ada", nonResourceAttributes: { path: "/logs", verb: "get" } }, false],
      [{ user: "anyone", groups: ["system:masters"], resourceAttributes: scale }, true],
    ];
    for (const [spec, allowed] of expected) {
      assert.equal(at(await review(ACCESS_REVIEWS, spec), "status.allowed"), allowed, JSON.stringify(spec));
    }
  });

  test("who may impersonate is treated as another; who may not is refused", async () => {
    const namespace = await api.namespace();
    const robot = await account(namespace, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    const as = { "impersonate-user": robot.user };
    accepted(await api.get(namespace.in("configmaps"), as));
    refused(await api.get(namespace.in("secrets"), as), {
      code: 403,
      reason: "Forbidden",
      details: { kind: "secrets" },
    });
    const stranger = api.stranger();
    const headers = { authorization: `Bearer ${robot.token}`, "impersonate-user": "ada" };
    refused(await stranger.request("GET", "/api", { headers }), {
      code: 403,
      reason: "Forbidden",
      details: { kind: "users", name: "ada" },
    });
  });
}
