import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createPlainServer, type RequestListener, type Server } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import { WebhookHttp } from "./webhook-http.ts";

const HUGE = "x".repeat(5 << 20);

const answer: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    if (request.url === "/hang") return;
    if (request.url === "/headers") response.end(JSON.stringify(request.headers));
    else if (request.url === "/huge") response.end(HUGE);
    else response.writeHead(request.url === "/fail" ? 503 : 200).end(`${request.method} ${body}`);
  });
};

describe("webhooks over HTTP", () => {
  const folder = mkdtempSync(join(tmpdir(), "azlb-webhooks-"));
  const webhooks = new WebhookHttp();
  let [plain, secure]: Server[] = [];
  let ca = "";

  before(async () => {
    const authority = await openCertificateAuthority(folder);
    const { certPem, keyPem } = await authority.issueServer();
    ca = authority.caPem;
    plain = createPlainServer(answer);
    secure = createServer({ cert: certPem, key: keyPem }, answer);
    for (const server of [plain, secure]) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    }
  });
  after(async () => {
    await webhooks.close();
    for (const server of [plain, secure]) server?.closeAllConnections();
    for (const server of [plain, secure]) server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (server: Server | undefined, scheme: string, path: string): string =>
    `${scheme}://127.0.0.1:${(server?.address() as AddressInfo | undefined)?.port}${path}`;
  const send = (path: string, timeoutMs = 30_000) =>
    webhooks.send({ url: urlOf(plain, "http", path), body: '{"a":1}', timeoutMs, ca: undefined });

  test("JSON by POST; any status is an answer", async () => {
    assert.deepEqual(await send("/"), { status: 200, body: 'POST {"a":1}' });
    assert.equal((await send("/fail")).status, 503);
  });

  test("the headers are LBCF's: a content type, a length, and no list of types to answer with", async () => {
    const { host: _, connection: __, ...headers } = JSON.parse((await send("/headers")).body) as Record<string, string>;
    assert.deepEqual(headers, { "content-type": "application/json", "content-length": "7" });
  });

  test("a missing or endless answer ends in an error", async () => {
    await assert.rejects(send("/hang", 100), /no answer within 0\.1 s/);
    await assert.rejects(send("/huge"), /longer than/);
  });

  test("a refused connection is reported with the address", async () => {
    const call = { url: "http://127.0.0.1:1/x", body: "{}", timeoutMs: 5_000, ca: undefined };
    await assert.rejects(webhooks.send(call), /127\.0\.0\.1:1\/x: .*ECONNREFUSED/);
  });

  test("https is verified against the given CA", async () => {
    const call = { url: urlOf(secure, "https", "/"), body: "{}", timeoutMs: 30_000 };
    assert.equal((await webhooks.send({ ...call, ca })).status, 200);
    await assert.rejects(webhooks.send({ ...call, ca: undefined }), /certificate/);
  });
});
