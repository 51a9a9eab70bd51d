/** An event of two machines is carried out early: after both are out of their load balancers, and a grace. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { accountOf } from "../../../src/core/admin-state/drain-account.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { runAgent } from "../../../src/main/agent.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig, DRAIN } from "../../suites/admin-state/admin-state-rig.ts";

const GRACE_MS = 1_000;

let rig: AdminStateRig;
before(async () => {
  rig = await AdminStateRig.open(openEmbeddedCluster, { azure: { topology: { nodes: 3 } } });
  await rig.serve();
});
after(() => rig.close());

test("the agent of one approves it when the other one is out as well", async () => {
  const [first = "", second = ""] = rig.nodes;
  const { azure, cluster } = rig.services;
  const stopping = new AbortController();
  const running = runAgent(
    {
      nodeName: first,
      kubeconfig: cluster.kubeconfig,
      metadataUrl: `${azure.metadataUrl}/machines/${first}`,
      pollMs: 200,
      taints: { drainOnReboot: false },
      approveAfterMs: GRACE_MS,
      log: SILENT_LOG,
    },
    stopping.signal,
  );
  try {
    await azure.control("POST", "/scheduled-events", {
      type: "Terminate",
      machines: [first, second],
      noticeSeconds: 600,
    });
    await rig.expect({ [first]: "Down" });
    await eventually(async () => assert.ok(accountOf(await rig.node(first)) !== undefined), WITHIN_MS);
    assert.deepEqual(await open(), ["Scheduled"], "the other one is in");
    await rig.taint(second, DRAIN);
    await eventually(async () => assert.deepEqual(await open(), []), WITHIN_MS);
    const goneMs = Date.now();
    for (const name of [first, second]) {
      const { downMs = Number.NaN } = accountOf(await rig.node(name)) ?? {};
      assert.ok(downMs + GRACE_MS <= goneMs, `${name} was out since ${downMs}, the machines went at ${goneMs}`);
    }
  } finally {
    stopping.abort(new Error("the test is over"));
    await running;
  }
});

async function open(): Promise<readonly string[]> {
  const answer = (await rig.services.azure.control("GET", "/scheduled-events")) as {
    events?: unknown;
    Events?: unknown;
  };
  const events = (answer.events ?? answer.Events ?? answer) as readonly { readonly EventStatus: string }[];
  return events.map(({ EventStatus }) => EventStatus);
}
