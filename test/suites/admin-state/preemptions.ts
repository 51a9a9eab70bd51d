/**
 * Eviction notices: which of them taint a node, how often, and what is left of them when a user clears the taint. On
 * both servers, because it stands on one store with two APIs, on field selectors and on preconditions of patches.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";

import { ACCOUNT_ANNOTATION, accountOf } from "../../../src/core/admin-state/drain-account.ts";
import { PREEMPTION_ANNOTATION } from "../../../src/core/admin-state/preemption-annotation.ts";
import type { Taint } from "../../../src/core/model/kubernetes.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { EVENTS, NODES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { withClusterView } from "../../../src/main/cluster-view.ts";
import { runAgent } from "../../../src/main/agent.ts";
import { explainNode } from "../../../src/main/explain-node.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { ANNOUNCEMENT, AdminStateRig, OUT_OF_SERVICE, SPOT_EVICTION } from "./admin-state-rig.ts";

interface Announced {
  readonly EventId: string;
  readonly NotBefore: string;
}

type NodeObject = KubeObject & {
  readonly spec: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
};

export function preemptionsSuite(name: string, open: ClusterOpener): void {
  describe(`eviction notices on ${name}`, () => {
    let rig: AdminStateRig;
    let first: string;
    let second: string;

    beforeEach(async () => {
      rig = await AdminStateRig.open(open, { azure: { topology: { nodes: 2 } } });
      [first = "", second = ""] = rig.nodes;
    });
    afterEach(() => rig.close());

    const tainted = (node: string): Promise<void> =>
      eventually(async () => assert.equal(await rig.isDoomed(node), true, `${node} is not tainted`), WITHIN_MS);

    /** Notices are taken in the order they come, so the second node's says that the first one's was looked at. */
    const overtaken = async (): Promise<void> => {
      await rig.announce(second);
      await tainted(second);
    };

    const notice = (dueMs: number): { message: string } => ({
      message: `Preempt Scheduled: ${new Date(dueMs).toUTCString()}. DurationInSeconds: -1. EventId: 8`,
    });

    test("are accounted for: on the Node, in its Events, in metrics and in what explains it", async () => {
      await rig.serve();
      await rig.announce(first, notice(Date.now() + 30_000));
      assert.match(
        await rig.heard(first, "EvictionDrained"),
        /^Got no new connections from \d.* s before its eviction/,
      );
      const dueMs = Date.now();
      await rig.services.azure.control("POST", "/faults", {
        method: "PUT",
        path: "**/backendAddressPools/*",
        effect: { kind: "delay", delayMs: 1_500 },
      });
      await rig.announce(second, notice(dueMs));
      assert.match(
        await rig.heard(second, "EvictionDrainedLate"),
        /^Got new connections until \d.* s after its eviction/,
      );
      const metrics = await rig.services.metrics();
      assert.match(metrics, /loadbalancer_adminstate_evictions_total\{outcome="in_time"\} 1/);
      assert.match(metrics, /loadbalancer_adminstate_evictions_total\{outcome="too_late"\} 1/);
      assert.match(metrics, /loadbalancer_adminstate_eviction_notice_left_seconds_count 2/);
      const account = accountOf(await rig.node(first));
      assert.deepEqual(account?.pools.toSorted(), ["kubernetes-internal/kubernetes", "kubernetes/kubernetes"]);
      const { text: explained } = await withClusterView({ ...rig.services.viewOptions, log: SILENT_LOG }, (view) =>
        explainNode(view, first),
      );
      assert.match(explained, /^state {7}draining \(spot-eviction\): no new connections in\n {2}Down {6}load balancer/);
      assert.match(explained, /\nannounced .*\nknown .*\nDown .* in every pool, \d.* s before it was due\nevents\n/);
      await rig.services.stop();
      await rig.services.start();
      await rig.untaint(first, SPOT_EVICTION);
      await rig.expect({ [second]: "Down" });
      await eventually(async () => {
        const { annotations = {} } = (await rig.node(first)).metadata;
        assert.equal(annotations[ACCOUNT_ANNOTATION], undefined);
      }, WITHIN_MS);
      const told = (await rig.said(first)).filter(({ reason }) => reason === "EvictionDrained");
      assert.equal(told.length, 1, "a controller that starts later does not account for it again");
    });

    test("beside other handlers of the node there is one taint and one write of each pool; what is theirs stays", async () => {
      await rig.serve();
      const before = await rig.sequence();
      const { azure, cluster, kube } = rig.services;
      const stopping = new AbortController();
      const metadataUrl = `${azure.metadataUrl}/machines/${first}`;
      const options = { nodeName: first, kubeconfig: cluster.kubeconfig, metadataUrl, pollMs: 50, log: SILENT_LOG };
      const agent = runAgent({ ...options, taints: { drainOnReboot: false } }, stopping.signal);
      try {
        const wanted = { type: "Preempt", machines: [first], noticeSeconds: 600 };
        const { EventId, NotBefore } = (await azure.control("POST", "/scheduled-events", wanted)) as Announced;
        await tainted(first);
        // node problem detector
        await rig.announce(first, {
          message: `Preempt Scheduled: ${NotBefore}. DurationInSeconds: -1.  EventId: ${EventId}`,
        });
        // aks-node-termination-handler: an Event of another reason, a taint of its own, a cordon
        const { uid } = (await rig.node(first)).metadata;
        await rig.announce(first, {
          involvedObject: { apiVersion: "v1", kind: "Node", name: first, uid },
          reason: "Preempt",
          message: "Azure API sended schedule event for this node",
          source: { component: "aks-node-termination-handler" },
        });
        const theirs = { key: "aks-node-termination-handler/preempt", value: EventId, effect: "NoSchedule" };
        await rig.taint(first, theirs);
        await kube.patch(NODES, { name: first }, { merge: { spec: { unschedulable: true } } });
        await rig.expect({ [first]: "Down" });
        await rig.heard(first, "EvictionDrained");
        await overtaken();
        await rig.expect({ [first]: "Down", [second]: "Down" });
        assert.equal(await rig.timesTainted(first), 1);
        assert.deepEqual(await rig.writes(before), { "kubernetes/kubernetes": 2, "kubernetes-internal/kubernetes": 2 });
        await azure.control("DELETE", `/scheduled-events/${EventId}`);
        await rig.expect({ [second]: "Down" });
        const { taints = [], unschedulable } = (await rig.services.kube.get<NodeObject>(NODES, { name: first })).spec;
        assert.ok(taints.some(({ key }) => key === theirs.key) && unschedulable === true, "theirs stays");
        assert.equal(await rig.timesTainted(first), 1);
      } finally {
        stopping.abort(new Error("the test is over"));
        await agent;
      }
    });

    test("of a node that is removed before Down is in effect are counted as too late", async () => {
      await rig.serve();
      await rig.services.azure.control("POST", "/faults", {
        method: "PUT",
        path: "**/backendAddressPools/*",
        count: null,
        effect: { kind: "status", status: 500 },
      });
      await rig.announce(first, notice(Date.now() + 30_000));
      await tainted(first);
      await rig.heard(first, "LoadBalancerAdminStateFailed");
      await rig.services.kube.delete(NODES, { name: first });
      assert.match(
        await rig.heard(first, "EvictionDrainedLate"),
        /was removed before Down was in effect, \d.* s before that$/,
      );
    });

    test("of a deletion drain the node, and are accounted for", async () => {
      await rig.serve();
      const message = `Terminate Scheduled: ${new Date(Date.now() + 300_000).toUTCString()}. DurationInSeconds: -1. EventId: 9`;
      await rig.announce(first, { reason: "TerminateScheduled", message });
      await rig.expect({ [first]: "Down" });
      assert.match(await rig.heard(first, "TerminationTainted"), /^Is about to be deleted \("Terminate Scheduled: /);
      assert.match(await rig.heard(first, "EvictionDrained"), /^Got no new connections from 2\d\d(\.\d)? s before/);
      const drains = ((await rig.node(first)).spec.taints ?? []).filter(({ key }) => key === "azlb.io/drain");
      assert.deepEqual(
        drains.map(({ value, effect }) => [value, effect]),
        [["terminate", "NoSchedule"]],
      );
    });

    test("are seen when they come through events.k8s.io too", async () => {
      const now = new Date().toISOString();
      const reply = await rig.services.cluster.request("POST", "/apis/events.k8s.io/v1/namespaces/default/events", {
        body: {
          metadata: { name: `${first}.1` },
          eventTime: `${now.slice(0, 23)}000Z`,
          regarding: { kind: "Node", name: first, uid: first },
          reason: "PreemptScheduled",
          note: ANNOUNCEMENT,
          type: "Warning",
          action: "Preempt",
          reportingController: "node-problem-detector",
          reportingInstance: first,
        },
      });
      assert.equal(reply.code, 201, reply.text);
      await tainted(first);
      assert.match(await rig.heard(first, "SpotEvictionTainted"), /Preempt Scheduled/);
    });

    test("that were there before the controller started count; those that are older than the node don't", async () => {
      await rig.services.stop();
      await rig.announce(first);
      await rig.announce(second, { firstTimestamp: "2025-02-26T10:13:13Z", lastTimestamp: "2025-02-26T10:13:13Z" });
      await rig.services.start();
      await tainted(first);
      assert.equal(await rig.isDoomed(second), false);
    });

    test("that report the emitter's own troubles, or are about something else of that name, count for nothing", async () => {
      await rig.announce(first, {
        message: "IMDS query failed, exit code: 28\nConnection timed out after 24 seconds.",
      });
      await rig.announce(first, {
        involvedObject: { kind: "Pod", name: first, namespace: "default" },
        message: ANNOUNCEMENT,
      });
      await rig.announce(first, {
        reason: "RebootScheduled",
        message: "Reboot Scheduled: Wed, 26 Feb 2025 10:13:13 GMT.",
      });
      await overtaken();
      assert.equal(await rig.isDoomed(first), false);
    });

    test("count only from the namespaces of their reporters, and never begin in the future", async () => {
      await rig.services.cluster.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "evil" } } });
      await rig.announce(first, {
        metadata: { name: `${first}.forged`, namespace: "evil" },
        involvedObject: { kind: "Node", name: first, namespace: "evil" },
      });
      const never = "9999-12-31T23:59:59Z";
      await rig.announce(second, { firstTimestamp: never, lastTimestamp: never });
      await tainted(second);
      assert.equal(await rig.isDoomed(first), false, "a tenant's Event has tainted a node");
      await rig.untaint(second, SPOT_EVICTION);
      await nextSecond();
      await rig.announce(second);
      await tainted(second); // a time in the future does not hide the notices that follow
    });

    test("that repeat taint once, and never again for the same notice after a user cleared the taint", async () => {
      const now = `${new Date().toISOString().slice(0, 19)}Z`;
      const sameSecond = { firstTimestamp: now, lastTimestamp: now };
      const uid = await rig.announce(first, sameSecond);
      await tainted(first);
      await rig.announce(first, sameSecond); // another event
      await repeat(rig, uid);
      await rig.untaint(first, SPOT_EVICTION);
      await repeat(rig, uid);
      await overtaken();
      assert.equal(await rig.isDoomed(first), false);
      await rig.services.stop();
      await rig.services.start();
      await rig.untaint(second, SPOT_EVICTION);
      await nextSecond();
      await rig.announce(second);
      await tainted(second);
      assert.equal(await rig.isDoomed(first), false, "not even by a controller that started later");
      assert.equal(await rig.timesTainted(first), 1);
    });

    test("that are new taint again after the taint was cleared, and a node made anew starts afresh", async () => {
      await rig.announce(first);
      await tainted(first);
      await rig.untaint(first, SPOT_EVICTION);
      await nextSecond();
      await rig.announce(first);
      await tainted(first);
      await nextSecond();
      await rig.recreate(first);
      await overtaken();
      assert.equal(await rig.isDoomed(first), false, "the old notices were about its namesake");
      await rig.announce(first);
      await tainted(first);
    });

    test("leave a taint that a user set, and other taints, as they are", async () => {
      const own = { ...SPOT_EVICTION, effect: "NoExecute" };
      await rig.taint(first, { key: "dedicated", value: "spot", effect: "NoSchedule" });
      await rig.taint(first, own);
      await rig.taint(second, OUT_OF_SERVICE);
      const uid = await rig.announce(first);
      await rig.announce(second);
      await eventually(async () => {
        const { metadata, spec } = await rig.node(first);
        assert.match(metadata.annotations?.[PREEMPTION_ANNOTATION] ?? "", new RegExp(`^${uid} at`));
        const ours = (spec.taints ?? []).filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
        assert.deepEqual(ours.map(({ key, effect }) => `${key}:${effect}`).sort(), [
          `${own.key}:NoExecute`,
          "dedicated:NoSchedule",
        ]);
        const keys = ((await rig.node(second)).spec.taints ?? []).map(({ key }) => key);
        assert.ok(keys.includes(OUT_OF_SERVICE.key) && keys.includes(SPOT_EVICTION.key), keys.join());
      }, WITHIN_MS);
    });

    test("win against others who change the Node at the same time, without undoing them", async () => {
      const over = new AbortController();
      const others = (async () => {
        for (let count = 1; !over.signal.aborted; count++) {
          const annotations = { count: String(count) };
          await rig.services.kube.patch(NODES, { name: first }, { merge: { metadata: { annotations } } });
          await rig.taint(first, { key: `others/${count % 3}`, effect: "NoSchedule" });
        }
      })();
      await rig.announce(first);
      await tainted(first);
      over.abort();
      await others;
      assert.equal(await rig.timesTainted(first), 1);
      assert.ok((await rig.node(first)).spec.taints?.some(({ key }) => key.startsWith("others/")));
    });
  });
}

/** Times of core/v1 are whole seconds: what shall be told apart must not share one. */
async function nextSecond(): Promise<void> {
  const second = (): number => Math.floor(Date.now() / 1000);
  const now = second();
  await eventually(() => assert.ok(second() > now), WITHIN_MS);
}

/** As client-go's recorder repeats: the count and the last time go up. */
async function repeat(rig: AdminStateRig, uid: string): Promise<void> {
  const { items } = await rig.services.kube.list<KubeObject>(EVENTS, { namespace: "default" });
  const name = items.find(({ metadata }) => metadata.uid === uid)?.metadata.name;
  const lastTimestamp = `${new Date(Date.now() + 30_000).toISOString().slice(0, 19)}Z`;
  await rig.services.kube.patch(EVENTS, { namespace: "default", name }, { strategic: { count: 2, lastTimestamp } });
}
