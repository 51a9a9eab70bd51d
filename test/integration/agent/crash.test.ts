/**
 * The agent is ended, alone or with the controller, between an announcement and Down. A fault holds it at the point; those
 * that start later find their way by what is stored alone.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { accountOf } from "../../../src/core/admin-state/drain-account.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { runAgent } from "../../../src/main/agent.ts";
import { clusterOf } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig } from "../../suites/admin-state/admin-state-rig.ts";

const FOR_EVER = { kind: "delay", delayMs: 600_000 };
const NODE = "/api/v1/nodes/*";
const EVENTS = "/api/v1/namespaces/default/events";

interface Point {
  readonly what: string;
  readonly fault: Readonly<Record<string, unknown>>;
}

const POINTS: readonly Point[] = [
  { what: "its Node is not read", fault: { method: "GET", path: NODE, effect: FOR_EVER } },
  { what: "the taint is not written", fault: { method: "PATCH", path: NODE, effect: FOR_EVER } },
  {
    what: "the taint is written, the answer is lost",
    fault: { method: "PATCH", path: NODE, effect: { kind: "cutAfter" } },
  },
  { what: "the Event is not written", fault: { method: "POST", path: EVENTS, effect: FOR_EVER } },
  {
    what: "the Event is written, the answer is lost",
    fault: { method: "POST", path: EVENTS, effect: { kind: "cutAfter" } },
  },
];

describe("an agent that ends when", () => {
  let rig: AdminStateRig;
  let kubernetes: RunningKubernetes;
  let first = "";

  before(async () => {
    rig = await AdminStateRig.open(
      async () => {
        kubernetes = await startKubernetes({ controllers: false, dualStack: false });
        return clusterOf(kubernetes);
      },
      { azure: { topology: { nodes: 2 } } },
    );
    [first = ""] = rig.nodes;
    await rig.serve();
  });
  after(() => rig.close());

  function start(): () => Promise<void> {
    const { azure, cluster } = rig.services;
    const stopping = new AbortController();
    const metadataUrl = `${azure.metadataUrl}/machines/${first}`;
    const taints = { drainOnReboot: false };
    const options = {
      nodeName: first,
      kubeconfig: cluster.kubeconfig,
      metadataUrl,
      pollMs: 20,
      taints,
      log: SILENT_LOG,
    };
    const running = runAgent(options, stopping.signal);
    return async () => {
      stopping.abort(new Error("it is ended"));
      await running;
    };
  }

  async function control(method: string, body?: unknown): Promise<readonly { readonly hits: number }[]> {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${kubernetes.controlUrl}/faults`, {
      method,
      ...(body !== undefined && { headers, body: JSON.stringify(body) }),
    });
    return ((await response.json()) as { faults?: readonly { readonly hits: number }[] }).faults ?? [];
  }

  for (const { what, fault } of POINTS) {
    for (const withController of [false, true]) {
      test(`${what}${withController ? ", and the controller with it" : ""}`, async () => {
        if (withController) await rig.services.stop();
        await control("POST", fault);
        const wanted = { type: "Preempt", machines: [first], noticeSeconds: 600 };
        const reply = await rig.services.azure.control("POST", "/scheduled-events", wanted);
        const { EventId } = reply as { EventId: string };
        const end = start();
        await eventually(async () => assert.ok((await control("GET")).some(({ hits }) => hits > 0)), WITHIN_MS);
        await end();
        await control("DELETE");
        if (withController) await rig.services.start();
        const endSecond = start();
        try {
          await rig.expect({ [first]: "Down" });
          const said = async (): Promise<number> =>
            (await rig.said(first)).filter(({ message }) => message.includes(`EventId: ${EventId}`)).length;
          await eventually(async () => assert.ok((await said()) > 0), WITHIN_MS);
          await eventually(async () => {
            const { notice, downMs = 0 } = accountOf(await rig.node(first)) ?? {};
            assert.ok(notice !== undefined && downMs < notice.dueMs, "Down before it goes, and accounted for");
          }, WITHIN_MS);
          await rig.services.azure.control("DELETE", `/scheduled-events/${EventId}`);
          await rig.retaint(first, () => []); // where the controller was faster, the taint is not the agent's
          await rig.expect({});
        } finally {
          await endSecond();
        }
      });
    }
  }
});
