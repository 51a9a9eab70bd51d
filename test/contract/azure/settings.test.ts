/** What is changed at the control endpoint while the emulator runs, as clients notice it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { armHttp, errorCode } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";

const azure = await azureUnderTest({ topology: { nodes: 0 } });
const arm = await armHttp(azure);
const network = `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network`;
const at = (path: string, version = "2025-05-01") => `${network}/${path}?api-version=${version}`;
const patch = (settings: unknown) => azure.control("PATCH", "/settings", settings);
const ADDRESS = { location: "westus2", sku: { name: "Standard" }, properties: { publicIPAllocationMethod: "Static" } };

test("a limit goes down, and up again", async () => {
  assert.equal((await arm.send("PUT", at("publicIPAddresses/one"), { body: ADDRESS })).status, 201);
  await patch({ limits: { publicIps: 1 } });
  const refused = await arm.send("PUT", at("publicIPAddresses/two"), { body: ADDRESS });
  assert.deepEqual([refused.status, errorCode(refused)], [400, "PublicIPCountLimitReached"]);
  await patch({ limits: { publicIps: 1000 } });
  assert.equal((await arm.send("PUT", at("publicIPAddresses/two"), { body: ADDRESS })).status, 201);
});

test("a field can be hidden from older api-versions, and is not lost", async () => {
  await patch({
    hiddenFields: [{ type: "Microsoft.Network/publicIPAddresses", path: "properties.novel", since: "2026-01-01" }],
  });
  const body = { ...ADDRESS, properties: { ...ADDRESS.properties, novel: 7 } };
  await arm.send("PUT", at("publicIPAddresses/novel", "2026-01-01"), { body });
  const novel = async (version: string) =>
    ((await arm.send("GET", at("publicIPAddresses/novel", version))).body as { properties: { novel?: number } })
      .properties.novel;
  assert.equal(await novel("2025-05-01"), undefined);
  assert.equal(await novel("2026-01-01"), 7);
});

test("a patch with one wrong value changes nothing", async () => {
  const before = await azure.control("GET", "/settings");
  await assert.rejects(
    patch({ latency: "realistic", throttling: "yes" }),
    /settings\.throttling must be true or false/,
  );
  await assert.rejects(
    patch({ throttling: true, limits: { publicIps: -1 } }),
    /limits\.publicIps must be a whole number/,
  );
  assert.deepEqual(await azure.control("GET", "/settings"), before);
});

test("resources are seeded while it runs, and the state can be seen whole", async () => {
  const path =
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroup}/providers/Microsoft.Network/publicIPAddresses/planted";
  assert.deepEqual(await azure.control("POST", "/seed", { resources: [{ path, body: ADDRESS }] }), { planted: 1 });
  assert.equal((await arm.send("GET", at("publicIPAddresses/planted"))).status, 200);
  const { resources } = (await azure.control("GET", "/state")) as { resources: { id: string }[] };
  assert.ok(resources.some(({ id }) => id === `${network}/publicIPAddresses/planted`));
});
