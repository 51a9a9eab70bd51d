import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { md5 } from "./md5.ts";

const VECTORS: readonly (readonly [string, string])[] = [
  ["", "d41d8cd98f00b204e9800998ecf8427e"],
  ["a", "0cc175b9c0f1b6a831c399e269772661"],
  ["abc", "900150983cd24fb0d6963f7d28e17f72"],
  ["message digest", "f96b697d7cb7938d525a2f31aaf161d0"],
  ["abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"],
  ["1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a"],
];
for (const [text, digest] of VECTORS) {
  test(`the digest of ${JSON.stringify(text)} is that of RFC 1321`, () => assert.equal(md5(text), digest));
}

test("any text has the digest that another implementation finds", () => {
  const text = fc.string({ unit: "binary", maxLength: 300 });
  fc.assert(fc.property(text, (text) => assert.equal(md5(text), createHash("md5").update(text).digest("hex"))));
});
