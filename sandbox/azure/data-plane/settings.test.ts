import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_SETTINGS, patchedSettings, sourceFor } from "./settings.ts";

const FRONTEND = { key: "20.0.0.7:80/tcp", address: "20.0.0.7" };
const SIX = { key: "[2603:1030::7]:80/tcp", address: "2603:1030::7" };
const given = (sources: Record<string, string>) => ({ ...DEFAULT_SETTINGS, sources });

test("a client comes from the Internet unless configured otherwise; the most specific key wins", () => {
  assert.equal(sourceFor(DEFAULT_SETTINGS, "127.0.0.1", FRONTEND), "203.0.113.1");
  const sources: Record<string, string> = { "*": "198.51.100.1" };
  assert.equal(sourceFor(given(sources), "127.0.0.1", FRONTEND), "198.51.100.1");
  sources[FRONTEND.key] = "198.51.100.2";
  assert.equal(sourceFor(given(sources), "127.0.0.1", FRONTEND), "198.51.100.2");
  sources["127.0.0.1"] = "198.51.100.3";
  assert.equal(sourceFor(given(sources), "127.0.0.1", FRONTEND), "198.51.100.3");
});

test("a source is always of the frontend's family", () => {
  assert.equal(sourceFor(DEFAULT_SETTINGS, "127.0.0.1", SIX), "2001:db8::1");
  assert.equal(sourceFor(given({ "*": "198.51.100.1" }), "127.0.0.1", SIX), "2001:db8::1");
  assert.equal(sourceFor(given({ [SIX.key]: "2001:db8::2" }), "127.0.0.1", SIX), "2001:db8::2");
});

test("a patch changes what it names", () => {
  const patch = { refused: "drop", maxFlows: 7, idleTimeoutFactor: 0.5 };
  assert.deepEqual(patchedSettings(DEFAULT_SETTINGS, patch), { ...DEFAULT_SETTINGS, ...patch });
});
