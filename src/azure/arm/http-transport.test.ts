import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { HttpTransport } from "./http-transport.ts";
import { NoAnswerError } from "./transport.ts";

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function transport(t: TestContext, options: ConstructorParameters<typeof HttpTransport>[0] = {}): HttpTransport {
  const made = new HttpTransport(options);
  t.after(() => made.close());
  return made;
}

test("sends method, headers and body and brings back status, headers and body", async (t) => {
  const url = await serve(t, (request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      response.writeHead(201, { "X-Seen": `${request.method} ${request.headers["if-match"]}` });
      response.end(body.toUpperCase());
    });
  });
  const answer = await transport(t).send({ method: "PUT", url, headers: { "if-match": "x" }, body: "hello" });
  assert.deepEqual([answer.status, answer.headers["x-seen"], answer.body], [201, "PUT x", "HELLO"]);
});

test("a refused connection surely did not reach the server", async (t) => {
  const url = await serve(t, (_, response) => response.end());
  const sender = transport(t);
  const closed = url.replace(/\d+$/, "1");
  await assert.rejects(sender.send({ method: "GET", url: closed, headers: {} }), (error: unknown) => {
    assert.ok(error instanceof NoAnswerError);
    assert.equal(error.maybeSent, false);
    assert.match(error.message, /no answer from 127\.0\.0\.1:1: ECONNREFUSED/);
    return true;
  });
});

test("a connection cut after the request may have been served", async (t) => {
  const url = await serve(t, (request) => request.socket.destroy());
  await assert.rejects(transport(t).send({ method: "PUT", url, headers: {}, body: "{}" }), (error: unknown) => {
    assert.ok(error instanceof NoAnswerError);
    assert.equal(error.maybeSent, true);
    return true;
  });
});

test("an answer that does not come in time is no answer", async (t) => {
  const url = await serve(t, () => {});
  await assert.rejects(
    transport(t, { answerWithinMs: 1_000 }).send({ method: "GET", url, headers: {} }),
    (error: unknown) => error instanceof NoAnswerError && error.maybeSent && /in time/.test(error.message),
  );
});

test("an aborted request ends with the reason it was given", async (t) => {
  const url = await serve(t, () => {});
  const abort = new AbortController();
  const reason = new Error("enough");
  const sent = transport(t).send({ method: "GET", url, headers: {}, signal: abort.signal });
  abort.abort(reason);
  await assert.rejects(sent, (error: unknown) => error === reason);
});

test("a proxy is asked, except for hosts that NO_PROXY names", async (t) => {
  const direct = await serve(t, (_, response) => response.end("direct"));
  const proxy = await serve(t, (request, response) => response.end(`proxied ${request.url}`));
  const through = transport(t, { env: { http_proxy: proxy } });
  const around = transport(t, { env: { HTTP_PROXY: proxy, NO_PROXY: "127.0.0.1" } });
  const request = { method: "GET", url: `${direct}/x`, headers: {} } as const;
  assert.equal((await around.send(request)).body, "direct");
  assert.match((await through.send(request)).body, /^proxied .*\/x$/);
});
