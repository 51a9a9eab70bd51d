/**
 * What `az`, Terraform and portals look up before they name a resource: the cloud's metadata, tenants, subscriptions,
 * regions, providers and whole groups.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { armHttp, errorCode, wire } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";

const azure = await azureUnderTest();
const { tenantId, subscriptionId, resourceGroup } = azure.account;
const arm = await armHttp(azure);
const VERSION = "api-version=2022-12-01";

interface Listed {
  readonly value: readonly { readonly id: string; readonly type?: string; readonly properties?: unknown }[];
}

async function list(path: string): Promise<Listed["value"]> {
  const answer = await arm.send("GET", `${path}?${VERSION}`);
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as Listed).value;
}

test("newer api-versions of /metadata/endpoints get the cloud as one object of Azure, not of Azure Stack", async () => {
  const answer = await wire(`${azure.armEndpoint}/metadata/endpoints?api-version=2022-09-01`, "GET");
  const cloud = answer.body as Record<string, string> & {
    readonly authentication: { readonly tenant: string; readonly loginEndpoint: string };
    readonly suffixes: Readonly<Record<string, string>>;
  };
  assert.ok(!Array.isArray(cloud));
  assert.equal(cloud["resourceManager"], azure.armEndpoint);
  assert.equal(cloud.authentication.tenant, "common");
  assert.equal(cloud.authentication.loginEndpoint, azure.armEndpoint);
  assert.ok(cloud["microsoftGraphResourceId"]);
  assert.ok(cloud.suffixes["keyVaultDns"]);
  assert.ok(cloud.suffixes["storage"]);
});

test("the tenant and its subscriptions are listed; a subscription names its tenant", async () => {
  assert.deepEqual(
    (await list("/tenants")).map(({ id }) => id),
    [`/tenants/${tenantId}`],
  );
  assert.deepEqual(
    (await list("/subscriptions")).map(({ id }) => id),
    [`/subscriptions/${subscriptionId}`],
  );
  const one = await arm.send("GET", `/subscriptions/${subscriptionId}?${VERSION}`);
  assert.equal((one.body as { tenantId: string }).tenantId, tenantId);
  const unknown = await arm.send("GET", `/subscriptions/00000000-0000-0000-0000-00000000dead?${VERSION}`);
  assert.deepEqual([unknown.status, errorCode(unknown)], [404, "SubscriptionNotFound"]);
});

test("regions and providers are listed", async () => {
  assert.ok((await list(`/subscriptions/${subscriptionId}/locations`)).length > 0);
  const providers = await list(`/subscriptions/${subscriptionId}/providers`);
  assert.ok(providers.some(({ id }) => id.endsWith("/providers/Microsoft.Network")));
});

test("a group's resources are listed by their envelopes alone, and a new one is among them", async () => {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
  const id = `${group}/providers/Microsoft.Network/publicIPAddresses/listed`;
  const before = await list(`${group}/resources`);
  assert.ok(before.every(({ properties }) => properties === undefined));
  assert.ok(!before.some((resource) => resource.id === id));
  const made = await arm.send("PUT", `${id}?api-version=2025-05-01`, {
    body: {
      location: azure.account.location,
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    },
  });
  assert.equal(made.status, 201, made.text);
  for (const path of [`${group}/resources`, `/subscriptions/${subscriptionId}/resources`])
    assert.ok((await list(path)).some((resource) => resource.id === id));
  const filtered = async (filter: string) =>
    arm.send("GET", `/subscriptions/${subscriptionId}/resources?${VERSION}&$filter=${encodeURIComponent(filter)}`);
  const type = "resourceType eq 'Microsoft.Network/publicIPAddresses'";
  const found = await filtered(`resourceGroup eq '${resourceGroup}' and name eq 'LISTED' and ${type}`);
  assert.deepEqual(
    (found.body as Listed).value.map((resource) => resource.id),
    [id],
  );
  assert.deepEqual(((await filtered(`name eq 'other' and ${type}`)).body as Listed).value, []);
  assert.equal(errorCode(await filtered("substringof('x', name)")), "InvalidFilterInQueryString");
  const missing = await arm.send("GET", `/subscriptions/${subscriptionId}/resourceGroups/none/resources?${VERSION}`);
  assert.deepEqual([missing.status, errorCode(missing)], [404, "ResourceGroupNotFound"]);
});

test("without a token none of it is told", async () => {
  for (const path of ["/tenants", "/subscriptions", `/subscriptions/${subscriptionId}`])
    assert.equal((await wire(`${azure.armEndpoint}${path}?${VERSION}`, "GET")).status, 401);
});

test("the quotas of a region are listed with what is used of them", async () => {
  const answer = await arm.send(
    "GET",
    `/subscriptions/${subscriptionId}/providers/Microsoft.Network/locations/westus2/usages?${VERSION}`,
  );
  const { value } = answer.body as { value: { name: { value: string }; currentValue: number; limit: number }[] };
  const groups = value.find(({ name }) => name.value === "NetworkSecurityGroups");
  assert.ok(groups !== undefined && groups.currentValue > 0 && groups.limit > groups.currentValue, answer.text);
});

test("the permissions of the caller on a group are listed as its role says", async () => {
  const path = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Authorization/permissions`;
  const answer = await arm.send("GET", `${path}?api-version=2022-04-01`);
  assert.equal(answer.status, 200, answer.text);
  const { value } = answer.body as { value: { actions: string[]; notActions: string[] }[] };
  assert.deepEqual(value[0]?.actions, ["*"]);
  assert.deepEqual(value[0]?.notActions, []);
});

test("the caller's role assignment names a definition that is there, for the subscription and below it", async () => {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
  const authorization = "providers/Microsoft.Authorization";
  interface Named {
    readonly id: string;
    readonly properties: { readonly roleDefinitionId?: string; readonly roleName?: string };
  }
  for (const scope of [
    `/subscriptions/${subscriptionId}`,
    group,
    `${group}/providers/Microsoft.Network/virtualNetworks/vnet`,
  ]) {
    const [assigned] = (await list(`${scope}/${authorization}/roleAssignments`)) as readonly Named[];
    const definition = await arm.send("GET", `${assigned?.properties.roleDefinitionId}?${VERSION}`);
    assert.equal((definition.body as Named).properties.roleName, "Owner", definition.text);
  }
  const filter = encodeURIComponent("roleName eq 'network contributor'");
  const found = await arm.send("GET", `${group}/${authorization}/roleDefinitions?${VERSION}&$filter=${filter}`);
  const names = (found.body as { value: readonly Named[] }).value.map(({ properties }) => properties.roleName);
  assert.deepEqual(names, ["Network Contributor"]);
  const none = await arm.send("GET", `${group}/${authorization}/roleAssignments/none?${VERSION}`);
  assert.deepEqual([none.status, errorCode(none)], [404, "RoleAssignmentNotFound"]);
});
