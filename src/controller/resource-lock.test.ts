/** The lock against a real (embedded) API server, with a clock of our own. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { embeddedKube } from "../../test/support/embedded-kube.ts";
import { microTime } from "../kube/election/lease.ts";
import { LEASES, type KubeObject } from "../kube/client/resources.ts";
import { realClock } from "../main/real-clock.ts";
import { ResourceLock } from "./resource-lock.ts";

const PLACE = { namespace: "kube-system", name: "aks-managed-resource-locker" };

interface Lease extends KubeObject {
  readonly spec: { readonly holderIdentity?: string };
}

const kube = await embeddedKube();

const NEVER = new AbortController().signal;

function lockWith(heard: string[], nowMs: () => number = () => Date.now(), signal = NEVER): ResourceLock {
  return new ResourceLock({
    client: kube.client,
    signal,
    clock: { ...realClock, nowMs },
    onOthers: (holder) => heard.push(`others: ${holder}`),
    onRival: (message) => heard.push(`rival: ${message}`),
    onWait: (message) => heard.push(`wait: ${message}`),
    isInUse: () => false,
  });
}

async function holder(): Promise<string | undefined> {
  return (await kube.client.get<Lease>(LEASES, PLACE)).spec.holderIdentity;
}

async function leaveAs(identity: string, previous: string): Promise<void> {
  const now = microTime(Date.now());
  const spec = { holderIdentity: identity, leaseDurationSeconds: 900, renewTime: now, acquireTime: now };
  const annotations = { "aks-managed-resource-locker-previous-holder": previous };
  await kube.client.patch(LEASES, PLACE, { merge: { metadata: { annotations }, spec } });
}

test("it is made, held once for a burst, and given back under our name", async () => {
  const heard: string[] = [];
  const lock = lockWith(heard);
  await Promise.all([lock.hold(), lock.hold(), lock.hold()]);
  assert.equal(await holder(), "azlb-controller");
  const version = (await kube.client.get<Lease>(LEASES, PLACE)).metadata.resourceVersion;
  await lock.hold();
  assert.equal((await kube.client.get<Lease>(LEASES, PLACE)).metadata.resourceVersion, version);
  await lock.release();
  assert.equal(await holder(), "");
  assert.deepEqual(heard, []);
});

test("while another client holds it we wait, and go on when it lets go", async () => {
  const heard: string[] = [];
  const lock = lockWith(heard);
  await leaveAs("cloud-controller-manager", "azlb-controller");
  const held = lock.hold();
  while (heard.length === 0) await realClock.sleep(10);
  assert.equal(await holder(), "cloud-controller-manager");
  await leaveAs("", "cloud-controller-manager");
  await held;
  assert.equal(await holder(), "azlb-controller");
  assert.deepEqual(heard, [
    "wait: cloud-controller-manager holds the lock on the load balancers",
    "others: cloud-controller-manager",
  ]);
  await lock.release();
});

test("one that has run out is taken over", async () => {
  const lock = lockWith([], () => Date.now() + 901_000);
  await leaveAs("gone", "gone");
  await lock.hold();
  assert.equal(await holder(), "azlb-controller");
  await lock.release();
});

test("the incumbent at work beside us is a rival; before our first hold it is only our predecessor", async () => {
  const heard: string[] = [];
  const lock = lockWith(heard);
  await leaveAs("", "cloud-controller-manager");
  await lock.hold();
  await lock.release();
  assert.deepEqual(heard, ["others: cloud-controller-manager"]);
  await leaveAs("", "cloud-controller-manager");
  await lock.hold();
  assert.match(heard.at(-1) ?? "", /^rival: .*-service-lb-controller/);
  await lock.release();
});

test("a process that stops waits no longer", async () => {
  const heard: string[] = [];
  const stopping = new AbortController();
  const lock = lockWith(heard, () => Date.now(), stopping.signal);
  await leaveAs("somebody", "somebody");
  const held = lock.hold();
  while (heard.length === 0) await realClock.sleep(10);
  stopping.abort(new Error("we stop"));
  await assert.rejects(held, /we stop/);
  await leaveAs("", "azlb-controller");
});

test("taken again while its release is still on the way, it stays ours", async () => {
  const lock = lockWith([]);
  await lock.hold();
  const delay = { method: "PATCH", path: "**/leases/*", effect: { kind: "delay", delayMs: 500 } };
  await fetch(`${kube.controlUrl}/faults`, {
    method: "POST",
    body: JSON.stringify(delay),
    headers: { "content-type": "application/json" },
  });
  const released = lock.release();
  await lock.hold();
  await released;
  assert.equal(await holder(), "azlb-controller");
  await lock.release();
});

test("a release is over for every caller when it is over", async () => {
  const lock = lockWith([]);
  await lock.hold();
  let isOver = false;
  const first = lock.release().then(() => (isOver = true));
  await lock.release();
  assert.ok(isOver);
  await first;
  assert.equal(await holder(), "");
});

test("it is not given back in the middle of a write, however long that takes", async () => {
  const timers: (() => void)[] = [];
  let isInUse = true;
  const lock = new ResourceLock({
    client: kube.client,
    signal: NEVER,
    clock: {
      ...realClock,
      setTimer: (_, callback) => {
        timers.push(callback);
        return { cancel: () => {} };
      },
    },
    onOthers: () => {},
    onRival: () => {},
    onWait: () => {},
    isInUse: () => isInUse,
  });
  await lock.hold();
  timers.shift()?.();
  await realClock.sleep(0);
  assert.equal(await holder(), "azlb-controller");
  isInUse = false;
  assert.equal(timers.length, 1, "it looks again later");
  timers.shift()?.();
  await lock.release();
  while ((await holder()) !== "") await realClock.sleep(10);
});
