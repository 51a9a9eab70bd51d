/** The count over Services and over time, and what releases it, in virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { CoreWorld } from "../../../test/support/core-world.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { DEFAULT_BRAKE_LIMITS, RELEASE_MS } from "../../core/brake/brake-limits.ts";
import { linesOf } from "../../core/brake/withheld-writes.ts";
import type { Rejection } from "../../core/outcome.ts";
import { APPLIED_ANNOTATION, specFingerprint } from "../../core/service/applied-state.ts";
import { serviceKey } from "../../core/model/kubernetes.ts";
import { Metrics } from "../metrics.ts";
import { Brake } from "./brake.ts";

const SIGNAL = new AbortController().signal;

/** A settled cluster under a config that would move each of its Services to another load balancer. */
function rig(services: number) {
  const settled = new CoreWorld();
  for (let at = 0; at < services; at++)
    settled.apply({ metadata: { name: `s${at}` }, spec: { ports: [{ port: 80 }] } });
  settled.settle();
  const { nodes, services: all, loadBalancers, publicIPs, securityGroup, members } = settled;
  const world = new CoreWorld({ loadBalancerName: "other" });
  Object.assign(world, { nodes, services: all, loadBalancers, publicIPs, securityGroup, members });
  const clock = new VirtualClock();
  let engaged = 0;
  const limits = { ...DEFAULT_BRAKE_LIMITS, services: 2 };
  const brake = new Brake({ limits, clock, metrics: new Metrics(), onEngaged: () => (engaged += 1) });
  /** Up to the decision that takes the address. */
  const admit = async (name: string): Promise<Rejection | undefined> => {
    for (;;) {
      const service = world.service(name);
      const decision = world.decide(service);
      assert.equal(decision.kind, "act");
      const steps = decision.kind === "act" ? decision.steps : [];
      if (steps.some(({ kind }) => kind === "loadBalancer")) return brake.admit(world.observe(service), steps, SIGNAL);
      world.write(service, steps);
    }
  };
  const admitAll = async (...names: string[]): Promise<boolean[]> => {
    const answers = Promise.all(names.map(admit));
    await clock.advance(1_000);
    return (await answers).map((answer) => answer === undefined);
  };
  return { world, clock, brake, admitAll, engaged: () => engaged };
}

test("as many as the limit go at once; of more, none does", async () => {
  const few = rig(2);
  assert.deepEqual(await few.admitAll("s0", "s1"), [true, true]);
  const many = rig(3);
  assert.deepEqual(await many.admitAll("s0", "s1", "s2"), [false, false, false]);
  assert.equal(many.brake.withheld.services.length, 3);
  assert.ok(many.engaged() > 0);
});

test("what was taken a while ago counts, until the window is over", async () => {
  const { admitAll, clock } = rig(4);
  assert.deepEqual(await admitAll("s0", "s1"), [true, true]);
  assert.deepEqual(await admitAll("s2"), [false]);
  await clock.advance(300_000);
  assert.deepEqual(await admitAll("s2"), [true], "at most so many within the window");
});

test("a Service that would lose nothing any more counts no more", async () => {
  const { admitAll, brake } = rig(3);
  assert.deepEqual(await admitAll("s0", "s1", "s2"), [false, false, false]);
  brake.clear("default/s2");
  assert.deepEqual(await admitAll("s0", "s1"), [true, true]);
});

test("a release lets each write through once, and for a time", async () => {
  const { admitAll, brake, clock } = rig(5);
  const all = ["s0", "s1", "s2", "s3", "s4"];
  await admitAll(...all);
  const released = brake.withheld.services.filter(({ service }) => ["default/s0", "default/s1"].includes(service));
  brake.release(linesOf({ services: released, members: [] }), RELEASE_MS);
  assert.deepEqual(await admitAll(...all), [true, true, false, false, false]);
  assert.deepEqual(await admitAll("s0"), [true], "an attempt that failed is repeated");
  brake.settled("default/s0");
  assert.deepEqual(await admitAll(...all), [false, true, false, false, false]);
  await clock.advance(RELEASE_MS);
  assert.deepEqual(await admitAll(...all), [false, false, false, false, false]);
});

test("a release of other addresses than the Service would lose lets nothing through", async () => {
  const { admitAll, brake } = rig(3);
  await admitAll("s0", "s1", "s2");
  const other = brake.withheld.services.map((each) => ({ ...each, addresses: ["20.9.9.9"] }));
  brake.release(linesOf({ services: other, members: [] }), RELEASE_MS);
  assert.deepEqual(await admitAll("s0", "s1", "s2"), [false, false, false]);
});

test("tenants who change their Services and claim that these were applied like that do not trip it for others", async () => {
  const { world, admitAll, brake } = rig(9);
  for (let at = 0; at < 8; at++) {
    const old = world.service(`s${at}`);
    const changed = world.annotate(`s${at}`, { "example.com/x": "y" });
    const forged = `${"0".repeat(32)} spec=${specFingerprint(changed)}`;
    brake.noteChange(old, world.annotate(`s${at}`, { [APPLIED_ANNOTATION]: forged }));
  }
  const names = Array.from({ length: 8 }, (_, at) => `s${at}`);
  assert.ok((await admitAll(...names)).every(Boolean), "their own changes go");
  assert.deepEqual(await admitAll("s8"), [true], "and count for nothing");
});

test("Services of a change that was accepted at the start go", async () => {
  const { world, admitAll, brake } = rig(3);
  brake.exempt(new Set([...world.services.values()].map(serviceKey)));
  assert.deepEqual(await admitAll("s0", "s1", "s2"), [true, true, true]);
});
