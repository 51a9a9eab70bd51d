import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import "reflect-metadata"; // x509's dependency injection asks for it
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";

import type { Cloud } from "./clouds.ts";
import type { Credential } from "../../core/config/credential-config.ts";
import { signIn } from "./credentials.ts";
import { ArmError } from "./failures.ts";
import { NoAnswerError, type ArmRequest, type ArmTransport } from "./transport.ts";

const CLOUD: Cloud = {
  resourceManager: "https://arm.example",
  authority: "https://login.example",
  audience: "https://audience.example",
  profile: "current",
};
const APPLICATION = { tenantId: "7e9a9700-0000-4000-8000-000000000001", clientId: "client" };
const SECRET: Credential = { kind: "secret", ...APPLICATION, secret: "s3cret-of-ours" };

/** An Entra ID that answers discovery and hands every token request to `answer`. */
function entra(answer: (request: ArmRequest) => { status: number; body: unknown }): ArmTransport {
  return {
    send: async (request) => {
      const tenant = `${CLOUD.authority}/${APPLICATION.tenantId}`;
      const discovery = {
        issuer: `${tenant}/v2.0`,
        authorization_endpoint: `${tenant}/oauth2/v2.0/authorize`,
        token_endpoint: `${tenant}/oauth2/v2.0/token`,
        jwks_uri: `${tenant}/discovery/v2.0/keys`,
      };
      const asksConfiguration = request.url.includes("openid-configuration");
      const { status, body } = asksConfiguration ? { status: 200, body: discovery } : answer(request);
      return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    },
    close: async () => {},
  };
}

function granting(seen: ArmRequest[]): ArmTransport {
  return entra((request) => {
    seen.push(request);
    return {
      status: 200,
      body: { token_type: "Bearer", expires_in: 3600, ext_expires_in: 3600, access_token: "token" },
    };
  });
}

function formOf(request: ArmRequest | undefined): URLSearchParams {
  return new URLSearchParams(request?.body);
}

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "azlb-credentials-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

test("without credentials the error names the keys to set", async () => {
  await assert.rejects(signIn({ kind: "none" }, CLOUD, granting([]))(), /no credentials: set aadClientId with/);
});

test("a secret is exchanged for a token made out to the cloud's audience", async () => {
  const seen: ArmRequest[] = [];
  const before = Date.now();
  const issued = await signIn(SECRET, CLOUD, granting(seen))();
  assert.equal(issued.token, "token");
  assert.ok(issued.expiresAtMs >= before + 3_000_000 && issued.expiresAtMs <= Date.now() + 3_700_000);
  const form = formOf(seen.at(-1));
  assert.deepEqual(
    ["grant_type", "client_id", "client_secret", "scope"].map((key) => form.get(key)?.split(" ")[0]),
    ["client_credentials", "client", "s3cret-of-ours", "https://audience.example/.default"],
  );
  assert.equal(seen.at(-1)?.headers["accept-encoding"], undefined, "answers come unpacked");
  assert.ok(
    seen.every((request) => request.url.startsWith(CLOUD.authority)),
    "asks no server but the authority",
  );
});

test("workload identity reads its token file anew for every exchange", async (t) => {
  const tokenFile = join(temporary(t), "token");
  const seen: ArmRequest[] = [];
  const issue = signIn({ kind: "workloadIdentity", ...APPLICATION, tokenFile }, CLOUD, granting(seen));
  for (const content of ["first", "second"]) {
    writeFileSync(tokenFile, `${content}\n`);
    await issue();
    assert.equal(formOf(seen.at(-1)).get("client_assertion"), content);
  }
});

test("a certificate signs an assertion that carries its chain", async (t) => {
  const path = join(temporary(t), "client.pem");
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=client",
    keys,
    signingAlgorithm: algorithm,
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  writeFileSync(path, `${key}\n${certificate.toString("pem")}\n`);
  const seen: ArmRequest[] = [];
  await signIn({ kind: "certificate", ...APPLICATION, path, password: undefined }, CLOUD, granting(seen))();
  const assertion = formOf(seen.at(-1)).get("client_assertion") ?? "";
  const header: unknown = JSON.parse(Buffer.from(assertion.split(".")[0] ?? "", "base64url").toString());
  assert.ok(typeof header === "object" && header !== null && "x5c" in header);
});

