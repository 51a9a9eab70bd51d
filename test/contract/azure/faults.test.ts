/** Armed faults as a client sees them, and the log that tells afterwards what happened. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { armHttp, errorCode } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";

const VERSION = "?api-version=2025-05-01";
const azure = await azureUnderTest({ topology: { nodes: 0 } });
const arm = await armHttp(azure, "tester");
const network = `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network`;

afterEach(() => azure.control("DELETE", "/faults"));

const address = (name: string) => `${network}/publicIPAddresses/${name}${VERSION}`;
const BODY = { location: "westus2", sku: { name: "Standard" }, properties: { publicIPAllocationMethod: "Static" } };
const arm1 = (fault: Record<string, unknown>) => azure.control("POST", "/faults", fault);

interface Entry {
  readonly caller: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly verb: string;
  readonly durationMs: number;
  readonly faults: readonly string[];
  readonly diff: readonly { readonly id: string; readonly changes: readonly { readonly path: string }[] }[];
}

async function audit(path: string): Promise<readonly Entry[]> {
  return ((await azure.control("GET", `/audit?path=${path}`)) as { entries: Entry[] }).entries;
}

test("status and code for so many requests, then all is well", async () => {
  await arm1({
    method: "PUT",
    path: "**/publicIPAddresses/*",
    count: 2,
    effect: { kind: "status", status: 503, code: "ServerBusy", retryAfterSeconds: 7 },
  });
  for (let i = 0; i < 2; i++) {
    const answer = await arm.send("PUT", address("one"), { body: BODY });
    assert.deepEqual([answer.status, errorCode(answer), answer.headers["retry-after"]], [503, "ServerBusy", "7"]);
  }
  assert.equal((await arm.send("GET", address("one"))).status, 404, "a refused request changes nothing");
  assert.equal((await arm.send("PUT", address("one"), { body: BODY })).status, 201);
});

test("cut before: no answer, nothing applied", async () => {
  await arm1({ method: "PUT", path: "**/before", effect: { kind: "cutBefore" } });
  await assert.rejects(arm.send("PUT", address("before"), { body: BODY }));
  assert.equal((await arm.send("GET", address("before"))).status, 404);
});

test("cut after: no answer, but applied", async () => {
  await arm1({ method: "PUT", path: "**/after", effect: { kind: "cutAfter" } });
  await assert.rejects(arm.send("PUT", address("after"), { body: BODY }));
  assert.equal((await arm.send("GET", address("after"))).status, 200);
  const [put] = await audit("publicIPAddresses/after");
  assert.equal(put?.status, 0, "the log knows that no answer left");
  assert.equal(put?.diff.length, 1);
});

test("a delay holds the answer back", async () => {
  await arm1({ path: "**/publicIPAddresses/slow", effect: { kind: "delay", delayMs: 150 } });
  const started = performance.now();
  await arm.send("GET", address("slow"));
  assert.ok(performance.now() - started >= 145);
});

for (const outcome of ["Failed", "Canceled"]) {
  test(`an operation that ends ${outcome} later`, async () => {
    const name = `later-${outcome.toLowerCase()}`;
    await arm1({
      method: "PUT",
      path: `**/${name}`,
      effect: { kind: "operation", outcome, code: "SomeCode", message: "Some reason." },
    });
    const put = await arm.send("PUT", address(name), { body: BODY });
    assert.equal(put.status, 201);
    const poll = await arm.send(
      "GET",
      new URL(put.headers["azure-asyncoperation"] ?? "").href.replace(azure.armEndpoint, ""),
    );
    const { status, error } = poll.body as { status: string; error: { code: string; message: string } };
    assert.deepEqual([poll.status, status, error.code, error.message], [200, outcome, "SomeCode", "Some reason."]);
    const seen = (await arm.send("GET", address(name))).body as { properties: { provisioningState: string } };
    assert.equal(seen.properties.provisioningState, outcome);
    const again = await arm.send("PUT", address(name), { body: BODY });
    assert.ok(again.status < 300, "a PUT repairs it");
  });
}

test("an operation can be made to last", async () => {
  await arm1({
    method: "PUT",
    path: "**/lasting",
    effect: { kind: "operation", outcome: "Succeeded", tailMs: 120_000 },
  });
  const put = await arm.send("PUT", address("lasting"), { body: BODY });
  const poll = await arm.send("GET", (put.headers["azure-asyncoperation"] ?? "").replace(azure.armEndpoint, ""));
  assert.deepEqual(poll.body, { status: "InProgress" });
});

test("a stale read shows the version before the last write, or none", async () => {
  await arm.send("PUT", address("stale"), { body: BODY });
  await arm.send("PUT", address("stale"), { body: { ...BODY, tags: { version: "2" } } });
  await arm1({ method: "GET", path: "**/publicIPAddresses/stale", effect: { kind: "staleRead" } });
  const tags = async () => ((await arm.send("GET", address("stale"))).body as { tags?: { version?: string } }).tags;
  assert.equal((await tags())?.version, undefined);
  assert.equal((await tags())?.version, "2");
  await arm.send("PUT", address("fresh"), { body: BODY });
  await arm1({ method: "GET", path: "**/publicIPAddresses", effect: { kind: "staleRead" } });
  const list = async () =>
    ((await arm.send("GET", `${network}/publicIPAddresses${VERSION}`)).body as { value: { name: string }[] }).value.map(
      ({ name }) => name,
    );
  assert.ok(!(await list()).includes("fresh"));
  assert.ok((await list()).includes("fresh"));
});

test("the log tells who did what, and what a write changed", async () => {
  await arm.send("PUT", address("logged"), { body: BODY });
  await arm.send("PUT", address("logged"), { body: { ...BODY, tags: { a: "1" } } });
  await arm.send("GET", address("logged"));
  const entries = await audit("publicIPAddresses/logged");
  assert.deepEqual(
    entries.map(({ caller, method, status, verb }) => [caller, method, status, verb]),
    [
      ["tester", "PUT", 201, "PUT"],
      ["tester", "PUT", 200, "PUT"],
      ["tester", "GET", 200, "GET"],
    ],
  );
  assert.deepEqual(
    entries[1]?.diff.flatMap(({ changes }) => changes),
    [{ path: "tags", after: { a: "1" } }],
  );
  assert.deepEqual(entries[2]?.diff, []);
});

test("counters are by type and verb; polls are counted apart", async () => {
  await azure.control("DELETE", "/audit");
  await azure.network.publicIPAddresses.beginCreateOrUpdateAndWait(azure.resourceGroup, "counted", {
    location: "westus2",
    sku: { name: "Standard" },
    publicIPAllocationMethod: "Static",
  });
  const counters = (await azure.control("GET", "/counters")) as {
    requests: Record<string, Record<string, number>>;
    polls: number;
  };
  assert.deepEqual(counters.requests["Microsoft.Network/publicIPAddresses"], { PUT: 1, GET: 1 });
  assert.ok(counters.polls >= 1);
});
