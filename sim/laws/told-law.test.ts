/** Which Warning tells of a refused write. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { State } from "../../sandbox/azure/model/index.ts";
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import { SimulatedAzure } from "../environment/simulated-azure.ts";
import { Random } from "../environment/random.ts";
import type { Fault } from "../network/faults.ts";
import { Process, Timeline } from "../environment/timeline.ts";
import { baseOf, LOAD_BALANCER } from "./azure-state.ts";
import { ToldLaw } from "./told-law.ts";

const UID = "b006f7e8-6e95-4d2f-8c01-c4226875b6bf";
const OTHER = "384a6d01-6761-4463-8276-e36684b72d94";

/** A write of the public IP of the Service `UID` is refused, a Warning follows, and more than ten seconds pass. */
function toldAfter(
  status: number,
  warning: { readonly uid: string; readonly message: string },
  before?: Fault["kind"],
): string[] {
  const timeline = new Timeline();
  const reported: string[] = [];
  let nowMs = 1_000;
  const law = new ToldLaw({
    report: (_, what) => reported.push(what),
    azure: new SimulatedAzure({ timeline, random: Random.of(1, "azure"), onWrite: () => {}, onSettled: () => {} })
      .state,
    nowMs: () => nowMs,
    events: () => [],
  });
  const what = `PUT Microsoft.Network/publicIPAddresses/kubernetes-${baseOf(UID)}`;
  const call = { process: new Process("one"), side: "azure", call: "write", what } as const;
  if (before !== undefined) {
    const post = { ...call, side: "kube", what: "POST /api/v1/namespaces/default/events" } as const;
    law.onFault(post, { kind: before, side: "kube", calls: "any", skip: 0, times: 1 });
    nowMs += 15_000;
  }
  law.onFault(call, { kind: "refused", side: "azure", calls: "write", status, skip: 0, times: 1 });
  const object = { type: "Warning", message: warning.message, involvedObject: { uid: warning.uid } };
  law.onChange({ collection: "events", type: "ADDED", object } as unknown as HistoryEntry);
  nowMs += 11_000;
  law.checkBetweenActions();
  return reported;
}

const THROTTLED = 'load balancer "kubernetes": Azure throttles this subscription for 4 s. Next try in 3 s.';

test("a Service that was told of throttling need not be told so for its public IP, too", () => {
  assert.deepEqual(toldAfter(429, { uid: UID, message: THROTTLED }), []);
});

test("what another Service was told, or of another failure, does not count", () => {
  assert.equal(toldAfter(429, { uid: OTHER, message: THROTTLED }).length, 1);
  assert.equal(toldAfter(500, { uid: UID, message: THROTTLED }).length, 1);
  assert.equal(toldAfter(429, { uid: UID, message: 'load balancer "kubernetes": an error in Azure' }).length, 1);
});

test("a slow call to the API server may hold up an event for minutes, a lost one may not", () => {
  const nothing = { uid: OTHER, message: "something else" };
  assert.deepEqual(toldAfter(500, nothing, "slow"), []);
  assert.equal(toldAfter(500, nothing, "lost").length, 1);
});

for (const [pool, isTold] of [
  ["kubernetes-default-outside-1f68d4b9", false],
  ["kubernetes", true],
] as const) {
  test(`a load balancer that is written again because a write of pool ${pool} failed must be told: ${isTold}`, () => {
    const path = "Microsoft.Network/loadBalancers/pods";
    const failed = { id: `/providers/${path}`, type: LOAD_BALANCER, state: "Failed", body: {} };
    const reported: string[] = [];
    let nowMs = 1_000;
    const law = new ToldLaw({
      report: (_, what) => reported.push(what),
      azure: { resources: new Map([[failed.id.toLowerCase(), failed]]) } as unknown as State,
      nowMs: () => nowMs,
      events: () => [],
      isPoolOfLbcf: (name) => name !== "kubernetes",
    });
    const call = { process: new Process("one"), side: "azure", call: "write" } as const;
    const fault = { side: "azure", calls: "write", skip: 0, times: 1 } as const;
    law.onFault({ ...call, what: `PUT ${path}/backendAddressPools/${pool}` }, { ...fault, kind: "fails" });
    law.onFault({ ...call, what: `PUT ${path.toLowerCase()}` }, { ...fault, kind: "refused", status: 503 });
    nowMs += 11_000;
    law.checkBetweenActions();
    assert.equal(reported.length, isTold ? 1 : 0);
  });
}
