/** Throttling and latency as clients meet them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { armHttp, errorCode, type WireAnswer } from "./arm-http.ts";
import { azureUnderTest, type AzureUnderTest } from "./azure-under-test.ts";

const VERSION = "?api-version=2025-05-01";
const TOPOLOGY = { nodes: 0 };
const BODY = { location: "westus2", sku: { name: "Standard" }, properties: { publicIPAllocationMethod: "Static" } };

const networkOf = (azure: AzureUnderTest): string =>
  `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network`;

test("beyond 250 reads at once, 429 with Retry-After; who waits gets through; others are not held back", async () => {
  const azure = await azureUnderTest({ topology: TOPOLOGY, throttling: true });
  const greedy = await armHttp(azure, "greedy");
  const path = `${networkOf(azure)}/virtualNetworks/vnet${VERSION}`;
  const answers: WireAnswer[] = [await greedy.send("GET", path)];
  // many at a time: asked one by one, a slow machine might never outrun the refill
  while (answers.every(({ status }) => status !== 429) && answers.length < 5000)
    answers.push(...(await Promise.all(Array.from({ length: 50 }, () => greedy.send("GET", path)))));
  const refused = answers.find(({ status }) => status === 429);
  assert.ok(answers.length > 250, `${answers.length}`);
  assert.equal(refused && errorCode(refused), "SubscriptionRequestsThrottled");
  assert.ok(Number(refused?.headers["retry-after"]) >= 1);
  assert.equal(answers[0]?.headers["x-ms-ratelimit-remaining-subscription-reads"], "249");
  assert.equal((await (await armHttp(azure, "modest")).send("GET", path)).status, 200);
  const patient = await azure.network.virtualNetworks.get(azure.resourceGroup, "vnet");
  assert.equal(patient.name, "vnet");
  await azure.control("PATCH", "/settings", { throttling: false });
  assert.equal((await greedy.send("GET", path)).status, 200);
});

test("with latency a reply takes its time and its operation lasts longer; the clock starts with the reply", async () => {
  const azure = await azureUnderTest({ topology: TOPOLOGY, latency: 0.5, latencySeed: 5 });
  const arm = await armHttp(azure);
  const path = `${networkOf(azure)}/virtualNetworks/slow${VERSION}`;
  const network = { location: "westus2", properties: { addressSpace: { addressPrefixes: ["10.9.0.0/16"] } } };
  const started = performance.now();
  const put = await arm.send("PUT", path, { body: network });
  assert.ok(performance.now() - started > 250, "half of about two seconds");
  assert.equal(put.status, 201);
  const poll = await arm.send("GET", (put.headers["azure-asyncoperation"] ?? "").replace(azure.armEndpoint, ""));
  assert.deepEqual(poll.body, { status: "InProgress" });
  assert.equal(poll.headers["retry-after"], "5", "half of ten seconds");
  await azure.control("PATCH", "/settings", { latency: "none" });
  const quick = await arm.send("PUT", `${networkOf(azure)}/publicIPAddresses/quick${VERSION}`, { body: BODY });
  const done = await arm.send("GET", (quick.headers["azure-asyncoperation"] ?? "").replace(azure.armEndpoint, ""));
  assert.deepEqual(done.body, { status: "Succeeded" });
  assert.equal(done.headers["retry-after"], undefined);
});
