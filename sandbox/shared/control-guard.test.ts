import assert from "node:assert/strict";
import { test } from "node:test";

import { type GuardedRequest, refusalOf } from "./control-guard.ts";

const codeOf = (headers: GuardedRequest["headers"], more: Partial<GuardedRequest> = {}): string | undefined =>
  refusalOf({ headers: { host: "127.0.0.1:4321", ...headers }, port: 4321, hasBody: false, ...more })?.code;

test("only loopback with the endpoint's port is its Host", () => {
  for (const host of ["127.0.0.1:4321", "localhost:4321", "LocalHost:4321", "[::1]:4321"]) {
    assert.equal(codeOf({ host }), undefined, host);
  }
  for (const host of [
    "evil.example:4321",
    "127.0.0.1.evil.example:4321",
    "localhost.evil.example:4321",
    "localhost",
    "127.0.0.1:4322",
    "127.0.0.1:43210",
    "127.0.0.1:4321@evil.example",
    "",
    undefined,
  ]) {
    assert.equal(codeOf({ host }), "ForbiddenHost", host);
  }
  assert.equal(codeOf({ host: "localhost" }, { port: 80 }), undefined);
});

test("only the endpoint itself is an Origin", () => {
  for (const origin of ["http://127.0.0.1:4321", "http://localhost:4321"]) assert.equal(codeOf({ origin }), undefined);
  for (const origin of ["null", "https://127.0.0.1:4321", "http://127.0.0.1:80", "http://evil.example", ""]) {
    assert.equal(codeOf({ origin }), "ForbiddenOrigin", origin);
  }
});

test("a body must be JSON", () => {
  for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"]) {
    assert.equal(codeOf({ "content-type": type }, { hasBody: true }), undefined, type);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", undefined]) {
    assert.equal(codeOf({ "content-type": type }, { hasBody: true }), "UnsupportedMediaType", type);
    assert.equal(codeOf({ "content-type": type }), undefined, type);
  }
});
