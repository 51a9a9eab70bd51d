/** When a load balancer is ensured again: its period counts as long as the process runs, whatever the wall clock shows. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadBalancer } from "../../../../test/support/lbcf-objects.ts";
import { seededRandom, VirtualClock } from "../../../../test/support/virtual-clock.ts";
import type { Verdict } from "../../../kube/work-queue.ts";
import type { BackendDriver } from "../drivers/driver.ts";
import { RetryDelays } from "../drivers/retry-delays.ts";
import { LoadBalancerSteps, type LoadBalancerStorage } from "./load-balancer-steps.ts";

const PERIOD_MS = 120_000;

/** A clock of which the wall clock can be set. */
class JumpingClock extends VirtualClock {
  jumpedMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.jumpedMs;
  }
}

function rig() {
  const clock = new JumpingClock();
  const driver = { ensureLoadBalancer: async () => ({ status: "Succ", msg: "" }) } as unknown as BackendDriver;
  let ensured = 0;
  const steps = new LoadBalancerSteps({
    clock,
    drivers: {
      of: () => {
        ensured += 1;
        return driver;
      },
      stateOf: () => "ready",
      question: () => ({ object: "lb", driver: "driver", text: "" }),
    } as never,
    delays: new RetryDelays({ clock, retries: { random: seededRandom(1) } as never }),
    validations: undefined as never,
  });
  const lb = loadBalancer("lb", { ensurePolicy: { policy: "Always", periodMs: PERIOD_MS } });
  const storage = { current: () => lb, invalidName: () => undefined, records: () => 0, store: async () => {} };
  const run = (): Promise<Verdict> => steps.run({ ...storage, emit: () => {} } as unknown as LoadBalancerStorage);
  return { clock, run, ensured: () => ensured };
}

test("a wall clock that is set back does not put off the next ensure", async () => {
  const { clock, run, ensured } = rig();
  assert.deepEqual(await run(), { kind: "again", afterMs: PERIOD_MS });
  assert.equal(ensured(), 1);
  clock.jumpedMs = -500_000;
  assert.deepEqual(await run(), { kind: "again", afterMs: PERIOD_MS });
  await clock.advance(PERIOD_MS);
  await run();
  assert.equal(ensured(), 2);
});

test("one that is set forward does not ensure at once", async () => {
  const { clock, run, ensured } = rig();
  await run();
  clock.jumpedMs = 500_000;
  assert.deepEqual(await run(), { kind: "again", afterMs: PERIOD_MS });
  assert.equal(ensured(), 1);
});
