/** The certificate that is made is one that a client can verify, by itself and for the names it is for. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";

import { selfSigned } from "./certificate.ts";

test("it is valid now, for the host and for loopback, and signed by its own key", () => {
  const nowMs = Date.now();
  const certificate = new X509Certificate(selfSigned("10.0.0.4", nowMs).cert);
  assert.ok(certificate.verify(certificate.publicKey));
  for (const host of ["10.0.0.4", "127.0.0.1", "::1"]) assert.equal(certificate.checkIP(host), host);
  assert.equal(certificate.checkHost("localhost"), "localhost");
  assert.ok(
    certificate.validFromDate.getTime() < nowMs && certificate.validToDate.getTime() > nowMs + 700 * 86_400_000,
  );
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
});
