/** The control endpoint of the embedded API: what a test arms is what clients then meet. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type RunningKubernetes, startKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { type KubeConnection, type KubeObject, connect } from "../../support/kube-connection.ts";
import { refusesWebPages } from "../../suites/control/refuses-web-pages.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("the control endpoint of the embedded API", () => {
  let kubernetes: RunningKubernetes;
  let client: KubeConnection;
  before(async () => {
    kubernetes = await startKubernetes();
    client = connect(kubernetes.kubeconfig);
  });
  after(async () => {
    await client.close();
    await kubernetes.close();
  });

  async function control(method: string, path: string, body?: unknown): Promise<{ code: number; body: KubeObject }> {
    const init =
      body === undefined
        ? { method }
        : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const reply = await fetch(`${kubernetes.controlUrl}${path}`, init);
    return { code: reply.status, body: (await reply.json()) as KubeObject };
  }

  const names = async (): Promise<unknown[]> =>
    ((await client.request("GET", MAPS)).body["items"] as KubeObject[]).map((item) => item.metadata.name);

  test("watches are closed cleanly, or torn", async () => {
    const clean = await client.watch(`${MAPS}?watch=true`);
    const other = await client.watch("/api/v1/nodes?watch=true");
    assert.deepEqual((await control("GET", "/watches")).body["watches"], ["configmaps", "nodes"]);
    assert.deepEqual((await control("POST", "/watches/cut", { how: "close", collection: "configmaps" })).body, {
      cut: 1,
    });
    assert.deepEqual(await clean.rest(), []);
    assert.deepEqual((await control("POST", "/watches/cut")).body, { cut: 1 });
    await assert.rejects(other.rest());
  });

  test("compaction makes older versions expire", async () => {
    const { metadata } = (await client.request("GET", MAPS)).body;
    await client.request("POST", MAPS, { body: { metadata: { name: "compacted" } } });
    await control("POST", "/compact");
    const watch = await client.watch(`${MAPS}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    const [expired] = await watch.rest();
    assert.equal(expired?.type, "ERROR");
    assert.equal(expired.object["code"], 410);
  });

  test("lists lag behind until told to catch up", async () => {
    const stale = await names();
    assert.equal((await control("PUT", "/stale-lists")).code, 200);
    await client.request("POST", MAPS, { body: { metadata: { name: "later" } } });
    assert.deepEqual(await names(), stale);
    await control("DELETE", "/stale-lists");
    assert.deepEqual(await names(), [...stale, "later"]);
  });

  test("a fault refuses as often as it was told to, and says when to come back", async () => {
    const effect = { kind: "status", status: 429, reason: "TooManyRequests", retryAfterSeconds: 3 };
    await control("POST", "/faults", { method: "GET", path: "/api/v1/**", skip: 1, count: 2, effect });
    const codes: number[] = [];
    for (let time = 0; time < 4; time++) {
      const reply = await client.request("GET", MAPS);
      codes.push(reply.code);
      if (reply.code === 429) assert.equal(reply.headers["retry-after"], "3");
    }
    assert.deepEqual(codes, [200, 429, 429, 200]);
    const [fault] = (await control("GET", "/faults")).body["faults"] as { id: string; hits: number }[];
    assert.equal(fault?.hits, 2);
    assert.deepEqual((await control("DELETE", `/faults/${fault?.id}`)).body, { cleared: 1 });
  });

  test("a cut before leaves nothing done, a cut after leaves it done and unsaid", async () => {
    for (const [kind, made] of [
      ["cutBefore", false],
      ["cutAfter", true],
    ] as const) {
      await control("POST", "/faults", { method: "POST", path: MAPS, effect: { kind } });
      await assert.rejects(client.request("POST", MAPS, { body: { metadata: { name: kind.toLowerCase() } } }));
      assert.equal((await names()).includes(kind.toLowerCase()), made, kind);
    }
    await control("DELETE", "/faults");
  });

  test("a delay delays", async () => {
    await control("POST", "/faults", { path: MAPS, effect: { kind: "delay", delayMs: 200 } });
    const startMs = performance.now();
    assert.equal((await client.request("GET", MAPS)).code, 200);
    assert.ok(performance.now() - startMs >= 190);
  });

  test("what cannot be understood is refused by name", async () => {
    const cases: [string, string, unknown, RegExp][] = [
      ["POST", "/faults", { pth: "/x" }, /unknown key "pth"/],
      ["POST", "/faults", { effect: { kind: "explode" } }, /fault\.effect\.kind must be one of/],
      ["POST", "/faults", { caller: "me", effect: { kind: "cutAfter" } }, /callers are not told apart here/],
      ["POST", "/watches/cut", { how: "gently" }, /cut\.how must be one of close, destroy/],
      ["PUT", "/stale-lists", { revision: "x" }, /stale-lists\.revision must be a whole number/],
    ];
    for (const [method, path, body, message] of cases) {
      const reply = await control(method, path, body);
      assert.equal(reply.code, 400);
      assert.match((reply.body["error"] as { message: string }).message, message);
    }
    assert.equal((await control("GET", "/nothing")).code, 404);
  });

  refusesWebPages(() => kubernetes.controlUrl);
});
