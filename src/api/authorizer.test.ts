/** Who is admitted, what the cluster is asked for that, and how long an answer counts. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeClient } from "../kube/client/kube-client.ts";
import { ClusterAuthorizer } from "./authorizer.ts";

interface Asked {
  readonly kind: string;
  readonly spec: Record<string, unknown>;
}

function rig(allowed: (attributes: Record<string, string>) => boolean, audiences: readonly string[] = ["azlb"]) {
  const asked: Asked[] = [];
  let nowMs = 0;
  const create = (resource: { kind: string }, { spec }: { spec: Record<string, unknown> }): Promise<unknown> => {
    asked.push({ kind: resource.kind, spec });
    if (resource.kind === "TokenReview") {
      const authenticated = spec["token"] === "good";
      return Promise.resolve({ status: { authenticated, audiences, user: { username: "ann", groups: ["devs"] } } });
    }
    return Promise.resolve({ status: { allowed: allowed(spec["resourceAttributes"] as Record<string, string>) } });
  };
  const authorizer = new ClusterAuthorizer({ create } as unknown as KubeClient, { monotonicMs: () => nowMs });
  return { authorizer, asked, pass: (ms: number) => (nowMs += ms) };
}

test("the cluster decides by the rights on Services", async () => {
  const { authorizer, asked } = rig(({ namespace, name }) => namespace === "a" && name === "web");
  assert.equal(await authorizer.admit(undefined, {}), "unauthenticated");
  assert.equal(await authorizer.admit("bad", {}), "unauthenticated");
  assert.equal(await authorizer.admit("good", { namespace: "a", name: "web" }), "granted");
  assert.equal(await authorizer.admit("good", { namespace: "b", name: "web" }), "forbidden");
  assert.equal(await authorizer.admit("good", { namespace: "a" }), "forbidden");
  assert.equal(await authorizer.admit("good", {}), "forbidden");
  const reviews = asked.filter(({ kind }) => kind === "SubjectAccessReview").map(({ spec }) => spec);
  assert.deepEqual(reviews[0], {
    user: "ann",
    uid: "",
    groups: ["devs"],
    extra: {},
    resourceAttributes: { verb: "get", version: "v1", resource: "services", namespace: "a", name: "web" },
  });
  assert.deepEqual(
    reviews.map((spec) => (spec["resourceAttributes"] as { verb: string }).verb),
    ["get", "get", "list", "list"],
  );
  assert.deepEqual(asked[0]?.spec, { token: "bad", audiences: ["azlb"] });
});

test("a token for another audience is none", async () => {
  const { authorizer } = rig(() => true, ["https://kubernetes.default.svc"]);
  assert.equal(await authorizer.admit("good", {}), "unauthenticated");
});

test("an answer counts for a minute, and no longer", async () => {
  const { authorizer, asked, pass } = rig(() => true);
  for (const ms of [0, 30_000, 29_000]) {
    pass(ms);
    assert.equal(await authorizer.admit("good", {}), "granted");
  }
  assert.equal(asked.length, 2);
  pass(1_000);
  await authorizer.admit("good", {});
  assert.equal(asked.length, 4);
});

test("the token itself is not kept", async () => {
  const { authorizer } = rig(() => true);
  await authorizer.admit("good", {});
  const { inspect } = await import("node:util");
  assert.doesNotMatch(inspect(authorizer, { depth: 10, showHidden: true }), /good/);
});

test("wrong tokens are reviewed a few at a time", async () => {
  let reviews = 0;
  const create = (): Promise<never> => {
    reviews += 1;
    return new Promise(() => {});
  };
  const authorizer = new ClusterAuthorizer({ create }, { monotonicMs: () => 0 });
  const all = Array.from({ length: 100 }, (_, at) => authorizer.admit(`token ${at}`, {}));
  assert.equal(await Promise.race(all), "busy");
  assert.equal(reviews, 8);
});
