/**
 * A control endpoint of the sandbox is for tests and commands on this machine: a web page that a user has open may not use
 * it, neither through a name of its own (Host) nor across sites (Origin, or a content type that needs no preflight).
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { rawRequest } from "../../support/raw-request.ts";

const JSON_TYPE = { "content-type": "application/json" };

const FAULT = JSON.stringify({ effect: { kind: "cutBefore" } });

export function refusesWebPages(controlUrl: () => string): void {
  test("web pages cannot use it: neither by a name of their own nor across sites", async () => {
    const url = controlUrl();
    const { port } = new URL(url);
    await rawRequest(`${url}/faults`, "DELETE", {});
    for (const [headers, status, message] of [
      [{ ...JSON_TYPE, host: `rebound.example:${port}` }, 403, /Host .* the control endpoint answers under these only/],
      [{ ...JSON_TYPE, origin: "https://evil.example" }, 403, /Origin .* web pages of other sites may not use it/],
      [{ ...JSON_TYPE, origin: "null" }, 403, /Origin .*null/],
      [{ "content-type": "text/plain" }, 415, /send JSON, with the header .*content-type: application\/json/],
      [{}, 415, /content type is missing/],
    ] as const) {
      const answer = await rawRequest(`${url}/faults`, "POST", headers, FAULT);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, message);
    }
    assert.equal((await rawRequest(`${url}/`, "GET", { host: `rebound.example:${port}` })).status, 403);
    assert.equal((await rawRequest(url, "GET", { host: `localhost:${port}` })).status, 200);
    assert.match((await rawRequest(`${url}/faults`, "GET", {})).text, /"faults":\[\]/);
  });
}
