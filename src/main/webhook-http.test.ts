import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createPlainServer, type RequestListener, type Server } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import { LOCAL_HOSTS } from "../core/lbcf/drivers/webhook-hosts.ts";
import { WebhookHttp } from "./webhook-http.ts";

const MEGABYTE = "x".repeat(1 << 20);
const HUGE = MEGABYTE.repeat(5);

const answer: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    if (request.url === "/hang") return;
    if (request.url === "/headers") response.end(JSON.stringify(request.headers));
    else if (request.url === "/stall") response.write(MEGABYTE);
    else if (request.url === "/huge") response.end(HUGE);
    else response.writeHead(request.url === "/fail" ? 503 : 200).end(`${request.method} ${body}`);
  });
};

describe("webhooks over HTTP", () => {
  const folder = mkdtempSync(join(tmpdir(), "azlb-webhooks-"));
  const webhooks = new WebhookHttp({ hosts: LOCAL_HOSTS });
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

  test("addresses and names that lead where no driver is called are refused before anything is sent", async () => {
    const guarded = new WebhookHttp();
    const port = new URL(urlOf(plain, "http", "/")).port;
    try {
      for (const host of ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", "2130706433"]) {
        const call = { url: `http://${host}:${port}/`, body: "{}", timeoutMs: 5_000, ca: undefined };
        await assert.rejects(
          guarded.send(call),
          /is (a loopback|an unspecified) address, where no driver is called/,
          host,
        );
      }
      const metadata = { url: "http://169.254.169.254/metadata", body: "{}", timeoutMs: 5_000, ca: undefined };
      await assert.rejects(guarded.send(metadata), /link-local/);
    } finally {
      await guarded.close();
    }
  });

  test("answers that stall are given up, the longest first, when all together are too long", async () => {
    const bounded = new WebhookHttp({ hosts: LOCAL_HOSTS, mostBytes: 4 << 20 });
    const call = (path: string) =>
      bounded.send({ url: urlOf(plain, "http", path), body: "{}", timeoutMs: 30_000, ca: undefined });
    try {
      const stalled = Array.from({ length: 20 }, () => call("/stall"));
      const first = await Promise.race(stalled.map((each) => each.then(() => "answered", String)));
      assert.match(first, /answers of all drivers are longer than 4194304/);
      assert.equal((await call("/")).status, 200);
      void Promise.allSettled(stalled);
    } finally {
      await bounded.close();
    }
  });

  test("connections for other authorities are kept for the last ones only", async () => {
    const few = new WebhookHttp({ hosts: LOCAL_HOSTS, mostAgents: 2 });
    const call = { url: urlOf(secure, "https", "/"), body: "{}", timeoutMs: 30_000 };
    try {
      // the server's certificate is trusted by all of these; they differ in what else they contain
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) => few.send({ ...call, ca: `${ca}\n# ${at}\n` })),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(few.agents, 2);
    } finally {
      await few.close();
    }
  });

  test("https is verified against the given CA", async () => {
    const call = { url: urlOf(secure, "https", "/"), body: "{}", timeoutMs: 30_000 };
    assert.equal((await webhooks.send({ ...call, ca })).status, 200);
    await assert.rejects(webhooks.send({ ...call, ca: undefined }), /certificate/);
  });
});
