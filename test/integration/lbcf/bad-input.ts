/**
 * Bad input of every kind, and drivers that hang or talk rubbish: each is said on the object that it concerns, in a
 * condition with a reason, while a well-made group beside them is served as if they were not there.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import type { ClusterOpener } from "../../support/cluster.ts";
import { SPECS } from "../../support/hostile-lbcf-objects.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { condition, LbcfWorld, type LbcfObject } from "./world.ts";

const FOREIGN = { name: "a-person", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } };
const STEADY = "10.244.0.1";
const azure = (lbSpec: object, attributes: object = {}): object => ({ lbDriver: "lbcf-azure", lbSpec, attributes });
const HUGE = "x".repeat(4_000);

/** Kind, name, spec; the condition that is False, its reason, and what its message says. */
type Case = readonly [string, string, object, string, string, RegExp];

const CASES: readonly Case[] = [
  [
    "LoadBalancer",
    "no-driver",
    { lbDriver: "nobody", lbSpec: {} },
    "Accepted",
    "DriverNotFound",
    /"nobody" does not exist/,
  ],
  ["LoadBalancer", "lbcf-here", azure({ name: "a" }), "Accepted", "InvalidName", /kept for kube-system/],
  ["LoadBalancer", "no-name", azure({}), "Accepted", "Refused", /lbSpec\.name is missing/],
  ["LoadBalancer", "odd-name", azure({ name: "Ü/../‮" }), "Accepted", "Refused", /no name that Azure allows/],
  ["LoadBalancer", "odd-key", azure({ nmae: "a" }), "Accepted", "Refused", /did you mean name/],
  ["LoadBalancer", "long-name", azure({ name: HUGE }), "Accepted", "Refused", /no name that Azure allows/],
  ["LoadBalancer", "its-pool", azure({ name: "a", pool: "kubernetes" }), "Accepted", "Refused", /Services: choose/],
  ["LoadBalancer", "odd-rule", azure({ name: "a" }, { rules: "eighty" }), "Accepted", "Refused", /is no rule such as/],
  ["LoadBalancer", "odd-port", azure({ name: "a" }, { rules: "80:0" }), "Accepted", "Refused", /no port from 1/],
  [
    "LoadBalancer",
    "twice",
    azure({ name: "a" }, { rules: "80:8080,80:8081" }),
    "Accepted",
    "Refused",
    /80\/TCP is given twice/,
  ],
  ["LoadBalancer", "no-size", azure({ name: "a" }, { maxBackends: "-1" }), "Accepted", "Refused", /maxBackends "-1"/],
  [
    "LoadBalancer",
    "no-frontend",
    azure({ name: "shared" }, { frontend: "nope", rules: "80:8080" }),
    "Created",
    "OperationFailed",
    /frontend/,
  ],
  [
    "LoadBalancer",
    "clash",
    azure({ name: "shared" }, { frontend: "theirs", rules: "443:8443" }),
    "Created",
    "OperationFailed",
    /443/,
  ],
  ["LoadBalancer", "basic", azure({ name: "old" }), "Created", "OperationFailed", /SKU basic/],
  [
    "LoadBalancer",
    "not-there",
    azure({ name: "not-there" }),
    "Created",
    "OperationFailed",
    /does not exist: create it/,
  ],
  [
    "LoadBalancerDriver",
    "lbcf-driver",
    { driverType: "Webhook", url: "http://a" },
    "Accepted",
    "InvalidName",
    /kept for kube-system/,
  ],
  [
    "LoadBalancerDriver",
    "nobody-home",
    { driverType: "Webhook", url: "http://127.0.0.1:1" },
    "Healthy",
    "Unhealthy",
    /ECONNREFUSED/,
  ],
  [
    "LoadBalancerDriver",
    "odd-bundle",
    { driverType: "Webhook", url: "https://127.0.0.1:1", caBundle: "eA==" },
    "Healthy",
    "Unhealthy",
    /127\.0\.0\.1:1/,
  ],
  [
    "BackendGroup",
    "no-lb",
    { loadBalancers: ["../.."], static: ["10.0.0.1"] },
    "Accepted",
    "LoadBalancerNotFound",
    /create it, or fix/,
  ],
  [
    "BackendGroup",
    "out-of-scope",
    { loadBalancers: ["lbcf-theirs"], static: ["10.0.0.1"] },
    "Accepted",
    "OutOfScope",
    /does not serve namespace "default"/,
  ],
  [
    "BackendGroup",
    "weighed",
    { loadBalancers: ["good"], static: ["10.0.0.1"], parameters: { weight: "5" } },
    "Accepted",
    "BackendRefused",
    /no weights/,
  ],
  [
    "BackendGroup",
    "no-service",
    { loadBalancers: ["good"], service: { name: "..", port: { port: 80 } } },
    "Accepted",
    "ServiceNotFound",
    /create it, or fix service\.name/,
  ],
  [
    "BackendGroup",
    "odd-service",
    { loadBalancers: ["good"], service: { name: "kubernetes", port: { port: 443 } } },
    "Accepted",
    "ServiceNotNodePort",
    /make it NodePort/,
  ],
];

