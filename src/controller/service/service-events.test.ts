/** The events of a Service: what was done, and what fails: when they are emitted, their text, and what is not repeated. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { error } from "../../../test/support/memory-arm.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { ArmError, failureOfResponse, type ArmFailure } from "../../azure/arm/failures.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import type { Step } from "../../core/steps.ts";
import { SILENT_LOG } from "../../core/util/log.ts";
import type { ObjectEvent } from "../../kube/events/event-correlator.ts";
import { Events } from "../events.ts";
import { ServiceEvents } from "./service-events.ts";

const WHAT = 'load balancer "kubernetes"';

function rig() {
  const recorded: string[] = [];
  const record = ({ reason, message }: ObjectEvent): void => void recorded.push(`${reason}: ${message}`);
  const events = new ServiceEvents(new Events({ record }, SILENT_LOG), SILENT_LOG);
  const world = new CoreWorld();
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  const service = world.service("web");
  /** The n-th attempt of a write fails so. */
  const fails = (attempts: number, failure: ArmFailure, afterMs = 1_500, on: Service = service): string[] => {
    events.retrying(on, WHAT, { failure, attempts, afterMs });
    return recorded.splice(0);
  };
  return { events, recorded, service, fails, world };
}

function failure(status: number, code: string, retryAfter?: string): ArmFailure {
  const response = error(status, code, { message: `at ${code.length}` });
  return failureOfResponse({ ...response, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } }, 0);
}

test("the first failure that will be repeated is told at once, with the cause and the next try; the same is not repeated", () => {
  const { events, recorded, service, fails } = rig();
  const internal = failure(500, "InternalServerError");
  const text = `${WHAT}: Azure did not answer properly (InternalServerError: at 19). Next try in`;
  assert.deepEqual(fails(1, internal, 1_500), [`SyncLoadBalancerFailed: ${text} 2 s.`]);
  assert.deepEqual(fails(2, internal, 3_000), []);
  assert.deepEqual(fails(3, { ...internal, message: "on another server" }), []);
  events.failed(service, new ArmError(internal, WHAT), { afterMs: 1_000, tellUser: true });
  assert.deepEqual(recorded.splice(0), [], "the end of the write's retries is no news either");
  assert.equal(fails(4, failure(503, "ServiceUnavailable")).length, 1, "another cause is");
  events.settled(service, [], []);
  assert.equal(fails(1, internal).length, 1, "and so is the same one after a success");
});

test("throttling is told at once, with the time that Azure asks for", () => {
  const { fails } = rig();
  assert.deepEqual(fails(1, failure(429, "SubscriptionRequestsThrottled", "60"), 60_000), [
    `SyncLoadBalancerFailed: ${WHAT}: Azure throttles this subscription for 60 s. Next try in 60 s.`,
  ]);
});

test("a Service that is being deleted gets the event of its deletion", () => {
  const { service, fails } = rig();
  const deleting = { ...service, metadata: { ...service.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.match(fails(1, failure(500, "InternalServerError"), 1_000, deleting)[0] ?? "", /^DeleteLoadBalancerFailed: /);
});

test("conflicts are no news before the fourth in a row", () => {
  const { fails } = rig();
  const conflict = failure(412, "PreconditionFailed");
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((attempts) => fails(attempts, conflict).length),
    [0, 0, 0, 1, 0],
  );
});

test("a refusal that says something else is news each time", () => {
  const { events, recorded, service } = rig();
  for (const message of ["a clashes", "b clashes", "b clashes"]) {
    const refusal = { ...failure(400, "Clash"), message };
    events.failed(service, new ArmError(refusal, WHAT), { afterMs: 1_000, tellUser: true });
  }
  assert.deepEqual(recorded, [
    `SyncLoadBalancerFailed: ${WHAT}: Azure refused it: Clash: a clashes. Next try in 1 s.`,
    `SyncLoadBalancerFailed: ${WHAT}: Azure refused it: Clash: b clashes. Next try in 1 s.`,
  ]);
});

test("what was done says what was written, and whether the address changed", () => {
  const { events, recorded, world } = rig();
  const steps = (): Step[] => {
    const decision = world.decide(world.service("web"));
    return decision.kind === "act" ? [...decision.steps] : [];
  };
  const settle = (): string[] => {
    const before = world.service("web");
    const taken: Step[] = [];
    for (let next = steps(); next.length > 0; next = steps()) {
      world.write(world.service("web"), next);
      taken.push(...next);
    }
    events.settled(before, taken, []);
    return recorded.splice(0);
  };
  const [first = ""] = settle();
  const [ip = ""] = (world.service("web").status.loadBalancer.ingress ?? []).map((one) => one.ip);
  assert.equal(
    first.replace(/public IP "[^"]+"/, 'public IP "…"').replace(ip, "IP"),
    'EnsuredLoadBalancer: Ensured load balancer: IP. Written: public IP "…", load balancer "kubernetes", security group "nsg", pool "kubernetes"',
  );
  world.annotate("web", { [`${PREFIX}azure-load-balancer-internal`]: "true" });
  assert.match(
    settle().at(-1) ?? "",
    new RegExp(`^EnsuredLoadBalancer: Ensured load balancer: \\S+ instead of ${ip}\\. Written: `),
  );
});
