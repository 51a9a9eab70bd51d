/**
 * The agent of a node, from what Azure announces to what the cluster knows: through the emulator's metadata service and a
 * Kubernetes API. The API server is the suite's; no controller runs.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";

import { startAzure, type RunningAzure } from "../../../sandbox/azure/index.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import type { Taint } from "../../../src/core/model/kubernetes.ts";
import { EVENTS, NODES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { runAgent, type AgentProcessOptions } from "../../../src/main/agent.ts";
import { openKubeClient, type KubeAccess } from "../../../src/main/kube-access.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";

const SPOT: Taint = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };
const TERMINATE: Taint = { key: "azlb.io/drain", value: "terminate", effect: "NoSchedule" };
const MANUAL: Taint = { key: "azlb.io/drain", value: "manual", effect: "NoSchedule" };
/** So long that no event is carried out during a test. */
const NOTICE_SECONDS = 600;
const POLL_MS = 20;

interface NodeEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export function agentSuite(name: string, open: ClusterOpener): void {
  describe(`the agent on ${name}`, () => {
    let azure: RunningAzure;
    let cluster: Cluster;
    let kube: KubeAccess;
    /** Each test has a node of its own. */
    let free: string[] = [];

    before(async () => {
      [azure, cluster] = await Promise.all([startAzure({ topology: { nodes: 13 } }), open()]);
      kube = openKubeClient({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
      const nodes = azure.nodes.map(({ name: node, ip, providerId }) => ({
        name: node,
        internalIPs: [ip],
        providerID: providerId,
      }));
      await ensureNodes(kube.client, nodes);
      free = nodes.map((node) => node.name);
    });
    after(async () => {
      await kube.close();
      await cluster.close();
      await azure.close();
    });

    async function withAgent(
      nodeName: string,
      options: Partial<AgentProcessOptions>,
      work: () => Promise<void>,
    ): Promise<void> {
      const stopping = new AbortController();
      const metadataUrl = `${azure.metadataUrl}/machines/${nodeName}`;
      const { kubeconfig } = cluster;
      const running = runAgent(
        { nodeName, kubeconfig, metadataUrl, pollMs: POLL_MS, log: SILENT_LOG, taints: undefined, ...options },
        stopping.signal,
      );
      try {
        await work();
      } finally {
        stopping.abort(new Error("the test is over"));
        await running;
      }
    }

    async function control(method: string, path: string, body?: unknown): Promise<{ EventId: string }> {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${azure.controlUrl}${path}`, {
        method,
        ...(body !== undefined && { headers, body: JSON.stringify(body) }),
      });
      assert.ok(response.ok, await response.clone().text());
      return (await response.json()) as { EventId: string };
    }

    async function announce(type: string, ...machines: readonly string[]): Promise<string> {
      const body = { type, machines, noticeSeconds: NOTICE_SECONDS };
      return (await control("POST", "/scheduled-events", body)).EventId;
    }

    async function taintsOf(node: string): Promise<readonly Taint[]> {
      const { spec } = await kube.client.get<KubeObject & { spec: { taints?: readonly Taint[] } }>(NODES, {
        name: node,
      });
      // the API server adds the time to some, and its own to a node that is not ready
      return (spec.taints ?? [])
        .filter(({ key }) => !key.startsWith("node.kubernetes.io/"))
        .map(({ key, value, effect }) => ({ key, ...(value !== undefined && { value }), effect }));
    }

    async function eventsOf(node: string): Promise<readonly NodeEvent[]> {
      const fieldSelector = `involvedObject.name=${node}`;
      return (await kube.client.list<NodeEvent>(EVENTS, { namespace: "default", fieldSelector })).items;
    }

    async function heard(node: string, reason: string, count = 1): Promise<NodeEvent> {
      let found: NodeEvent | undefined;
      await eventually(async () => {
        const all = (await eventsOf(node)).filter((event) => event.reason === reason);
        assert.equal(all.length, count, `${reason} on ${node}`);
        found = all[0];
      }, WITHIN_MS);
      return found ?? assert.fail();
    }

    function tainted(node: string, ...wanted: readonly Taint[]): Promise<void> {
      return eventually(async () => assert.deepEqual(await taintsOf(node), wanted), WITHIN_MS);
    }

    test("writes Events only, worded as node problem detector words them, unless it may taint", async () => {
      const [node = ""] = free.splice(0, 1);
      await withAgent(node, {}, async () => {
        const id = await announce("Preempt", node);
        const { type, message } = await heard(node, "PreemptScheduled");
        assert.equal(type, "Warning");
        assert.match(
          message,
          new RegExp(`^Preempt Scheduled: \\w{3}, .* GMT\\. DurationInSeconds: -1\\. EventId: ${id}$`),
        );
        await control("DELETE", `/scheduled-events/${id}`);
        await heard(node, "ScheduledEventOver");
        assert.deepEqual(await taintsOf(node), []);
      });
    });

    test("taints where it may, and removes its own taints and no others when the events are over", async () => {
      const [node = ""] = free.splice(0, 1);
      const mine: Taint = { key: "example.com/mine", value: "x", effect: "NoSchedule" };
      await kube.client.patch(NODES, { name: node }, { merge: { spec: { taints: [mine] } } });
      await withAgent(node, { taints: { drainOnReboot: false } }, async () => {
        const preempt = await announce("Preempt", node);
        const terminate = await announce("Terminate", node);
        await tainted(node, mine, SPOT, TERMINATE);
        await control("DELETE", `/scheduled-events/${preempt}`);
        await tainted(node, mine, TERMINATE);
        await control("DELETE", `/scheduled-events/${terminate}`);
        await tainted(node, mine);
      });
    });

    test("a right to taint that no policy keeps to its Node is not used: Events only, and the log says so", async () => {
      const [node = ""] = free.splice(0, 1);
      const warned: string[] = [];
      const log = { ...SILENT_LOG, warn: (text: string) => void warned.push(text) };
      await withAgent(node, { taints: { drainOnReboot: false }, needsPolicy: true, log }, async () => {
        await eventually(() => assert.match(warned[0] ?? "", /Apply deploy\/agent-policy\.yaml/), WITHIN_MS);
        const id = await announce("Preempt", node);
        await heard(node, "PreemptScheduled");
        await eventually(() => assert.ok(warned.length > 1), WITHIN_MS);
        await control("DELETE", `/scheduled-events/${id}`);
        await heard(node, "ScheduledEventOver");
        assert.deepEqual(await taintsOf(node), []);
      });
      assert.deepEqual(warned.slice(2), [], "once at the start, once for the event");
    });

    test("a drain by hand stays when a termination is cancelled", async () => {
      const [node = ""] = free.splice(0, 1);
      await kube.client.patch(NODES, { name: node }, { merge: { spec: { taints: [MANUAL] } } });
      await withAgent(node, { taints: { drainOnReboot: false } }, async () => {
        const id = await announce("Terminate", node);
        await heard(node, "TerminateScheduled");
        await control("DELETE", `/scheduled-events/${id}`);
        await heard(node, "ScheduledEventOver");
        await tainted(node, MANUAL);
      });
    });

    test("freezes, reboots and redeployments are told; the last two drain if asked for", async () => {
      const [plain = "", drained = ""] = free.splice(0, 2);
      const told = async (node: string): Promise<void> => {
        for (const type of ["Freeze", "Reboot", "Redeploy"]) {
          await announce(type, node);
          await heard(node, `${type}Scheduled`);
        }
      };
      await withAgent(plain, { taints: { drainOnReboot: false } }, () => told(plain));
      assert.deepEqual(await taintsOf(plain), []);
      await withAgent(drained, { taints: { drainOnReboot: true } }, () => told(drained));
      await tainted(drained, { key: "azlb.io/drain", value: "reboot", effect: "NoSchedule" });
    });

    test("events of other machines of the scale set are not its own", async () => {
      const [node = "", other = ""] = free.splice(0, 2);
      await withAgent(node, { taints: { drainOnReboot: true } }, async () => {
        const id = await announce("Preempt", other);
        await announce("Freeze", node); // once this is told, the document with both was read
        await heard(node, "FreezeScheduled");
        assert.deepEqual(await taintsOf(node), []);
        assert.deepEqual(
          (await eventsOf(node)).map(({ reason }) => reason),
          ["FreezeScheduled"],
        );
        await control("DELETE", `/scheduled-events/${id}`);
      });
    });

    test("a new process repeats no Event, respects a removed taint, and removes what an earlier one has left", async () => {
      const [node = ""] = free.splice(0, 1);
      const options = { taints: { drainOnReboot: false } };
      const id = await announce("Preempt", node);
      await withAgent(node, options, () => tainted(node, SPOT));
      await kube.client.patch(NODES, { name: node }, { merge: { spec: { taints: null } } });
      await withAgent(node, options, async () => {
        const freeze = await announce("Freeze", node);
        await heard(node, "FreezeScheduled");
        await heard(node, "PreemptScheduled");
        assert.deepEqual(await taintsOf(node), []);
        await control("DELETE", `/scheduled-events/${freeze}`);
        await heard(node, "ScheduledEventOver");
      });
      const second = await announce("Terminate", node);
      await withAgent(node, options, () => tainted(node, TERMINATE));
      for (const event of [id, second]) await control("DELETE", `/scheduled-events/${event}`);
      await withAgent(node, options, () => tainted(node));
    });

    test("a metadata service that is absent, slow, silent or garbled changes nothing, and is believed when it is back", async () => {
      const [node = ""] = free.splice(0, 1);
      const answers: string[] = ["<html>", "{}", '{"Events": "none"}', "", '{"Events": [{"EventId": 1}]}'];
      const asked: string[] = [];
      let real = false;
      const server: Server = createServer((request, response) => {
        const path = (request.url ?? "").replace(/\?.*$/, "");
        asked.push(path);
        if (real || path.endsWith("/name")) {
          void fetch(`${azure.metadataUrl}/machines/${node}${request.url}`, { headers: { Metadata: "true" } })
            .then((reply) => reply.text())
            .then((text) => response.end(text));
          return;
        }
        const answer = answers.shift();
        if (answer === undefined) request.socket.destroy();
        else response.end(answer);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      try {
        const options = { taints: { drainOnReboot: false }, metadataUrl: `http://127.0.0.1:${port}` };
        await announce("Preempt", node);
        await withAgent(node, { ...options, pollMs: 1 }, async () => {
          await eventually(() => assert.ok(answers.length === 0 && asked.length > 8), WITHIN_MS);
          assert.deepEqual(await taintsOf(node), []);
          real = true;
          await tainted(node, SPOT);
          real = false; // silent again: what was written stays
          const before = asked.length;
          await eventually(() => assert.ok(asked.length > before + 2), WITHIN_MS);
          assert.deepEqual(await taintsOf(node), [SPOT]);
        });
      } finally {
        server.close();
        server.closeAllConnections();
      }
      const known = ["/metadata/instance/compute/name", "/metadata/scheduledevents"];
      assert.deepEqual([...new Set(asked)].toSorted(), known, "it asks for nothing else, tokens least of all");
    });

    test("outside of Azure it waits, and ends when it is asked to", async () => {
      const [node = ""] = free.splice(0, 1);
      await withAgent(node, { metadataUrl: "http://127.0.0.1:9", taints: { drainOnReboot: true } }, () =>
        Promise.resolve(),
      );
      assert.deepEqual([await taintsOf(node), await eventsOf(node)], [[], []]);
    });
  });
}
