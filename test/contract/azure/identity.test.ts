/** Signing in: with a secret, with managed identity, and not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { ClientSecretCredential, ManagedIdentityCredential } from "@azure/identity";

import { armHttp, errorCode, managedIdentityToken, wire } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";

const azure = await azureUnderTest({ topology: { nodes: 0 }, plainHttp: true });
const groupPath = `/subscriptions/${azure.subscriptionId}/resourcegroups/${azure.resourceGroup}?api-version=2021-04-01`;

const getGroup = (token: string | undefined) =>
  wire(`${azure.armEndpoint}${groupPath}`, "GET", token === undefined ? {} : { headers: { authorization: token } });

test("a client secret gets a token that Resource Manager accepts", async () => {
  const { token } = await azure.credential.getToken("https://management.azure.com/.default");
  assert.equal((await getGroup(`Bearer ${token}`)).status, 200);
});

test("managed identity through @azure/identity and the guest's environment", async () => {
  const known = { ...process.env };
  Object.assign(process.env, {
    IDENTITY_ENDPOINT: azure.env["IDENTITY_ENDPOINT"],
    IDENTITY_HEADER: azure.env["IDENTITY_HEADER"],
  });
  try {
    const { token } = await new ManagedIdentityCredential().getToken("https://management.azure.com/.default");
    assert.equal((await getGroup(`Bearer ${token}`)).status, 200);
  } finally {
    process.env = known;
  }
});

test("the instance metadata form wants its header and answers over plain HTTP and HTTPS", async () => {
  const query = "?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F&client_id=someone";
  for (const base of [azure.httpEndpoint ?? "", azure.armEndpoint]) {
    const url = `${base}/metadata/identity/oauth2/token${query}`;
    const answer = await wire(url, "GET", { headers: { metadata: "true" } });
    const { access_token, expires_on, client_id, token_type } = answer.body as Record<string, string>;
    assert.equal(client_id, "someone");
    assert.equal(token_type, "Bearer");
    assert.ok(Number(expires_on) > Date.now() / 1000);
    assert.equal((await getGroup(`Bearer ${access_token}`)).status, 200);
    assert.equal((await wire(url, "GET")).status, 400);
  }
});

test("without a token, with a forged one, or with one for another audience, the answer is 401 with a challenge", async () => {
  const { token } = await azure.credential.getToken("https://management.azure.com/.default");
  const foreign = await azure.credential.getToken("https://vault.azure.net/.default");
  const cases: [string | undefined, string][] = [
    [undefined, "AuthenticationFailed"],
    ["Bearer nonsense", "InvalidAuthenticationToken"],
    [`Bearer ${token.slice(0, -2)}xx`, "InvalidAuthenticationToken"],
    [`Basic ${token}`, "InvalidAuthenticationToken"],
    [`Bearer ${foreign.token}`, "InvalidAuthenticationTokenAudience"],
  ];
  for (const [authorization, code] of cases) {
    const answer = await getGroup(authorization);
    assert.equal(answer.status, 401, authorization);
    assert.equal(errorCode(answer), code);
    assert.match(answer.headers["www-authenticate"] ?? "", /^Bearer authorization_uri="https:/);
  }
});

test("a token that has run out is refused as expired", async () => {
  const shortLived = await azureUnderTest({ topology: { nodes: 0 }, tokenLifetimeSeconds: 0 });
  const token = await managedIdentityToken(shortLived);
  const answer = await wire(`${shortLived.armEndpoint}${groupPath}`, "GET", {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 401);
  assert.equal(errorCode(answer), "ExpiredAuthenticationToken");
});

test("a wrong secret, client or tenant is refused in Entra's words", async () => {
  const { tenantId, clientId, clientSecret } = azure.account;
  const other = "99999999-0000-4000-8000-000000000000";
  const tries: [string, string, string, RegExp][] = [
    [tenantId, clientId, "wrong", /AADSTS7000215/],
    [tenantId, other, clientSecret, /AADSTS700016/],
  ];
  for (const [tenant, client, secret, message] of tries) {
    const credential = new ClientSecretCredential(tenant, client, secret, {
      authorityHost: azure.armEndpoint,
      disableInstanceDiscovery: true,
    });
    await assert.rejects(credential.getToken("https://management.azure.com/.default"), message);
  }
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, scope: "x/.default" });
  const token = (tenant: string) =>
    wire(`${azure.armEndpoint}/${tenant}/oauth2/v2.0/token`, "POST", {
      text: form.toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  assert.match((await token(other)).text, /AADSTS90002/);
  assert.match((await token(tenantId)).text, /AADSTS7000218/);
});

test("a narrowed role gives 403 that names action and scope, to the caller it was set for", async () => {
  await azure.control("PATCH", "/settings", {
    roles: { narrow: { actions: ["*"], notActions: ["Microsoft.Network/loadBalancers/write"] } },
  });
  const scope = `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network/loadBalancers/lb`;
  const put = async (caller: string) =>
    (await armHttp(azure, caller)).send("PUT", `${scope}?api-version=2025-05-01`, {
      body: { location: "westus2", sku: { name: "Standard" } },
    });
  const refused = await put("narrow");
  assert.equal(refused.status, 403);
  assert.equal(errorCode(refused), "AuthorizationFailed");
  assert.ok(refused.text.includes("'Microsoft.Network/loadBalancers/write'"), refused.text);
  assert.ok(refused.text.includes(`'${scope}'`), refused.text);
  assert.equal((await put("wide")).status, 201);
  await azure.control("PATCH", "/settings", { roles: {} });
  assert.equal((await put("narrow")).status, 200);
});
