import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { AddressLock } from "./address-lock.ts";

describe("the address lock", () => {
  test("is shared by registrations, exclusive for a deregistration, and requeues what it refused", () => {
    const requeued: string[] = [];
    const lock = new AddressLock((key) => requeued.push(key));
    const [one, two] = [lock.acquire("a", "ensure", "r1"), lock.acquire("a", "ensure", "r2")];
    assert.ok(one && two);
    assert.equal(lock.acquire("a", "deregister", "r3"), undefined);
    assert.ok(lock.acquire("b", "deregister", "r4"), "another address is another matter");
    one();
    assert.deepEqual(requeued, []);
    two();
    assert.deepEqual(requeued, ["r3"]);
    const alone = lock.acquire("a", "deregister", "r3");
    assert.ok(alone);
    assert.equal(lock.acquire("a", "ensure", "r1"), undefined);
    assert.equal(lock.acquire("a", "deregister", "r5"), undefined);
    alone();
    assert.deepEqual(requeued, ["r3", "r1", "r5"]);
  });
});
