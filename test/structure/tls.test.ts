/** Every server that we talk to is verified: no code, flag or file of ours switches that off. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDERS = ["src", "sandbox", "sim", "bench", "test", "bin", "deploy", "examples", "docs"];
const FILES = ["package.json", "Dockerfile", "README.md"];
/** This file names them all. */
const SELF = "test/structure/tls.test.ts";
const SWITCHES = /rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity|strictSSL|--insecure\b|curl -k\b/;
const NO_MATTER_WHAT: Readonly<Record<string, string>> = {
  "sandbox/kubernetes/server/kube-server.ts":
    "a server that also lets clients in who have a token instead of a certificate; certificates are verified where they are given",
  "sandbox/azure/data-plane/probe-attempt.ts":
    "Azure's HTTPS probes verify no certificate, so neither do the emulator's",
};

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

test("no file switches the verification of a server off", () => {
  const found = [...FOLDERS.flatMap(filesIn), ...FILES].filter(
    (file) => file !== SELF && SWITCHES.test(readFileSync(join(ROOT, file), "utf8")),
  );
  assert.deepEqual(found.toSorted(), Object.keys(NO_MATTER_WHAT).toSorted(), "see NO_MATTER_WHAT for why those may");
});
