/**
 * What a Go client (azcore, azidentity, the incumbent controller) needs and Node's SDK does not show: tried on the
 * wire, request by request as that client sends them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { wire } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";

const azure = await azureUnderTest({ plainHttp: true });
const plain = azure.httpEndpoint ?? "";

interface CloudEntry {
  readonly name: string;
  readonly resourceManager: string;
  readonly authentication: { readonly loginEndpoint: string; readonly audiences: readonly string[] };
  readonly suffixes: { readonly storage: string; readonly acrLoginServer: string };
}

test("/metadata/endpoints is an array whose entry for the config's cloud has all that Go reads", async () => {
  for (const base of [plain, azure.armEndpoint]) {
    const answer = await wire(`${base}/metadata/endpoints?api-version=2019-05-01`, "GET");
    assert.ok(Array.isArray(answer.body));
    const entry = (answer.body as CloudEntry[]).find(({ name }) => name === azure.cloudConfig["cloud"]);
    assert.equal(entry?.resourceManager, base);
    assert.ok((entry?.authentication.audiences.length ?? 0) > 0);
    assert.match(entry?.authentication.loginEndpoint ?? "", /^https:/, "an authority is always https");
    assert.ok(entry?.suffixes.storage);
    assert.ok(entry?.suffixes.acrLoginServer);
  }
});

test("older api-versions of /metadata/endpoints get one object", async () => {
  const answer = await wire(`${azure.armEndpoint}/metadata/endpoints?api-version=2015-01-01`, "GET");
  assert.equal((answer.body as CloudEntry).authentication.loginEndpoint, azure.armEndpoint);
});

test("OpenID configuration: three endpoints, and the issuer has the authority's scheme and host", async () => {
  const tenant = azure.account.tenantId;
  for (const path of [`/${tenant}/v2.0/.well-known/openid-configuration`, "/adfs/.well-known/openid-configuration"]) {
    const answer = await wire(`${azure.armEndpoint}${path}`, "GET");
    const document = answer.body as Record<string, string>;
    assert.equal(new URL(document["issuer"] ?? "").origin, azure.armEndpoint);
    assert.match(document["authorization_endpoint"] ?? "", /^https:/);
    const token = await wire(document["token_endpoint"] ?? "", "POST", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      text: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: azure.account.clientId,
        client_secret: azure.account.clientSecret,
        scope: "https://management.core.windows.net//.default openid offline_access profile",
      }).toString(),
    });
    assert.equal(token.status, 200, token.text);
    assert.equal((token.body as { token_type: string }).token_type, "Bearer");
  }
});

test("with managed identity by environment, Resource Manager answers over plain HTTP", async () => {
  const token = await wire(
    `${azure.env["IDENTITY_ENDPOINT"]}?api-version=2019-08-01&resource=${encodeURIComponent("https://management.core.windows.net/")}`,
    "GET",
    { headers: { "x-identity-header": azure.env["IDENTITY_HEADER"] ?? "" } },
  );
  const authorization = `Bearer ${(token.body as { access_token: string }).access_token}`;
  const get = (path: string) => wire(`${plain}${path}`, "GET", { headers: { authorization } });
  const subscription = `/subscriptions/${azure.subscriptionId}`;

  const provider = await get(`${subscription}/providers/Microsoft.Compute?api-version=2020-06-01`);
  const types = (provider.body as { resourceTypes: { resourceType: string; zoneMappings: unknown[] }[] }).resourceTypes;
  const machines = types.find(({ resourceType }) => resourceType === "virtualMachines");
  assert.ok((machines?.zoneMappings.length ?? 0) > 0, "zone mappings of virtualMachines");

  const network = `${subscription}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network`;
  for (const path of [
    "loadBalancers",
    "publicIPAddresses",
    "networkSecurityGroups/nsg",
    "virtualNetworks/vnet/subnets/subnet",
  ]) {
    const answer = await get(`${network}/${path}?api-version=2025-05-01`);
    assert.equal(answer.status, 200, path);
  }
  const sets = `${subscription}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Compute/virtualMachineScaleSets`;
  const instances = await get(`${sets}/vmss/virtualMachines?api-version=2025-04-01&$expand=instanceView`);
  assert.equal((instances.body as { value: unknown[] }).value.length, 3);
});

test("rate headers stay above the hundred below which the incumbent drops its connection", async () => {
  const token = await azure.credential.getToken("https://management.azure.com/.default");
  const answer = await wire(
    `${plain}/subscriptions/${azure.subscriptionId}/resourcegroups/rg?api-version=2021-04-01`,
    "GET",
    {
      headers: { authorization: `Bearer ${token.token}` },
    },
  );
  const rates = Object.entries(answer.headers).filter(([name]) => name.startsWith("x-ms-ratelimit-remaining-"));
  assert.ok(rates.length > 0);
  for (const [name, value] of rates) assert.ok(Number(value) >= 100, `${name}: ${value}`);
});

test("without the flag, plain HTTP serves sign-in but not Resource Manager", async () => {
  const strict = await azureUnderTest();
  const plainUrl = new URL(strict.env["IDENTITY_ENDPOINT"] ?? "").origin;
  assert.equal((await wire(`${plainUrl}/metadata/endpoints?api-version=2019-05-01`, "GET")).status, 200);
  assert.equal(
    (await wire(`${plainUrl}/subscriptions/${strict.subscriptionId}?api-version=2021-04-01`, "GET")).status,
    403,
  );
});
