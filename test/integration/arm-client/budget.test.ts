/** The throttle budget against an emulator that throttles as Azure does. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { armUnderTest, CREATE, NETWORK, PUBLIC_IP } from "./arm-under-test.ts";

const { azure, client, calls, arm } = await armUnderTest({ throttling: true, plainHttp: true });

test("more writes than the bucket holds are spread, not refused, and what is urgent does not wait for them", async () => {
  const many = Array.from({ length: 215 }, (_, at) =>
    client.put(`${NETWORK}/publicIPAddresses/p${at}`, PUBLIC_IP, CREATE),
  );
  const urgent = client.put(`${NETWORK}/publicIPAddresses/urgent`, PUBLIC_IP, { priority: "drain" });
  await Promise.all([...many, urgent]);
  const waitOf = (end: string): number =>
    calls.find(({ verb, id }) => verb === "put" && id.endsWith(end))?.waitedMs ?? NaN;
  assert.ok(waitOf("/urgent") < waitOf("/p214"), "the last to come, it went before others");
  assert.deepEqual(
    calls.filter(({ failure }) => failure !== undefined),
    [],
  );
  const { refusals } = (await azure.control("GET", "/counters")) as { refusals: object };
  assert.deepEqual(refusals, {});
});

test("a 429 holds back every call until its time is over, then all is well", async () => {
  calls.length = 0;
  await arm({
    method: "GET",
    path: "**/publicIPAddresses/p0",
    effect: { kind: "status", status: 429, code: "SubscriptionRequestsThrottled", retryAfterSeconds: 1 },
  });
  const startMs = performance.now();
  const first = client.get(`${NETWORK}/publicIPAddresses/p0`, CREATE);
  while (!calls.some(({ failure }) => failure?.kind === "throttled"))
    await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, client.get(`${NETWORK}/publicIPAddresses/p1`, { priority: "drain" })]);
  assert.ok(performance.now() - startMs >= 990);
  assert.equal(calls.filter(({ failure }) => failure !== undefined).length, 1);
});
