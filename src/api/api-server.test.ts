/** What the server lets through and what it does not, before any view is looked at. */
import assert from "node:assert/strict";
import { get } from "node:http";
import { after, before, describe, test } from "node:test";

import { ApiClient } from "../../test/support/api-client.ts";
import { SILENT_LOG } from "../core/util/log.ts";
import { realClock } from "../main/real-clock.ts";
import { LiveView } from "./api-source.ts";
import { type RunningApi, startApi } from "./api-server.ts";
import { type Authorizer, OPEN } from "./authorizer.ts";
import { selfSigned } from "./certificate.ts";

const KEYS = selfSigned("127.0.0.1", Date.now());
const HOLDER = "azlb-controller-7d9f_1";

/** A process that does not lead. */
const standby = new LiveView({
  version: "1",
  clusterName: "kubernetes",
  driftPolicy: "report",
  clock: realClock,
  picture: () => undefined,
  isReady: () => false,
  leader: () => ({ leads: false, identity: "me", holder: HOLDER }),
  throttle: () => [],
  probeResult: () => Promise.resolve(undefined),
  writes: () => ({ sequence: 0, writes: [] }),
});

/** `secret` may see everything, `tenant` one Service. */
const authorizer: Authorizer = {
  admit: (token, { namespace, name }) => {
    if (token === "secret") return Promise.resolve("granted");
    if (token === "outage") return Promise.reject(new Error("the API server does not answer"));
    if (token !== "tenant") return Promise.resolve("unauthenticated");
    return Promise.resolve(namespace === "a" && name === "web" ? "granted" : "forbidden");
  },
};

const SERVED = { host: "127.0.0.1", port: 0, live: standby, log: SILENT_LOG };

describe("with TLS and the cluster's authorisation", () => {
  let api: RunningApi;
  before(async () => {
    const files = new Map([["/index.html", { type: "text/html", body: "<p>page</p>" }]]);
    api = await startApi({ ...SERVED, authorizer, keys: KEYS, files });
  });
  after(() => api.close());
  const as = (token?: string): ApiClient => new ApiClient(api.url, { ca: KEYS.cert, ...(token && { token }) });
  const status = async (token: string | undefined, path: string): Promise<number> =>
    (await as(token).answer(path)).status;

  test("without a token, or with a wrong one, there is nothing but the page and the document", async () => {
    for (const path of [
      "/api/v1/overview",
      "/api/v1/services/a/web",
      "/api/v1/changes",
      "/api/v1/changes?service=a/web",
    ]) {
      assert.equal(await status(undefined, path), 401, path);
      assert.equal(await status("wrong", path), 401, path);
    }
    assert.equal(await status(undefined, "/"), 200);
    assert.equal(await status(undefined, "/openapi.json"), 200);
    assert.equal(await status(undefined, "/nothing"), 404);
  });

  test("a tenant asks for its own Service, and for nothing else", async () => {
    for (const path of [
      "/overview",
      "/services",
      "/services?namespace=a",
      "/services/a/other",
      "/nodes",
      "/loadbalancers",
      "/writes",
      "/changes",
      "/changes?service=b/web",
    ]) {
      assert.equal(await status("tenant", `/api/v1${path}`), 403, path);
    }
    assert.equal(await status("tenant", "/api/v1/services/a/web"), 503); // it is a standby
  });

  test("a standby says who leads", async () => {
    const { status: code, text } = await as("secret").answer("/api/v1/services");
    assert.deepEqual(
      [code, JSON.parse(text)],
      [503, { error: `${HOLDER} leads, and this process waits: ask that one` }],
    );
    const overview = await as("secret").get<{ leader: { holder: string; leads: boolean } }>("/api/v1/overview");
    assert.deepEqual([overview.leader.holder, overview.leader.leads], [HOLDER, false]);
  });

  test("Authorization works too, where no proxy takes it", async () => {
    assert.equal((await as().answer("/api/v1/overview", { authorization: "Bearer secret" })).status, 200);
  });

  test("a cluster that cannot be asked admits no client", async () => {
    assert.equal(await status("outage", "/api/v1/overview"), 503);
  });

  test("a browser may run the page's own scripts, and speak to it alone", async () => {
    const { headers } = await as().answer("/");
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'; script-src 'self';/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal((await as("secret").answer("/api/v1/overview")).headers.get("cache-control"), "no-store");
  });
});

describe("in a sandbox", () => {
  let api: RunningApi;
  const flipped: unknown[] = [];
  before(async () => {
    const switches = {
      list: () => Promise.resolve({ items: [] }),
      flip: (body: unknown) => Promise.resolve({ flipped: flipped.push(body) }),
    };
    api = await startApi({ ...SERVED, authorizer: OPEN, keys: undefined, files: new Map(), switches });
  });
  after(() => api.close());

  const post = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${api.url}/api/v1/sandbox/switches`, { method: "POST", body: "{}", headers });

  test("its own page flips switches, that of another origin does not", async () => {
    const json = { "content-type": "application/json" };
    assert.equal((await post({ ...json, origin: api.url })).status, 200);
    assert.equal((await post({ ...json, origin: "https://elsewhere.example" })).status, 403);
    assert.equal((await post({ "content-type": "text/plain" })).status, 403);
    assert.equal(flipped.length, 1);
  });

  test("another name for loopback is refused, and so is every other write", async () => {
    const status = await new Promise((resolve, reject) => {
      const asked = get(`${api.url}/api/v1/overview`, { headers: { host: "rebound.example" } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on("error", reject);
    });
    assert.equal(status, 421);
    assert.equal((await fetch(`${api.url}/api/v1/overview`, { method: "DELETE" })).status, 405);
  });
});
