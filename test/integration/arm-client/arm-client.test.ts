/** The client against the emulator: signing in, raw bodies, operations with tails, pages, failures as they come. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { ArmError, type ArmFailure } from "../../../src/azure/arm/failures.ts";
import type { Credential } from "../../../src/core/config/credential-config.ts";
import { openArmClient } from "../../../src/main/azure-access.ts";
import { armUnderTest, CREATE, credentialsFor, NETWORK, PUBLIC_IP } from "./arm-under-test.ts";

interface Body {
  readonly id: string;
  readonly etag: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const { azure, client, calls } = await armUnderTest({ latency: 0.05 });

async function failureOf(work: Promise<unknown>): Promise<ArmFailure> {
  const thrown: unknown = await work.then(
    () => assert.fail("should have failed"),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof ArmError)) throw thrown;
  return thrown.failure;
}

async function listAs(credential: Credential): Promise<readonly Body[]> {
  const credentials = credentialsFor(azure, credential);
  const access = await openArmClient({ credentials, env: {}, userAgent: "azlb/test" });
  try {
    return await access.client.list<Body>(`${NETWORK}/loadBalancers`, CREATE);
  } finally {
    await access.close();
  }
}

test("every way of signing in gets a token that Resource Manager accepts", async (t) => {
  const { tenantId, clientId } = azure.account;
  const directory = mkdtempSync(join(tmpdir(), "azlb-arm-"));
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
    rmSync(directory, { recursive: true });
  });
  Object.assign(process.env, azure.env);
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, "a-federated-token");
  assert.deepEqual(await listAs({ kind: "workloadIdentity", tenantId, clientId, tokenFile }), []);
  assert.deepEqual(await listAs({ kind: "managedIdentity", userAssigned: undefined }), []);
  const userAssigned = { by: "clientId", id: "somebody" } as const;
  assert.deepEqual(await listAs({ kind: "managedIdentity", userAssigned }), []);
});

test("a wrong secret is an authentication failure that does not tell the secret", async () => {
  const { tenantId, clientId } = azure.account;
  const failure = await failureOf(listAs({ kind: "secret", tenantId, clientId, secret: "not-the-secret" }));
  assert.equal(failure.kind, "unauthenticated");
  assert.match(failure.message, /AADSTS7000215/);
  assert.doesNotMatch(failure.message, /not-the-secret/);
});

test("a public IP is written, followed to its end, read with the ETag that holds, and deleted", async () => {
  const id = `${NETWORK}/publicIPAddresses/one`;
  const written = await client.put<Body>(id, PUBLIC_IP, CREATE);
  assert.equal(written.properties["provisioningState"], "Succeeded");
  assert.match(String(written.properties["ipAddress"]), /^\d+\.\d+\.\d+\.\d+$/);
  const again = { ...written, tags: { changed: "yes" } };
  await client.put<Body>(id, again, { ...CREATE, ifMatch: written.etag });
  assert.equal((await failureOf(client.put(id, again, { ...CREATE, ifMatch: written.etag }))).kind, "conflict");
  assert.equal((await failureOf(client.put(id, again, { ...CREATE, ifMatch: "absent" }))).kind, "conflict");
  await client.delete(id, CREATE);
  await client.delete(id, CREATE);
  assert.equal(await client.find(id, CREATE), null);
});

test("unknown fields come back and go out untouched", async () => {
  const id = `${NETWORK}/networkSecurityGroups/nsg`;
  const seen = await client.get<Body>(id, CREATE);
  await client.put(id, { ...seen, properties: { ...seen.properties, ofTomorrow: { deep: [1, null] } } }, CREATE);
  const next = await client.get<Body>(id, CREATE);
  await client.put(id, { ...next, tags: { a: "b" } }, { ...CREATE, ifMatch: next.etag });
  assert.deepEqual((await client.get<Body>(id, CREATE)).properties["ofTomorrow"], { deep: [1, null] });
});

test("long lists come whole", async () => {
  const names = Array.from({ length: 7 }, (_, at) => `page-${at}`);
  await Promise.all(names.map((name) => client.put(`${NETWORK}/publicIPAddresses/${name}`, PUBLIC_IP, CREATE)));
  await azure.control("PATCH", "/settings", { pageSize: 2 });
  const listed = await client.list<{ name: string }>(`${NETWORK}/publicIPAddresses`, CREATE);
  await azure.control("PATCH", "/settings", { pageSize: 0 });
  assert.deepEqual(
    listed.map(({ name }) => name).filter((name) => name.startsWith("page-")),
    names,
  );
});

test("what is missing is told apart", async () => {
  const missing = async (path: string): Promise<unknown> => {
    const failure = await failureOf(client.get(path, CREATE));
    return failure.kind === "notFound" ? failure.missing : failure.kind;
  };
  assert.equal(await missing(`${NETWORK}/loadBalancers/none`), "resource");
  assert.equal(await missing(`${NETWORK}/loadBalancers/none/backendAddressPools/p`), "parent");
  assert.equal(await missing(NETWORK.replace("/rg/", "/none/") + "/loadBalancers/x"), "resourceGroup");
});

test("a missing role names action and scope", async (t) => {
  t.after(() => azure.control("PATCH", "/settings", { roles: {} }));
  const notActions = ["Microsoft.Network/publicIPAddresses/write"];
  await azure.control("PATCH", "/settings", { roles: { "*": { actions: ["*"], notActions } } });
  const id = `${NETWORK}/publicIPAddresses/denied`;
  const failure = await failureOf(client.put(id, PUBLIC_IP, CREATE));
  assert.ok(failure.kind === "denied");
  assert.equal(failure.action?.toLowerCase(), "microsoft.network/publicipaddresses/write");
  assert.equal(failure.scope?.toLowerCase(), id.toLowerCase());
});

test("a public IP in use cannot go, and its holder is named", async () => {
  const pip = `${NETWORK}/publicIPAddresses/held`;
  const lb = `${NETWORK}/loadBalancers/holder`;
  await client.put(pip, PUBLIC_IP, CREATE);
  const frontendIPConfigurations = [{ name: "f", properties: { publicIPAddress: { id: pip } } }];
  const body = { location: "westus2", sku: { name: "Standard" }, properties: { frontendIPConfigurations } };
  await client.put(lb, body, CREATE);
  const failure = await failureOf(client.delete(pip, CREATE));
  assert.ok(failure.kind === "inUse");
  assert.equal(failure.heldBy?.toLowerCase(), `${lb}/frontendIPConfigurations/f`.toLowerCase());
});

test("a refusal has Azure's code; polls are told from reads", async () => {
  const body = { location: "westus2", properties: { frontendIPConfigurations: [{ name: "f", properties: {} }] } };
  const failure = await failureOf(client.put(`${NETWORK}/loadBalancers/bad`, body, CREATE));
  assert.deepEqual([failure.kind, failure.code], ["invalid", "FrontendIPConfigHasNoSubnetOrPublicIP"]);
  assert.ok(calls.some(({ verb }) => verb === "poll"));
  assert.ok(calls.every(({ type }) => type !== ""));
});
