import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { LBCF_RETRIES } from "../../../core/lbcf/drivers/retry.ts";
import { VirtualClock } from "../../../../test/support/virtual-clock.ts";
import { RetryDelays } from "./retry-delays.ts";

describe("delays before a driver is asked again", () => {
  const setUp = () => {
    const clock = new VirtualClock();
    return { clock, delays: new RetryDelays({ clock, retries: LBCF_RETRIES }) };
  };
  const asked = { object: "ns/record", driver: "ns/driver", text: "ensureBackend 1" };
  const fail = { status: "Fail", msg: "" } as const;

  test("hold for the same question until they are over", async () => {
    const { clock, delays } = setUp();
    assert.equal(delays.remainingMs(asked), undefined);
    const verdict = delays.after(asked, { ...fail, retryAfterMs: 40_000 });
    assert.deepEqual(verdict, { kind: "retry", afterMs: 40_000 });
    await clock.advance(39_999);
    assert.equal(delays.remainingMs(asked), 1);
    await clock.advance(1);
    assert.equal(delays.remainingMs(asked), undefined);
  });

  test("grow with each failure; Running starts anew, as does a success", () => {
    const { delays } = setUp();
    assert.deepEqual(
      [fail, fail, fail].map((answer) => delays.after(asked, answer)),
      [10_000, 20_000, 40_000].map((afterMs) => ({ kind: "retry", afterMs })),
    );
    const running = { status: "Running", msg: "", retryAfterMs: 60_000 } as const;
    assert.deepEqual(delays.after(asked, running), { kind: "again", afterMs: 60_000 });
    assert.deepEqual(delays.after(asked, fail), { kind: "retry", afterMs: 10_000 });
    assert.equal(delays.after(asked, { status: "Succ", msg: "" }), undefined);
    assert.deepEqual(delays.after(asked, fail), { kind: "retry", afterMs: 10_000 });
  });

  test("do not hold for another question", () => {
    const { delays } = setUp();
    delays.after(asked, { ...fail, retryAfterMs: 40_000 });
    assert.equal(delays.remainingMs({ ...asked, text: "deregisterBackend 1" }), undefined);
    assert.equal(delays.remainingMs({ ...asked, driver: "ns/other" }), undefined);
    assert.equal(delays.remainingMs({ ...asked, object: "ns/other" }), undefined);
  });

  test("of the backoff end when the driver is healthy again; what it asked for holds", () => {
    const { delays } = setUp();
    const [patient, other] = [
      { ...asked, object: "ns/patient" },
      { ...asked, object: "ns/other", driver: "ns/other" },
    ];
    delays.after(asked, { status: "Error", msg: "" });
    delays.after(patient, { ...fail, retryAfterMs: 40_000 });
    delays.after(other, fail);
    delays.driverUsable("ns/driver");
    assert.deepEqual(
      [asked, patient, other].map((each) => delays.remainingMs(each)),
      [undefined, 40_000, 10_000],
    );
  });
});
