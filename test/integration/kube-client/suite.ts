/**
 * Our client runtime on a server: what it sends must be understood, and what comes back must be understood here.
 * Run on the embedded API by `embedded.test.ts` and on a real kube-apiserver by `test/e2e/kube-client.e2e.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { EventRecorder } from "../../../src/kube/events/event-recorder.ts";
import type { Fence } from "../../../src/kube/election/lease.ts";
import { findCluster } from "../../../src/kube/client/find-cluster.ts";
import { HttpTransport } from "../../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../../src/kube/client/kube-client.ts";
import { isFailure, type KubeFailureKind } from "../../../src/kube/client/kube-failure.ts";
import { LeaderElection } from "../../../src/kube/election/leader-election.ts";
import { LiveCredentials } from "../../../src/kube/client/live-credentials.ts";
import { Reflector } from "../../../src/kube/cache/reflector.ts";
import { CONFIG_MAPS, EVENTS, LEASES, NODES, SERVICES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveLease } from "../../support/released-lease.ts";
import { ChangeChecker } from "./change-checker.ts";

const SOON_MS = 120_000;
const namespace = "default";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export function kubeClientContract(name: string, open: ClusterOpener): void {
  describe(`the Kubernetes client on ${name}`, () => {
    let cluster: Cluster;
    let transport: HttpTransport;
    let client: KubeClient;
    let names = 0;

    before(async () => {
      cluster = await open();
      const access = findCluster({ kubeconfig: cluster.kubeconfig, env: {}, homeDir: "/" });
      transport = new HttpTransport(new LiveCredentials(access, realClock));
      client = new KubeClient({ transport, clock: realClock });
    });
    after(async () => {
      await transport?.close();
      await cluster?.close();
    });

    const newName = (): string => `client-${++names}`;
    const newConfigMap = (data: Record<string, string> = { a: "1" }): Promise<ConfigMap> =>
      client.create<ConfigMap>(CONFIG_MAPS, { metadata: { namespace, name: newName() }, data });
    const placeOf = ({ metadata }: KubeObject) => ({ namespace, name: metadata.name });
    const current = (object: KubeObject): Promise<ConfigMap> => client.get<ConfigMap>(CONFIG_MAPS, placeOf(object));

    async function failsAs(kind: KubeFailureKind, call: Promise<unknown>): Promise<void> {
      await assert.rejects(call, (error) => {
        assert.ok(isFailure(error, kind), String(error));
        return true;
      });
    }

    test("each failure has its kind", async () => {
      const made = await newConfigMap();
      const { name } = made.metadata;
      await failsAs("alreadyExists", client.create(CONFIG_MAPS, { metadata: { namespace, name } }));
      await failsAs("notFound", client.get(CONFIG_MAPS, { namespace, name: "nobody" }));
      await failsAs("notFound", client.create(CONFIG_MAPS, { metadata: { namespace: "nowhere", name } }));
      await failsAs("notFound", client.list({ ...CONFIG_MAPS, group: "nobody.example", plural: "things" }, {}));
      await failsAs("invalid", client.create(CONFIG_MAPS, { metadata: { namespace, name: "Not A Name" } }));
      await failsAs("invalid", client.list(CONFIG_MAPS, { labelSelector: "!!" }));
      const stale = { ...made, metadata: { ...made.metadata, resourceVersion: "1" } };
      await failsAs("conflict", client.replace(CONFIG_MAPS, stale));
      const lease = await client.create(LEASES, { metadata: { namespace, name }, spec: {} });
      await failsAs("invalid", client.patch(LEASES, placeOf(lease), { merge: { spec: { renewTime: "yesterday" } } }));
    });

    test("the three kinds of patch do what they say", async () => {
      const made = await newConfigMap({ a: "1", b: "2" });
      const place = placeOf(made);
      await client.patch(CONFIG_MAPS, place, { merge: { data: { a: null, d: "3" } } });
      await client.patch(CONFIG_MAPS, place, { json: [{ op: "add", path: "/data/e", value: "4" }] });
      await client.patch(CONFIG_MAPS, place, { strategic: { metadata: { finalizers: ["example.com/first"] } } });
      await client.patch(CONFIG_MAPS, place, { strategic: { metadata: { finalizers: ["example.com/second"] } } });
      const { data, metadata } = await current(made);
      assert.deepEqual(data, { b: "2", d: "3", e: "4" });
      assert.deepEqual([...(metadata.finalizers ?? [])].sort(), ["example.com/first", "example.com/second"]);
      await client.patch(CONFIG_MAPS, place, { merge: { metadata: { finalizers: null } } });
    });

    for (const form of ["merge", "strategic", "json"] as const) {
      test(`a ${form} patch of another incarnation, or of an older version, is a conflict and changes nothing`, async () => {
        const made = await newConfigMap();
        const place = placeOf(made);
        const { uid, resourceVersion } = made.metadata;
        const change =
          form === "json"
            ? { json: [{ op: "add", path: "/data/x", value: "y" } as const] }
            : form === "merge"
              ? { merge: { data: { x: "y" } } }
              : { strategic: { data: { x: "y" } } };
        const otherUid = "00000000-0000-4000-8000-000000000000";
        await failsAs("conflict", client.patch(CONFIG_MAPS, place, change, { uid: otherUid }));
        await failsAs("conflict", client.patch(CONFIG_MAPS, place, change, { resourceVersion: "1" }));
        assert.deepEqual((await current(made)).data, { a: "1" });
        await client.patch(CONFIG_MAPS, place, change, { uid, resourceVersion });
        assert.deepEqual((await current(made)).data, { a: "1", x: "y" });
      });
    }

    test("a delete of another incarnation, or of an older version, is a conflict and deletes nothing", async () => {
      const made = await newConfigMap();
      const { uid } = made.metadata;
      const otherUid = "00000000-0000-4000-8000-000000000000";
      await failsAs("conflict", client.delete(CONFIG_MAPS, placeOf(made), { uid: otherUid }));
      await failsAs("conflict", client.delete(CONFIG_MAPS, placeOf(made), { uid, resourceVersion: "1" }));
      await client.delete(CONFIG_MAPS, placeOf(made), { uid });
      await failsAs("notFound", current(made));
    });

    test("the status is written beside the rest", async () => {
      const metadata = { namespace, name: newName() };
      const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
      const made = await client.create<KubeObject>(SERVICES, { metadata, spec });
      const status = { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } };
      const place = { ...placeOf(made), subresource: "status" } as const;
      const written = await client.patch<KubeObject & { status: typeof status }>(SERVICES, place, {
        merge: { status },
      });
      assert.equal(written.status.loadBalancer.ingress[0]?.ip, "203.0.113.7");
    });

    test("a list is read by pages as one snapshot, and its items know their kind", async () => {
      const wanted = new Set<string>();
      for (let item = 0; item < 7; item++) wanted.add((await newConfigMap()).metadata.name);
      const found: (KubeObject & { kind?: string })[] = [];
      let pages = 0;
      for await (const page of client.listPages<KubeObject>(CONFIG_MAPS, { namespace }, undefined, 3)) {
        pages += 1;
        found.push(...page.items);
        if (pages === 1) await newConfigMap({ made: "after the first page" });
      }
      assert.ok(pages >= 3);
      for (const { metadata } of found) wanted.delete(metadata.name);
      assert.deepEqual([...wanted], []);
      assert.ok(found.every(({ kind }) => kind === "ConfigMap"));
      assert.ok(!found.some((object) => (object as ConfigMap).data?.["made"] === "after the first page"));
    });

    test("a reflector streams in what there is, follows it, and sees what leaves its selection", async () => {
      const label = { watched: newName() };
      const ledger = new ChangeChecker();
      let problems = 0;
      const reflector = new Reflector<ConfigMap>({
        client,
        resource: CONFIG_MAPS,
        selection: { namespace, labelSelector: `watched=${label.watched}` },
        clock: realClock,
        random: Math.random,
        project: (object) => object,
        onProblem: () => (problems += 1),
      });
      reflector.subscribe(ledger.listen);
      const create = (data: Record<string, string>): Promise<ConfigMap> =>
        client.create<ConfigMap>(CONFIG_MAPS, { metadata: { namespace, name: newName(), labels: label }, data });
      const first = await create({ at: "start" });
      const second = await create({ at: "start" });
      const stop = new AbortController();
      const run = reflector.run(stop.signal);
      try {
        await reflector.synced;
        assert.equal(reflector.store.size, 2);
        assert.equal(problems, 0, "the server has streaming lists");
        await client.patch(CONFIG_MAPS, placeOf(first), { merge: { data: { at: "later" } } });
        await client.delete(CONFIG_MAPS, placeOf(second));
        const third = await create({ at: "later" });
        await eventually(() => {
          const seen = [...reflector.store.values()].map(({ metadata, data }) => `${metadata.name} ${data?.["at"]}`);
          assert.deepEqual(seen.sort(), [`${first.metadata.name} later`, `${third.metadata.name} later`].sort());
        }, SOON_MS);
        await client.patch(CONFIG_MAPS, placeOf(third), { merge: { metadata: { labels: { watched: null } } } });
        await eventually(() => assert.equal(reflector.store.size, 1), SOON_MS); // it left the selection
      } finally {
        stop.abort(new Error("the test is over"));
        await run;
      }
      assert.deepEqual(ledger.breaches, []);
      assert.equal(reflector.store.get(`${namespace}/${first.metadata.name}`)?.metadata.uid, first.metadata.uid);
    });

    test("of two candidates one leads, the other follows when it stops, and the server takes their times", async () => {
      const lease = newName();
      const clock = realClock; // in a hurry, a busy machine would lose the lease
      const candidate = (identity: string) => {
        const stop = new AbortController();
        const problems: unknown[] = [];
        const state: { fence: Fence | undefined } = { fence: undefined };
        const onProblem = (error: unknown): void => void problems.push(error);
        const random = Math.random;
        const election = new LeaderElection({ client, clock, random, namespace, name: lease, identity, onProblem });
        const outcome = election.run(stop.signal, async (fence) => {
          state.fence = fence;
          await new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
        });
        return { state, stop, outcome, problems };
      };
      await leaveLease(client, { namespace, name: lease });
      const one = candidate("one");
      await eventually(() => assert.ok(one.state.fence?.holds()), SOON_MS);
      const two = candidate("two");
      const { spec } = await client.get<KubeObject & { spec: Record<string, unknown> }>(LEASES, {
        namespace,
        name: lease,
      });
      assert.equal(spec["holderIdentity"], "one");
      one.stop.abort();
      assert.equal(await one.outcome, "stopped");
      await eventually(() => assert.ok(two.state.fence?.holds()), SOON_MS);
      assert.equal(one.state.fence?.holds(), false);
      two.stop.abort();
      await two.outcome;
      assert.deepEqual([...one.problems, ...two.problems], []);
    });

    test("a Lease that is deleted again and again never has two leaders", async () => {
      const name = newName();
      const times = { leaseDurationMs: 2_000, renewDeadlineMs: 1_500, retryPeriodMs: 100 };
      const stop = new AbortController();
      const fences = new Map<string, Fence>();
      const leaders = (): string[] => [...fences].filter(([, fence]) => fence.holds()).map(([identity]) => identity);
      let most = 0;
      const run = async (identity: string): Promise<void> => {
        while (!stop.signal.aborted) {
          const place = { namespace, name, identity };
          const election = new LeaderElection({ client, clock: realClock, random: Math.random, ...place, ...times });
          await election.run(stop.signal, async (fence) => {
            fences.set(identity, fence);
            most = Math.max(most, leaders().length);
            await new Promise<void>((resolve) => {
              for (const signal of [stop.signal, fence.signal]) {
                if (signal.aborted) resolve();
                signal.addEventListener("abort", () => resolve());
              }
            });
          });
        }
      };
      await leaveLease(client, { namespace, name });
      const candidates = ["one", "two", "three"].map(run);
      for (let time = 0; time < 10; time++) {
        await eventually(() => assert.equal(leaders().length, 1), SOON_MS);
        await client.delete(LEASES, { namespace, name }).catch((error: unknown) => {
          if (!isFailure(error, "notFound")) throw error;
        });
        await realClock.sleep(50);
        most = Math.max(most, leaders().length);
      }
      stop.abort();
      await Promise.all(candidates);
      assert.equal(most, 1);
    });

    test("events are stored on objects in a namespace and on nodes, and repeats raise their count", async () => {
      const outcomes: string[] = [];
      const onOutcome = (outcome: string): void => void outcomes.push(outcome);
      const recorder = new EventRecorder({
        client,
        clock: realClock,
        random: Math.random,
        component: "azlb",
        onOutcome,
      });
      const made = await newConfigMap();
      const node = await client.create<KubeObject>(NODES, { metadata: { name: newName() } });
      const aboutMap = { apiVersion: "v1", kind: "ConfigMap", ...placeOf(made), uid: made.metadata.uid };
      const aboutNode = { apiVersion: "v1", kind: "Node", name: node.metadata.name, uid: node.metadata.uid };
      for (let time = 0; time < 3; time++) {
        recorder.record({
          about: aboutMap,
          type: "Warning",
          reason: "SyncLoadBalancerFailed",
          message: "it was tried",
        });
        await recorder.flushed();
      }
      recorder.record({
        about: aboutNode,
        type: "Normal",
        reason: "LoadBalancerAdminStateDown",
        message: "it is drained",
      });
      await recorder.flushed();
      assert.deepEqual(outcomes, Array(4).fill("written"));
      const eventsOf = async (uid: string) =>
        (
          await client.list<KubeObject & { count: number }>(EVENTS, {
            namespace,
            fieldSelector: `involvedObject.uid=${uid}`,
          })
        ).items;
      assert.deepEqual(
        (await eventsOf(made.metadata.uid)).map(({ count }) => count),
        [3],
      );
      assert.deepEqual(
        (await eventsOf(node.metadata.uid)).map(({ count }) => count),
        [1],
      );
    });
  });
}