test("a certificate that is no PEM is refused with the command that makes it one", async (t) => {
  const path = join(temporary(t), "client.pfx");
  writeFileSync(path, Buffer.from([0x30, 0x82, 0x01]));
  const issue = signIn({ kind: "certificate", ...APPLICATION, path, password: undefined }, CLOUD, granting([]));
  await assert.rejects(issue(), /aadClientCertPath: .* is not PEM; convert it: openssl pkcs12/);
});

test("managed identity asks the App Service endpoint where the environment names one", async (t) => {
  process.env["IDENTITY_ENDPOINT"] = "http://127.0.0.1:1/msi/token";
  process.env["IDENTITY_HEADER"] = "header-of-ours";
  t.after(() => {
    delete process.env["IDENTITY_ENDPOINT"];
    delete process.env["IDENTITY_HEADER"];
  });
  const seen: ArmRequest[] = [];
  const transport = entra((request) => {
    seen.push(request);
    const expires_on = String(Math.floor(Date.now() / 1000) + 3600);
    return { status: 200, body: { access_token: "mi", expires_on, resource: "r", token_type: "Bearer" } };
  });
  const issued = await signIn(
    { kind: "managedIdentity", userAssigned: { by: "clientId", id: "my-client" } },
    CLOUD,
    transport,
  )();
  assert.equal(issued.token, "mi");
  const url = new URL(seen.at(-1)?.url ?? "");
  assert.deepEqual(
    [url.origin, url.pathname, url.searchParams.get("resource"), url.searchParams.get("client_id")],
    ["http://127.0.0.1:1", "/msi/token", CLOUD.audience, "my-client"],
  );
});

test("a refusal is the operator's to mend, and carries no secret", async () => {
  const transport = entra(() => ({
    status: 401,
    body: {
      error: "invalid_client",
      error_description: "AADSTS7000215: Invalid client secret s3cret-of-ours provided.",
    },
  }));
  await assert.rejects(signIn(SECRET, CLOUD, transport)(), (error: unknown) => {
    assert.ok(error instanceof ArmError);
    assert.equal(error.failure.kind, "unauthenticated");
    assert.match(error.message, /signing in by client secret: .*AADSTS7000215/);
    assert.match(error.message, /client client/);
    assert.doesNotMatch(JSON.stringify(error) + error.message + String(error.stack), /s3cret/);
    return true;
  });
});

for (const { what, status, body, says } of [
  {
    what: "Resource Manager's shape",
    status: 400,
    body: { error: { code: "Odd", message: "not today" } },
    says: /Odd: not today/,
  },
  { what: "a gateway's shape", status: 403, body: { message: "blocked by policy" }, says: /blocked by policy/ },
  { what: "a description that is no text", status: 400, body: { error: "odd", error_description: {} }, says: /: odd / },
  { what: "no shape at all", status: 404, body: "<html>", says: /HTTP 404: "<html>"/ },
  { what: "nothing in it", status: 400, body: {}, says: /HTTP 400: \{\}/ },
  {
    what: "no token in it",
    status: 200,
    body: { error: { code: "Odd" } },
    says: /the answer \(HTTP 200\) holds no token/,
  },
]) {
  test(`a refusal with ${what} is told in its own words`, async () => {
    const transport = entra(() => ({ status, body }));
    await assert.rejects(signIn(SECRET, CLOUD, transport)(), (error: unknown) => {
      assert.ok(error instanceof ArmError);
      assert.equal(error.failure.kind, "unauthenticated");
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\[object|is not a function|Not Available/);
      return true;
    });
  });
}

test("an authority that is in trouble may answer later, also where it is asked how to ask", async () => {
  const broken: ArmTransport = {
    send: async () => ({ status: 503, headers: {}, body: "{}" }),
    close: async () => {},
  };
  await assert.rejects(
    signIn(SECRET, CLOUD, broken)(),
    (error: unknown) => error instanceof ArmError && error.failure.kind === "transient",
  );
});

test("an authority that does not answer may answer later", async () => {
  const transport: ArmTransport = {
    send: () => Promise.reject(new NoAnswerError("no answer from login.example: ECONNREFUSED", false)),
    close: async () => {},
  };
  await assert.rejects(
    signIn(SECRET, CLOUD, transport)(),
    (error: unknown) => error instanceof ArmError && error.failure.kind === "transient",
  );
});
