/**
 * What a driver sees, field by field, over the life of a LoadBalancer, of groups of every kind, and of a Bind. The driver
 * is as strict as drivers of LBCF were: it answers 406 to an `accept` header, and knows no healthz.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { driverSteps } from "./driver-steps.ts";
import { STRICT } from "./life-cycles.ts";
import { type Answering, type Asked, type RogueDriver, startRogueDriver } from "./rogue-driver.ts";
import { LbcfWorld } from "./world.ts";

const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
/** Of the controller; longer than an event of the watch takes. */
const STEP_MS = 1_000;
/** Timers may fire a little early by another process's clock. */
const EARLY_MS = 100;

type Body = Readonly<Record<string, unknown>>;

export function lbcfConformance(name: string, open: ClusterOpener): void {
  describe(`LBCF's protocol on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let driver: RogueDriver;
    const { addDriver, addLoadBalancer, says } = driverSteps(() => world);

    before(async () => {
      const retries = { leastMs: STEP_MS, stepMs: STEP_MS, mostMs: 2 * STEP_MS };
      [world, driver] = await Promise.all([LbcfWorld.open(open, { lbcf: { retries } }), startRogueDriver(STRICT)]);
      await addDriver("wire", driver.url);
    });
    after(async () => {
      await world?.close();
      await driver?.close();
    });

    const asked = (since: number, hook?: string): readonly Asked[] =>
      driver.asked.slice(since).filter((each) => each.hook !== "healthz" && (hook === undefined || each.hook === hook));
    const recordOf = async (lb: string) => {
      const [record, ...others] = (await world.records()).filter(({ spec }) => spec["lbName"] === lb);
      assert.ok(record && others.length === 0, `records of ${lb}: ${others.length}`);
      return record;
    };
    const isRegistered = async (kind: string, object: string, backends: number): Promise<void> =>
      world.eventually(async () =>
        assert.equal((await world.get(kind, object)).status?.registeredBackends, backends, object),
      );
    const isGone = (kind: string, object: string): Promise<void> =>
      world.eventually(async () => assert.equal(await world.exists(kind, object), false));
    /** The exchanges without their retryIDs, whose form is checked. */
    const exchanges = (since: number): readonly [string, Body][] =>
      asked(since).map(({ hook, body: { retryID, ...body } }) => {
        if ("recordID" in body) assert.match(String(retryID), UUID);
        return [hook, body];
      });

    test("a LoadBalancer: validated, created, ensured when its attributes change, deleted", async () => {
      const since = driver.asked.length;
      await addLoadBalancer("life", "wire", { id: "1" }, { attributes: { colour: "red" } });
      await says("LoadBalancer", "life", "Created", "True");
      const { uid } = (await world.get("LoadBalancer", "life")).metadata;
      await world.change("LoadBalancer", "life", { spec: { attributes: { colour: "blue" } } });
      await world.eventually(() => assert.equal(asked(since, "ensureLoadBalancer").length, 1));
      await world.delete("LoadBalancer", "life");
      await isGone("LoadBalancer", "life");
      const [lbSpec, lbInfo] = [{ id: "1" }, { made: "1" }];
      const [red, blue] = [{ colour: "red" }, { colour: "blue" }];
      assert.deepEqual(exchanges(since), [
        ["validateLoadBalancer", { lbSpec, operation: "Create", attributes: red, dryRun: false }],
        ["createLoadBalancer", { recordID: `createLoadBalancer(${uid})`, dryRun: false, lbSpec, attributes: red }],
        ["validateLoadBalancer", { lbSpec, operation: "Update", attributes: blue, oldAttributes: red, dryRun: false }],
        ["ensureLoadBalancer", { recordID: `ensureLoadBalancer(${uid})`, dryRun: false, lbInfo, attributes: blue }],
        ["deleteLoadBalancer", { recordID: `deleteLoadBalancer(${uid})`, dryRun: false, lbInfo, attributes: blue }],
      ]);
      const ids = asked(since).flatMap(({ body }) => body["retryID"] ?? []);
      assert.equal(new Set(ids).size, ids.length);
      for (const { headers } of asked(since)) assert.equal(headers["content-type"], "application/json");
    });

    /** What each kind of backend is sent with to `generateBackendAddr`; `undefined` where that is not called. */
    type Generated = (body: Body) => void;

    const backends: readonly (readonly [string, string, object, string, Generated | undefined])[] = [
      ["pods by label", "Pod", { pods: podsBy({ byLabel: { selector: { app: "c" } } }) }, "10.244.7.1", podBackend],
      ["pods by name", "Pod", { pods: podsBy({ byName: ["c-0"] }) }, "10.244.7.1", podBackend],
      ["static addresses", "Static", { static: ["10.1.1.1:80"] }, "10.1.1.1:80", undefined],
    ];

    function podsBy(select: object): object {
      return { ports: [{ port: 80 }], ...select };
    }

    function podBackend({ podBackend: sent, serviceBackend }: Body): void {
      const { pod, port } = sent as { pod: { metadata: { name: string }; status: { podIP: string } }; port: unknown };
      assert.deepEqual([pod.metadata.name, pod.status.podIP], ["c-0", "10.244.7.1"]);
      assert.deepEqual(port, { port: 80, portNumber: 80, protocol: "TCP" });
      assert.equal(serviceBackend, null);
    }

    before(() => world.addPod("c-0", { ip: "10.244.7.1", labels: { app: "c" } }));

    for (const [what, backendType, spec, backendAddr, generated] of backends) {
      test(`a group of ${what}: validated, addressed, registered, changed, deregistered`, async () => {
        await addLoadBalancer("c", "wire", { id: "c" }, { attributes: { a: "1" } });
        await says("LoadBalancer", "c", "Created", "True");
        const since = driver.asked.length;
        await world.create("BackendGroup", "c", { loadBalancers: ["c"], parameters: { weight: "5" }, ...spec });
        await isRegistered("BackendGroup", "c", 1);
        const { uid } = (await recordOf("c")).metadata;
        await world.change("BackendGroup", "c", { spec: { parameters: { weight: "6" } } });
        await world.eventually(() => assert.equal(asked(since, "ensureBackend").length, 2));
        await world.delete("BackendGroup", "c");
        await isGone("BackendGroup", "c");
        const [lbInfo, five, six] = [{ made: "c" }, { weight: "5" }, { weight: "6" }];
        const of = (hook: string, parameters: object, injectedInfo: object | null): [string, Body] => [
          hook,
          { recordID: `${hook}(${uid})`, dryRun: false, lbInfo, backendAddr, parameters, injectedInfo },
        ];
        const old = { OldParameters: five, oldParameters: five };
        const seen = exchanges(since);
        assert.deepEqual(
          seen.filter(([hook]) => hook !== "generateBackendAddr"),
          [
            ["validateBackend", { backendType, lbInfo, operation: "Create", parameters: five, dryRun: false }],
            of("ensureBackend", five, null),
            ["validateBackend", { backendType, lbInfo, operation: "Update", parameters: six, ...old, dryRun: false }],
            of("ensureBackend", six, { memo: "1" }),
            of("deregisterBackend", six, { memo: "1" }),
          ],
        );
        const generate = seen.filter(([hook]) => hook === "generateBackendAddr").map(([, body]) => body);
        assert.equal(generate.length, generated === undefined ? 0 : 1);
        for (const { podBackend: pod, serviceBackend, ...rest } of generate) {
          generated?.({ podBackend: pod, serviceBackend });
          const recordID = `generateBackendAddr(${uid})`;
          assert.deepEqual(rest, { recordID, dryRun: false, lbInfo, lbAttributes: { a: "1" }, parameters: five });
        }
        await world.delete("LoadBalancer", "c");
        await isGone("LoadBalancer", "c");
      });
    }

    test("a group of nodes behind a Service: the Service, the port, the node and its addresses", async () => {
      await world.post("/api/v1/namespaces/default/services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "np" },
        spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_127 }], selector: { app: "x" } },
      });
      await addLoadBalancer("np", "wire", { id: "np" });
      const since = driver.asked.length;
      const node = world.azure.nodes[0];
      const nodeSelector = { "kubernetes.io/hostname": node?.name };
      const service = { name: "np", port: { port: 80 }, nodeSelector };
      await world.create("BackendGroup", "np", { loadBalancers: ["np"], service });
      await isRegistered("BackendGroup", "np", 1);
      const [[, body] = ["", {}]] = exchanges(since).filter(([hook]) => hook === "generateBackendAddr");
      const sent = body["serviceBackend"] as { service: { metadata: { name: string } } } & Body;
      assert.equal(sent.service.metadata.name, "np");
      assert.deepEqual(
        { ...sent, service: "" },
        {
          service: "",
          port: { port: 80, portNumber: 80, protocol: "TCP" },
          nodeName: node?.name,
          nodeAddresses: [{ type: "InternalIP", address: node?.ip }],
        },
      );
      assert.deepEqual([body["podBackend"], body["lbAttributes"], body["parameters"]], [null, null, null]);
      assert.deepEqual(
        exchanges(since)
          .filter(([hook]) => hook.endsWith("Backend"))
          .map(([hook, each]) => [hook, each["backendType"] ?? each["backendAddr"]]),
        [
          ["validateBackend", "Service"],
          ["ensureBackend", node?.ip],
        ],
      );
      await world.delete("BackendGroup", "np");
      await isGone("BackendGroup", "np");
    });

    test("a Bind: the same hooks, with ids of the Bind and the load balancer's name", async () => {
      const since = driver.asked.length;
      const loadBalancers = [{ name: "one", driver: "wire", spec: { id: "b" }, attributes: { a: "1" } }];
      const pods = { ports: [{ port: 80, protocol: "TCP" }], byLabel: { selector: { app: "c" } } };
      const spec = { loadBalancers, pods, parameters: { weight: "5" } };
      await world.post(BINDS, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name: "b" }, spec });
      await world.eventually(async () => {
        const { status } = (await world.read(`${BINDS}/b`)) as { status?: { registeredBackends?: number } };
        assert.equal(status?.registeredBackends, 1);
      });
      const { uid } = (await world.read(`${BINDS}/b`)).metadata;
      const { uid: record } = (await recordOf("one")).metadata;
      await world.remove(`${BINDS}/b`, {});
      await world.eventually(async () => assert.equal((await world.cluster.request("GET", `${BINDS}/b`)).code, 404));
      const seen = exchanges(since);
      assert.deepEqual(
        seen.map(([hook, { recordID }]) => [hook, recordID]),
        [
          ["validateLoadBalancer", undefined],
          ["createLoadBalancer", `createLoadBalancer(${uid}-one)`],
          ["validateBackend", undefined],
          ["generateBackendAddr", `generateBackendAddr(${record})`],
          ["ensureBackend", `ensureBackend(${record})`],
          ["deregisterBackend", `deregisterBackend(${record})`],
          ["deleteLoadBalancer", `deleteLoadBalancer(${uid}-one)`],
        ],
      );
      const fields = Object.fromEntries(seen);
      const [lbInfo, parameters] = [{ made: "b" }, { weight: "5" }];
      assert.deepEqual(
        [fields["createLoadBalancer"]?.["lbSpec"], fields["ensureBackend"]?.["lbInfo"]],
        [{ id: "b" }, lbInfo],
      );
      assert.deepEqual(fields["validateBackend"], {
        backendType: "Pod",
        lbInfo,
        operation: "Create",
        parameters,
        dryRun: false,
      });
    });

    const REFUSALS: readonly (readonly [string, ReturnType<Answering>, number])[] = [
      ["Running with a delay", { json: { status: "Running", msg: "", minRetryDelayInSeconds: 2 } }, 2_000],
      ["Fail with a delay", { json: { status: "Fail", msg: "no", minRetryDelayInSeconds: 2 } }, 2_000],
      ["an HTTP error", { text: "oops", status: 500 }, STEP_MS],
      ["a dropped connection", "drop", STEP_MS],
    ];

    for (const [what, refusal, delayMs] of REFUSALS) {
      test(`${what} at the first create: asked once, and again when the delay is over`, async () => {
        const refused = new Set<unknown>();
        driver.answer = (hook, body, headers) => {
          const { recordID } = body;
          if (hook !== "createLoadBalancer" || refused.has(recordID)) return STRICT(hook, body, headers);
          refused.add(recordID);
          return refusal;
        };
        const since = driver.asked.length;
        await addLoadBalancer("late", "wire", { id: "late" });
        await world.post(BINDS, {
          apiVersion: "lbcf.tkestack.io/v1",
          kind: "Bind",
          metadata: { name: "late" },
          spec: {
            loadBalancers: [{ name: "late", driver: "wire", spec: { id: "late" } }],
            pods: { ports: [{ port: 80, protocol: "TCP" }], byName: ["none"] },
          },
        });
        await world.eventually(() => assert.equal(asked(since, "createLoadBalancer").length, 4));
        await says("LoadBalancer", "late", "Created", "True");
        const byId = Object.groupBy(asked(since, "createLoadBalancer"), ({ body }) => String(body["recordID"]));
        for (const calls of Object.values(byId)) {
          const [first, second] = calls ?? [];
          const gapMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
          assert.ok(gapMs >= delayMs - EARLY_MS, `${gapMs} ms between two calls`);
        }
        assert.equal(asked(since, "validateLoadBalancer").length, 2, "validated once each");
        driver.answer = STRICT;
        await world.delete("LoadBalancer", "late");
        await world.remove(`${BINDS}/late`, {});
        await isGone("LoadBalancer", "late");
        await world.eventually(async () =>
          assert.equal((await world.cluster.request("GET", `${BINDS}/late`)).code, 404),
        );
      });
    }

    test("a delay that the driver asked for holds whatever wakes the record; another question does not wait", async () => {
      driver.answer = (hook, body, headers) =>
        hook === "ensureBackend"
          ? { json: { status: "Fail", msg: "later", minRetryDelayInSeconds: 600 } }
          : STRICT(hook, body, headers);
      await addLoadBalancer("slow", "wire", { id: "slow" });
      const since = driver.asked.length;
      const ports = [{ port: 80 }, { port: 80, protocol: "UDP" }]; // this driver gives both the same address
      const pods = { ports, byLabel: { selector: { app: "c" } } };
      await world.create("BackendGroup", "slow", { loadBalancers: ["slow"], pods });
      await world.eventually(() => assert.equal(asked(since, "ensureBackend").length, 2));
      const annotate = (text: string) => ({ metadata: { annotations: { touched: text } } });
      for (let at = 0; at < 3; at++) {
        for (const { metadata } of await world.records()) {
          await world.change("BackendRecord", metadata.name, annotate(`${at}`));
        }
        await world.change("LoadBalancer", "slow", annotate(`${at}`));
        await world.change("LoadBalancerDriver", "wire", annotate(`${at}`));
      }
      await world.change("BackendGroup", "slow", { spec: { parameters: { weight: "1" } } });
      // each record is asked about once more, for its new parameters, after all that
      await world.eventually(() => assert.equal(asked(since, "ensureBackend").length, 4));
      assert.deepEqual(
        asked(since, "ensureBackend").map(({ body }) => body["parameters"]),
        [null, null, { weight: "1" }, { weight: "1" }],
      );
      await world.delete("BackendGroup", "slow");
      await isGone("BackendGroup", "slow");
      assert.equal(asked(since, "ensureBackend").length, 4);
      driver.answer = STRICT;
    });

    test("deregistrations do not wait behind registrations that take long", async () => {
      await addLoadBalancer("busy", "wire", { id: "busy" });
      await world.create("BackendGroup", "leaves", { loadBalancers: ["busy"], static: ["10.1.2.1"] });
      await isRegistered("BackendGroup", "leaves", 1);
      driver.answer = (hook, body, headers) => (hook === "ensureBackend" ? "hang" : STRICT(hook, body, headers));
      const since = driver.asked.length;
      const many = Array.from({ length: 40 }, (_, at) => `10.1.3.${at}`);
      await world.create("BackendGroup", "many", { loadBalancers: ["busy"], static: many });
      await world.eventually(() => assert.equal(asked(since, "ensureBackend").length, 12));
      await world.delete("BackendGroup", "leaves");
      await isGone("BackendGroup", "leaves");
      assert.deepEqual(
        [asked(since, "ensureBackend").length, asked(since, "deregisterBackend")[0]?.body["backendAddr"]],
        [12, "10.1.2.1"],
      );
      driver.answer = STRICT;
      driver.dropHanging();
      await isRegistered("BackendGroup", "many", many.length);
      await world.delete("BackendGroup", "many");
      await isGone("BackendGroup", "many");
    });

    test("a driver that refuses is not asked again without cause", async () => {
      driver.answer = (hook, body, headers) =>
        hook === "validateLoadBalancer" ? { json: { succ: false, msg: "no" } } : STRICT(hook, body, headers);
      const since = driver.asked.length;
      await addLoadBalancer("refused", "wire", { id: "refused" });
      await says("LoadBalancer", "refused", "Accepted", "False", "Refused");
      for (let at = 0; at < 3; at++) {
        await world.change("LoadBalancer", "refused", { metadata: { annotations: { touched: `${at}` } } });
      }
      driver.answer = STRICT;
      await world.change("LoadBalancer", "refused", { spec: { attributes: { other: "1" } } });
      await says("LoadBalancer", "refused", "Created", "True");
      assert.equal(asked(since, "validateLoadBalancer").length, 2);
    });
  });
}
