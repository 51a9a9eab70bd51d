import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { hostRefusal, LOCAL_HOSTS, parseWebhookHosts, type WebhookHosts } from "./webhook-hosts.ts";

function listOf(text: string): WebhookHosts {
  const hosts = parseWebhookHosts(text);
  assert.ok(!("mistake" in hosts), text);
  return hosts;
}

describe("where webhooks may go", () => {
  test("without a list: anywhere, but not to the machine itself, its neighbours or its metadata", () => {
    assert.equal(hostRefusal(undefined, "driver.default.svc", "10.0.0.1"), undefined);
    assert.equal(hostRefusal(undefined, "driver.example.com", "2001:db8::1"), undefined);
    for (const [address, what] of [
      ["127.0.0.1", /loopback.*add 127\.0\.0\.0\/8 to/],
      ["::1", /loopback/],
      ["::ffff:127.0.0.1", /loopback/],
      ["169.254.169.254", /link-local/],
      ["fe80::1%eth0", /link-local/],
      ["0.0.0.0", /unspecified/],
      ["::", /unspecified/],
      ["224.0.0.1", /multicast/],
      ["255.255.255.255", /reserved/],
      ["168.63.129.16", /Azure's own/],
    ] as const) {
      assert.match(hostRefusal(undefined, address, address) ?? "", what, address);
    }
  });

  test("with a list: only there; a name does not open addresses that are never allowed", () => {
    const hosts = listOf("*.svc, Driver.Example.com,10.1.0.0/16, 127.0.0.1");
    const allowed = [
      ["driver.default.svc", "10.9.0.1"],
      ["driver.example.com", "20.0.0.1"],
      ["10.1.2.3", "10.1.2.3"],
      ["anything", "10.1.2.3"],
      ["localhost", "127.0.0.1"],
    ] as const;
    for (const [host, address] of allowed) assert.equal(hostRefusal(hosts, host, address), undefined, host);
    const refused = [
      ["svc", "10.9.0.1", /not in --lbcf-webhook-hosts/],
      ["xsvc", "10.9.0.1", /not in/],
      ["evil.example.com", "20.0.0.1", /evil\.example\.com \(20\.0\.0\.1\) is not in/],
      ["10.2.0.1", "10.2.0.1", /not in/],
      ["rebound.default.svc", "169.254.169.254", /rebound\.default\.svc \(169\.254\.169\.254\) is a link-local/],
      ["driver.default.svc", "127.0.0.2", /loopback/],
    ] as const;
    for (const [host, address, why] of refused) assert.match(hostRefusal(hosts, host, address) ?? "", why, host);
  });

  test("a mistake in the list names the entry", () => {
    for (const text of ["10.0.0.0/40", "a_b", "**", "", "300.1.1.1", "svc,,a"]) {
      const parsed = parseWebhookHosts(text);
      assert.match("mistake" in parsed ? parsed.mistake : "", /is neither a host name/, text);
    }
  });

  test("* adds addresses to what is allowed without a list", () => {
    assert.deepEqual(listOf("*,127.0.0.0/8,::1/128"), LOCAL_HOSTS);
    assert.equal(hostRefusal(LOCAL_HOSTS, "127.0.0.1", "127.0.0.1"), undefined);
    assert.equal(hostRefusal(LOCAL_HOSTS, "driver.example.com", "20.0.0.1"), undefined);
    assert.match(hostRefusal(LOCAL_HOSTS, "169.254.169.254", "169.254.169.254") ?? "", /link-local/);
  });
});
