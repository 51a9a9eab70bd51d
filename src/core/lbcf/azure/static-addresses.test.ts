import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { record } from "../../../../test/support/lbcf-objects.ts";
import { parseAddress } from "../../util/cidr.ts";
import { addressMistake } from "./azure-record.ts";
import { NO_STATIC_ADDRESSES, parseStaticAddresses, staticRefusal, type StaticAddresses } from "./static-addresses.ts";

function parsed(text: string): StaticAddresses {
  const allowed = parseStaticAddresses(text);
  return "mistake" in allowed ? assert.fail(allowed.mistake) : allowed;
}

function isAllowed(list: string, namespace: string, address: string): boolean {
  return staticRefusal(parsed(list), namespace, parseAddress(address) ?? assert.fail()) === undefined;
}

describe("static addresses", () => {
  const CASES: readonly (readonly [string, string, string, boolean])[] = [
    ["10.1.0.0/16", "any", "10.1.2.3", true],
    ["10.1.0.0/16", "any", "10.2.2.3", false],
    ["shop=10.2.0.0/24,10.1.0.4", "shop", "10.2.0.9", true],
    ["shop=10.2.0.0/24,10.1.0.4", "other", "10.2.0.9", false],
    ["shop=10.2.0.0/24, 10.1.0.4", "other", "10.1.0.4", true],
    ["shop=*", "shop", "10.9.9.9", true],
    ["shop=*", "shops", "10.9.9.9", false],
    ["*", "any", "fd00::1", true],
    ["shop=fd00::/64", "shop", "fd00::1", true],
    ["10.0.0.0/8", "any", "fd00::1", false],
  ];
  for (const [list, namespace, address, expected] of CASES) {
    test(`${list}: ${address} in ${namespace} is ${expected ? "allowed" : "refused"}`, () =>
      assert.equal(isAllowed(list, namespace, address), expected));
  }

  for (const bad of ["", "shop", "shop=", "=10.0.0.1", "Shop=10.0.0.1", "10.0.0.1/33", "10.1.0.1/16,,"]) {
    test(`"${bad}" is no list`, () => assert.ok("mistake" in parseStaticAddresses(bad)));
  }

  test("none is allowed by default; pods and nodes are not asked for", () => {
    const status = { backendAddr: "10.1.0.4" };
    const fixed = record(status, { namespace: "shop" }, { backend: { kind: "Static", address: "10.1.0.4" } });
    const why = addressMistake(fixed, NO_STATIC_ADDRESSES) ?? "";
    assert.match(
      why,
      /^static address 10\.1\.0\.4 is not allowed in namespace "shop": .*shop=10\.1\.0\.4 to --lbcf-static-addresses$/,
    );
    assert.equal(addressMistake(fixed, parsed("shop=10.1.0.4")), undefined);
    assert.equal(addressMistake(record(status), NO_STATIC_ADDRESSES), undefined);
  });
});