export function lbcfBadInput(name: string, open: ClusterOpener): void {
  describe(`LBCF's bad input on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let rogue: RogueDriver;
    let steps = 1;

    before(async () => {
      [world, rogue] = await Promise.all([LbcfWorld.open(open, { azure: { plainHttp: true } }), startRogueDriver()]);
      await world.addSharedLoadBalancer([FOREIGN]);
      await world.putArm(world.loadBalancerPath("old"), {
        location: "westus2",
        sku: { name: "Basic" },
        properties: {},
      });
      await world.createIn("kube-system", "LoadBalancer", "lbcf-theirs", {
        ...azure({ name: "shared", pool: "theirs" }),
        scope: ["kube-system"],
      });
      const rules = "443:8080";
      await world.create(
        "LoadBalancer",
        "good",
        azure({ name: "shared", pool: "mixed" }, { frontend: "theirs", rules }),
      );
      const pods = { ports: [{ port: 8080 }], byLabel: { selector: { app: "good" } } };
      await world.create("BackendGroup", "good", { loadBalancers: ["good"], pods });
      await world.addPod("steady", { ip: STEADY, labels: { app: "good" } });
      await isIn(STEADY);
    });
    after(async () => {
      await world?.close();
      await rogue?.close();
    });

    const isIn = (...ips: string[]): Promise<void> =>
      world.eventually(async () => {
        const ours = (await world.entries("shared", "mixed")).filter(({ name: entry }) => entry !== FOREIGN.name);
        assert.deepEqual(ours.map(({ properties }) => properties.ipAddress ?? "").sort(), ips);
      });
    const says = async (
      found: () => Promise<LbcfObject | undefined>,
      type: string,
      reason: string,
      message: RegExp,
    ): Promise<void> =>
      world.eventually(async () => {
        const object = await found();
        const said = object && condition(object, type);
        assert.deepEqual([said?.status, said?.reason], ["False", reason], JSON.stringify(object?.status));
        assert.match(said?.message ?? "", message);
      });
    /** The good group is served: one comes, one goes, no other does. */
    const isServed = async (): Promise<void> => {
      const ip = `10.244.1.${++steps}`;
      await world.addPod(`guest-${steps}`, { ip, labels: { app: "good" } });
      await isIn(...[STEADY, ip].sort());
      await world.killPod(`guest-${steps}`);
      await isIn(STEADY);
    };
    const isUnharmed = async (): Promise<void> => {
      const removed = await world.removedEntries();
      const entries = await world.entries("shared", "mixed");
      const kept = entries.filter(({ properties }) => [STEADY, "10.240.9.1"].includes(properties.ipAddress ?? ""));
      assert.equal(kept.length, 2);
      for (const { name: entry } of kept) assert.ok(!removed.has(entry), entry);
      const { provisioningState: _, ...theirs } =
        entries.find((entry) => entry.name === FOREIGN.name)?.properties ?? {};
      assert.deepEqual(theirs, FOREIGN.properties);
    };

    for (const [kind, object, spec, type, reason, message] of CASES) {
      test(`${kind} ${object}: ${type} is False, ${reason}`, async () => {
        await world.create(kind, object, spec);
        await says(() => world.get(kind, object), type, reason, message);
      });
    }

    test("a Bind says of each of its load balancers what is wrong, and serves the others", async () => {
      const path = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
      const spec = {
        loadBalancers: [
          { name: "nobody", driver: "nobody", spec: { id: "1" } },
          { name: "odd", driver: "lbcf-azure", spec: { name: "Ü" } },
          { name: "good", driver: "lbcf-azure", spec: { name: "bound" }, attributes: { frontend: "internal" } },
        ],
        pods: { ports: [{ port: 8080, protocol: "tcp" }], byName: ["steady"] },
      };
      const metadata = { name: "mixed", labels: { "lbcf.tkestack.io/do-not-delete": "" } };
      await world.post(path, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata, spec });
      await world.eventually(async () => {
        const bind = (await world.read(`${path}/mixed`)) as LbcfObject;
        const { loadBalancerStatuses = [] } = bind.status as {
          loadBalancerStatuses?: (LbcfObject["status"] & object)[];
        };
        const reasons = loadBalancerStatuses.flatMap(({ conditions = [] }) => conditions.map(({ reason }) => reason));
        assert.ok(reasons.includes("DriverNotFound") && reasons.includes("Refused"), JSON.stringify(bind.status));
        assert.equal(condition(bind, "Accepted")?.status, "False");
        assert.deepEqual(await world.addresses("bound"), [STEADY]);
      });
      await world.remove(`${path}/mixed`, {});
      await says(async () => (await world.read(`${path}/mixed`)) as LbcfObject, "Deletable", "DoNotDelete", /label/);
      await world.patch(`${path}/mixed`, { metadata: { labels: { "lbcf.tkestack.io/do-not-delete": null } } });
      await world.eventually(async () => assert.equal((await world.cluster.request("GET", `${path}/mixed`)).code, 404));
    });

    test("addresses that are none are said on their records", async () => {
      const addresses = ["my-web.com", "10.0.0.1:80", "300.1.1.1", "‮10.0.0.1", "\u0000", HUGE];
      await world.create("BackendGroup", "odd-addresses", { loadBalancers: ["good"], static: addresses });
      for (const address of addresses) {
        const record = async (): Promise<LbcfObject | undefined> =>
          (await world.records()).find(({ spec }) => spec["staticAddr"] === address);
        await says(record, "Registered", "OperationFailed", /is no IP address/);
      }
    });

    test("records written by hand lead nowhere else, and take no other backend out", async () => {
      const { status } = await world.get("LoadBalancer", "good");
      const byHand = (lbInfo: object, staticAddr: string): object => ({
        lbName: "good",
        lbDriver: "lbcf-azure",
        lbInfo,
        staticAddr,
        ensurePolicy: { policy: "Always", minPeriod: "1ns" },
      });
      await world.create("BackendRecord", "twin", byHand({ ...status?.lbInfo, note: "mine" }, STEADY));
      await world.create("BackendRecord", "nowhere", byHand({ pool: "/subscriptions/../x?y=z" }, STEADY));
      await says(() => world.get("BackendRecord", "nowhere"), "Registered", "OperationFailed", /is no pool that/);
      await world.eventually(async () => {
        assert.equal(condition(await world.get("BackendRecord", "twin"), "Registered")?.status, "True");
      });
      await world.delete("BackendRecord", "twin");
      await world.delete("BackendRecord", "nowhere");
      await world.eventually(async () => assert.equal(await world.exists("BackendRecord", "twin"), false));
      await says(() => world.get("BackendRecord", "nowhere"), "Deregistered", "OperationFailed", /forget: "true"/);
      await world.change("BackendRecord", "nowhere", {
        metadata: { annotations: { "lbcf.tkestack.io/forget": "true" } },
      });
      await world.eventually(async () => assert.equal(await world.exists("BackendRecord", "nowhere"), false));
      await isUnharmed();
    });

    test("a driver that hangs at every hook holds up none but its own", async () => {
      await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: rogue.url });
      await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "1" } });
      await world.eventually(async () =>
        assert.equal(condition(await world.get("LoadBalancer", "wire"), "Created")?.status, "True"),
      );
      rogue.answer = (hook, body) => (hook === "healthz" ? WELL_BEHAVED(hook, body) : "hang");
      const addresses = Array.from({ length: 60 }, (_, at) => `10.9.0.${at}:80`);
      await world.create("BackendGroup", "hung", { loadBalancers: ["wire"], static: addresses });
      await world.create("LoadBalancer", "hung", { lbDriver: "wire", lbSpec: { id: "2" } });
      await world.eventually(() => assert.ok(rogue.asked.some(({ hook }) => hook === "validateBackend")));
      await isServed();
      await says(() => world.get("BackendGroup", "hung"), "Accepted", "WebhookFailed", /no answer within 10 s/);
      await says(() => world.get("LoadBalancer", "hung"), "Accepted", "WebhookFailed", /no answer within 10 s/);
    });

    test("huge and ill-typed answers are said in few words", async () => {
      const ANSWERS: readonly (readonly [string, object, RegExp])[] = [
        ["generateBackendAddr", { status: "Succ", backendAddr: "x".repeat(2 << 20) }, /longer than 65536/],
        ["generateBackendAddr", { status: "Succ", backendAddr: { ip: "10.0.0.1" } }, /backendAddr is no text/],
        ["ensureBackend", { status: "Succ", injectedInfo: { id: 5 } }, /injectedInfo\.id is no text/],
        ["ensureBackend", { status: "Fail", msg: "m".repeat(2 << 20) }, /^m{1024}…$/],
        ["ensureBackend", { status: ["Succ"] }, /answered status \["Succ"\]/],
        ["ensureBackend", { status: "Succ", msg: "x".repeat(5 << 20) }, /longer than 4194304 bytes/],
      ];
      const pods = { ports: [{ port: 80 }], byLabel: { selector: { app: "odd" } } };
      rogue.answer = WELL_BEHAVED;
      await world.delete("BackendGroup", "hung");
      await world.create("BackendGroup", "odd", { loadBalancers: ["wire"], pods });
      for (const [at, [wrong, json, message]] of ANSWERS.entries()) {
        rogue.answer = (hook, body) => (hook === wrong ? { json } : WELL_BEHAVED(hook, body));
        await world.addPod(`odd-${at}`, { ip: `10.244.2.${at + 1}`, labels: { app: "odd" } });
        const record = async (): Promise<LbcfObject | undefined> =>
          (await world.records()).find(({ spec }) => (spec["podBackend"] as { name?: string })?.name === `odd-${at}`);
        await world.eventually(async () => {
          const found = await record();
          const said = found && condition(found, "Registered");
          assert.equal(said?.status, "False", JSON.stringify(found?.status)?.slice(0, 500));
          assert.match(said?.message ?? "", message);
        });
        await world.killPod(`odd-${at}`);
        await world.eventually(async () => assert.equal(await record(), undefined));
      }
    });

    test("a judge who says nothing sensible leaves it to the failure policy, and the group says so", async () => {
      const pods = { ports: [{ port: 80 }], byLabel: { selector: { app: "judged" } } };
      const judged = (failurePolicy: string): object => ({
        deregisterPolicy: "Webhook",
        deregisterWebhook: { driverName: "wire", failurePolicy },
      });
      rogue.answer = (hook, body) =>
        hook === "judgePodDeregister"
          ? { json: { succ: true, doNotDeregister: ["judged-0"] } } // names, where pods were asked for
          : WELL_BEHAVED(hook, body);
      await world.create("BackendGroup", "judged", { loadBalancers: ["wire"], pods, ...judged("DoNothing") });
      await world.addPod("judged-0", { ip: "10.244.3.1", labels: { app: "judged" } });
      const registered = (count: number): Promise<void> =>
        world.eventually(async () =>
          assert.equal((await world.get("BackendGroup", "judged")).status?.registeredBackends, count),
        );
      await registered(1);
      await world.setPod("judged-0", { ip: "10.244.3.1", ready: false });
      const found = (): Promise<LbcfObject> => world.get("BackendGroup", "judged");
      await says(found, "Judged", "WebhookFailed", /failurePolicy DoNothing decides: .*no list of pods/);
      await registered(1);
      await world.eventually(async () => assert.ok((await world.eventsOf("judged")).includes("WebhookFailed")));
      await world.change("BackendGroup", "judged", { spec: judged("IfNotReady") });
      await registered(0);
    });

    test("a load balancer that can never be deleted is let go by an annotation, and its records with it", async () => {
      rogue.answer = WELL_BEHAVED;
      await world.create("LoadBalancer", "stuck", { lbDriver: "wire", lbSpec: { id: "3" } });
      await world.create("BackendGroup", "stuck", { loadBalancers: ["stuck"], static: ["10.9.9.9:80"] });
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "stuck")).status?.registeredBackends, 1),
      );
      rogue.answer = (hook, body) =>
        /^de(lete|register)/.test(hook) ? { json: { status: "Fail", msg: "never" } } : WELL_BEHAVED(hook, body);
      await world.delete("LoadBalancer", "stuck");
      await says(() => world.get("LoadBalancer", "stuck"), "Deletable", "RecordsRemain", /deregistered first/);
      await world.change("LoadBalancer", "stuck", { metadata: { annotations: { "lbcf.tkestack.io/forget": "true" } } });
      await world.eventually(async () => {
        assert.equal(await world.exists("LoadBalancer", "stuck"), false);
        assert.ok(!(await world.records()).some(({ spec }) => spec["lbName"] === "stuck"));
      });
      await world.eventually(async () => {
        const events = await world.eventsOf("stuck");
        assert.ok(events.includes("ForgottenLoadBalancer"), events.join());
      });
      await world.delete("BackendGroup", "stuck");
      rogue.answer = WELL_BEHAVED;
    });

    test("whatever passes the schema gets a condition, and harms no other", async () => {
      await world.create("LoadBalancer", "lb", azure({ name: "a-lb" }, { frontend: "internal" }));
      const made: string[] = [];
      for (const [kind, specs] of Object.entries(SPECS)) {
        const version = kind === "Bind" ? "v1" : "v1beta1";
        const path = `/apis/lbcf.tkestack.io/${version}/namespaces/default/${kind.toLowerCase()}s`;
        for (const [at, spec] of fc.sample(specs, { numRuns: 60, seed: 7 }).entries()) {
          const metadata = { name: `fuzz-${at}`, annotations: { "lbcf.tkestack.io/brake": "lots" } };
          const body = { apiVersion: `lbcf.tkestack.io/${version}`, kind, metadata, spec };
          const reply = await world.cluster.request("POST", path, { body });
          assert.ok(reply.code === 201 || (reply.code >= 400 && reply.code < 500), `${reply.code} ${reply.text}`);
          if (reply.code === 201) made.push(`${path}/fuzz-${at}`);
        }
      }
      assert.ok(made.length >= 20, `only ${made.length} passed`);
      await world.eventually(async () => {
        for (const path of made) {
          const { status } = (await world.read(path)) as LbcfObject;
          assert.ok((status?.conditions ?? []).length > 0, `${path} ${JSON.stringify(status)}`);
        }
      });
      await isServed();
      for (const path of made) await world.remove(path, {});
      const forget = { metadata: { annotations: { "lbcf.tkestack.io/forget": "true" } } };
      await world.eventually(async () => {
        for (const path of made) {
          const reply = await world.cluster.request("GET", path);
          if (reply.code === 200 && path.includes("backendrecords")) await world.patch(path, forget);
          assert.equal(reply.code, 404, `${path} ${reply.text}`);
        }
      });
    });

    test("all the while no backend was taken out that should not", async () => {
      await isServed();
      await isUnharmed();
    });
  });
}
