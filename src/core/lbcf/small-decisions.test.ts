/** Names, references, durations, conditions, retries, gates, drivers: the small decisions of LBCF. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, group, loadBalancer, meta, pod, record, registered } from "../../../test/support/lbcf-objects.ts";
import { md5 } from "../util/md5.ts";
import {
  deregistrationLimitMistake,
  deregistrationLimitOf,
  DEFAULT_DEREGISTRATION_LIMIT,
  mustConfirm,
} from "./groups/deregistration-limit.ts";
import { withCondition } from "./objects/conditions.ts";
import { doneEvent, unfinishedEvent } from "./drivers/driver-answers.ts";
import { parseDurationMs } from "./objects/durations.ts";
import { parametersKey, parametersOf } from "./groups/load-balancer-use.ts";
import { labelValue, recordLabels, recordName } from "./objects/names.ts";
import type { Driver } from "./objects/objects.ts";
import { isSelected } from "./pods/pods.ts";
import { readBackendGroup } from "./groups/read-backend-group.ts";
import { readBackendRecord } from "./records/read-backend-record.ts";
import { readPod } from "./pods/read-pod.ts";
import { reconcileDriver } from "./drivers/reconcile-driver.ts";
import { type ObservedGate, reconcileReadinessGate } from "./pods/readiness-gate.ts";
import { newRecord } from "./records/record-spec.ts";
import { allowsNamespace, isDraining, invalidName, referencedKey } from "./objects/references.ts";
import { LBCF_RETRIES, retryDelayMs } from "./drivers/retry.ts";

describe("names", () => {
  const tcp = { port: 80, protocol: "TCP" } as const;

  test("records are named as LBCF names them", () => {
    const owner = group("web");
    const ofPod = { kind: "Pod", name: "web-0", uid: "u1", port: tcp } as const;
    assert.equal(recordName(owner, "lb", ofPod), md5("lb_web_u1_80_TCP"));
    const ofNode = { kind: "Service", name: "svc", port: tcp, nodePort: 30_080, nodeName: "n1" } as const;
    assert.equal(recordName(owner, "lb", ofNode), md5("lb_web_svc_80_TCP_n1"));
    assert.equal(recordName(owner, "lb", { kind: "Static", address: "a:1" }), md5("lb_web_a:1"));
  });

  test("a Bind's names are not ambiguous", () => {
    const backend = { kind: "Pod", name: "p", uid: "u", port: tcp } as const;
    const one = recordName({ kind: "Bind", metadata: meta("a-b") }, "c", backend, "10.0.0.1");
    const two = recordName({ kind: "Bind", metadata: meta("a") }, "b-c", backend, "10.0.0.1");
    assert.notEqual(one, two);
  });

  test("long names make labels that are allowed, and differ", () => {
    const [one, two] = ["a", "b"].map((end) => labelValue(`${"long.".repeat(40)}${end}`));
    assert.ok((one ?? "").length <= 63 && /^[\w.-]*\w$/.test(one ?? ""), one);
    assert.notEqual(one, two);
    const labels = recordLabels(group("x".repeat(200)), "lb", "d", { kind: "Pod", name: "p".repeat(253), port: tcp });
    for (const value of Object.values(labels)) assert.ok(value.length <= 63);
  });

  test("a new record has its finalizer and its owner", () => {
    const draft = { name: "n", spec: record().spec };
    const { metadata } = newRecord(group("web"), draft);
    assert.deepEqual(metadata.finalizers, ["lbcf.tkestack.io/deregister-backend"]);
    assert.equal(metadata.ownerReferences[0]?.uid, "uid-web");
  });
});

test("durations as Go has them", () => {
  const TABLE: readonly (readonly [string, number | undefined])[] = [
    ["15s", 15_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["250ms", 250],
    ["", undefined],
    ["10", undefined],
    ["s", undefined],
    ["1m x", undefined],
  ];
  for (const [text, ms] of TABLE) assert.equal(parseDurationMs(text), ms, text);
});

describe("references", () => {
  test("lbcf- is kube-system's", () => {
    assert.equal(referencedKey("lbcf-clb", "default"), "kube-system/lbcf-clb");
    assert.equal(referencedKey("clb", "default"), "default/clb");
  });

  test("names belong where they belong", () => {
    const at = (name: string, namespace: string) => invalidName("LoadBalancerDriver", meta(name, { namespace }));
    assert.equal(at("lbcf-x", "kube-system"), undefined);
    assert.equal(at("x", "default"), undefined);
    assert.ok(at("lbcf-x", "default"));
    assert.ok(at("x", "kube-system"));
    assert.equal(invalidName("LoadBalancer", meta("x", { namespace: "kube-system" })), undefined);
  });

  test("a scope is all that counts where there is one", () => {
    const scoped = (...scope: string[]) => loadBalancer("lb", { scope });
    assert.ok(allowsNamespace(scoped(), "default"));
    assert.ok(!allowsNamespace(scoped(), "other"));
    assert.ok(allowsNamespace(scoped("*"), "other"));
    assert.ok(!allowsNamespace(scoped("other"), "default"));
  });

  test("draining is a label in any case, or a deletion", () => {
    assert.ok(isDraining(meta("d", { labels: { "lbcf.tkestack.io/driver-draining": "True" } })));
    assert.ok(isDraining(meta("d", { deletionTimestamp: DELETED })));
    assert.ok(!isDraining(meta("d", { labels: { "lbcf.tkestack.io/driver-draining": "no" } })));
  });
});

test("a condition moves its time only with its status, and is itself where nothing is new", () => {
  const first = withCondition([], { type: "A", status: "False", reason: "x" }, 0);
  const later = withCondition(first, { type: "A", status: "False", reason: "y" }, 60_000);
  assert.equal(later[0]?.lastTransitionTime, first[0]?.lastTransitionTime);
  assert.equal(withCondition(later, { type: "A", status: "False", reason: "y" }, 90_000), later);
  assert.notEqual(
    withCondition(later, { type: "A", status: "True" }, 90_000)[0]?.lastTransitionTime,
    later[0]?.lastTransitionTime,
  );
});

test("events bear LBCF's names", () => {
  const NAMES = {
    createLoadBalancer: "CreateLoadBalancer",
    ensureLoadBalancer: "EnsureLoadBalancer",
    deleteLoadBalancer: "DeleteLoadBalancer",
    generateBackendAddr: "GenerateAddr",
    ensureBackend: "EnsureBackend",
    deregisterBackend: "Deregister",
  } as const;
  const STATUSES = [
    ["Running", "Running", "Normal"],
    ["Fail", "Failed", "Warning"],
    ["Error", "Failed", "Warning"],
    ["Invalid", "Invalid", "Warning"],
  ] as const;
  for (const verb of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
    for (const [status, prefix, expected] of STATUSES) {
      const { type, reason, message } = unfinishedEvent(verb, { status, msg: "in its words" });
      assert.deepEqual([type, reason], [expected, `${prefix}${NAMES[verb]}`]);
      assert.match(message, /in its words/);
    }
    if (verb === "deleteLoadBalancer" || verb === "deregisterBackend") continue;
    assert.deepEqual(doneEvent(verb, "done"), { type: "Normal", reason: `Succ${NAMES[verb]}`, message: "done" });
  }
});

test("retries are LBCF's", () => {
  const delay = (status: "Fail" | "Error" | "Running", failures: number, retryAfterMs?: number): number =>
    retryDelayMs({ status, msg: "", ...(retryAfterMs !== undefined && { retryAfterMs }) }, failures, LBCF_RETRIES);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 9].map((failures) => delay("Fail", failures)),
    [10_000, 20_000, 40_000, 80_000, 120_000, 120_000],
  );
  assert.equal(delay("Fail", 0, 300_000), 300_000);
  assert.equal(delay("Running", 5), 10_000);
  assert.equal(delay("Running", 5, 2_000), 2_000);
});

describe("the readiness gate", () => {
  const gated = pod("web-0", { gate: "False", ready: false });
  const at = (address: string) => record(registered(address));
  const decide = (observed: Partial<ObservedGate>): string | undefined =>
    reconcileReadinessGate({ pod: gated, records: [], wanted: 1, ...observed })?.status;

  test("opens when all its records are registered", () => {
    assert.equal(decide({ records: [at("10.0.0.1")] }), "True");
    assert.equal(decide({ records: [at("10.0.0.1")], wanted: 2 }), undefined);
    assert.equal(decide({ records: [record({ backendAddr: "10.0.0.1", generatedFrom: "10.0.0.1" })] }), undefined);
    assert.equal(decide({ records: [] }), undefined);
    assert.equal(decide({ records: [at("10.0.0.1")], wanted: undefined }), undefined);
  });

  test("stays open when a driver fails later, and closes for a new address", () => {
    const open = { ...gated, gate: "True" } as const;
    const failing = record({ ...registered("10.0.0.1"), conditions: [{ type: "Registered", status: "False" }] });
    assert.equal(decide({ pod: open, records: [failing] }), undefined);
    assert.equal(decide({ pod: { ...open, ip: "10.0.0.2" }, records: [at("10.0.0.1")] }), "False");
  });

  test("is nobody's business without a gate, or on the way out", () => {
    assert.equal(decide({ pod: pod("web-0"), records: [at("10.0.0.1")] }), undefined);
    assert.equal(
      decide({ pod: pod("web-0", { gate: "False" }, { deletionTimestamp: DELETED }), records: [at("10.0.0.1")] }),
      undefined,
    );
  });
});

describe("the deregistrationLimit", () => {
  const deregistrationLimit = (text: string) => meta("web", { annotations: { "lbcf.tkestack.io/brake": text } });

  test("is the group's own where it says so", () => {
    assert.equal(deregistrationLimitOf(deregistrationLimit("30%"), DEFAULT_DEREGISTRATION_LIMIT).share, 0.3);
    assert.equal(deregistrationLimitOf(deregistrationLimit(" 0% "), DEFAULT_DEREGISTRATION_LIMIT).share, 0);
    assert.ok(
      !mustConfirm(1_000, 1_000, deregistrationLimitOf(deregistrationLimit("off"), DEFAULT_DEREGISTRATION_LIMIT)),
    );
    for (const text of ["", "30%", "off"])
      assert.equal(deregistrationLimitMistake(deregistrationLimit(text)), undefined);
  });

  test("a value that makes no sense changes nothing, and is said", () => {
    for (const text of ["lots", "101%", "-1%", "30", "3e1%", "%"]) {
      assert.equal(
        deregistrationLimitOf(deregistrationLimit(text), DEFAULT_DEREGISTRATION_LIMIT),
        DEFAULT_DEREGISTRATION_LIMIT,
      );
      assert.match(deregistrationLimitMistake(deregistrationLimit(text)) ?? "", /write a share such as 30%, or off/);
    }
  });
});

test("a selector without labels selects nobody", () => {
  assert.equal(isSelected(pod("web-0"), { labels: {}, except: [] }), false);
});

test("parameters come back from their key, and from what is none comes nothing", () => {
  const owner = group("web", { parameters: { b: "2", a: "1" } });
  assert.deepEqual(parametersOf(parametersKey(owner)), { a: "1", b: "2" });
  for (const rubbish of ["", "null", "5", "[5]", '[["a"]]', '{"a":1}', "{"])
    assert.deepEqual(parametersOf(rubbish), {});
});

describe("drivers", () => {
  const driver = (metadata: object = {}, url = "http://driver"): Driver => ({
    metadata: { ...meta("driver"), finalizers: ["lbcf.tkestack.io/driver-in-use"], ...metadata },
    spec: { url, timeoutsMs: {} },
    status: { conditions: [] },
  });
  const decide = (each: Driver, loadBalancers = 0, records = 0) =>
    reconcileDriver({ driver: each, loadBalancers, records, health: undefined, nowMs: 0 });
  const accepted = (each: Driver) => decide(each).conditions.find(({ type }) => type === "Accepted");

  test("are accepted, or told why not", () => {
    assert.equal(accepted(driver())?.status, "True");
    assert.equal(accepted(driver({ name: "lbcf-x" }))?.reason, "InvalidName");
    assert.equal(accepted(driver({ name: "lbcf-azure", namespace: "kube-system" }))?.reason, "InvalidName");
    for (const url of ["ftp://x", "http://", "http://x?a=b", "http://x/a#b", "http://x y/", "x:80", ""]) {
      assert.equal(accepted(driver({}, url))?.reason, "InvalidURL", url);
    }
    for (const url of ["http://10.0.0.1:11029", "https://driver.kube-system.svc/lbcf/", "http://[::1]:80"]) {
      assert.equal(accepted(driver({}, url))?.status, "True", url);
    }
    const sealed = (caBundle: string): Driver => ({
      ...driver(),
      spec: { url: "https://x", timeoutsMs: {}, caBundle },
    });
    assert.equal(accepted(sealed("-----BEGIN CERTIFICATE-----"))?.reason, "InvalidCABundle");
    assert.equal(accepted(sealed("LS0tLS1CRUdJTg=="))?.status, "True");
  });

  test("stay while they are used", () => {
    const deleted = driver({ deletionTimestamp: DELETED });
    assert.equal(decide(driver({ finalizers: [] })).finalizer, "add");
    assert.equal(decide(deleted).finalizer, "remove");
    for (const [loadBalancers, records] of [
      [1, 0],
      [0, 1],
    ] as const) {
      const { finalizer, conditions } = decide(deleted, loadBalancers, records);
      assert.equal(finalizer, undefined);
      assert.equal(conditions.find(({ type }) => type === "Deletable")?.reason, "StillUsed");
    }
  });
});

describe("reading", () => {
  const metadata = { name: "x", namespace: "default", uid: "u", resourceVersion: "1", generation: 3 };

  test("deprecated spellings become the present ones, without doubles", () => {
    const { spec } = readBackendGroup({
      metadata,
      spec: {
        lbName: "a",
        loadBalancers: ["a", "b"],
        pods: { port: { portNumber: 80 }, ports: [{ port: 80, protocol: "TCP" }], byLabel: { selector: { a: "b" } } },
      },
    } as unknown as { metadata: object });
    assert.deepEqual(spec.loadBalancers, ["a", "b"]);
    assert.deepEqual(spec.backends, {
      kind: "Pod",
      ports: [{ port: 80, protocol: "TCP" }],
      select: { labels: { a: "b" }, except: [] },
    });
  });

  test("a record survives the way to the server and back", () => {
    const backends = [
      { kind: "Pod", name: "p", uid: "u", port: { port: 80, protocol: "UDP" } },
      { kind: "Service", name: "s", port: { port: 80, protocol: "TCP" }, nodePort: 30_080, nodeName: "n" },
      { kind: "Static", address: "a:1" },
    ] as const;
    for (const backend of backends) {
      const spec = { ...record().spec, backend, ensurePolicy: { policy: "Always", periodMs: 90_000 } as const };
      const made = newRecord(group("web"), { name: "n", spec });
      assert.deepEqual(readBackendRecord({ ...made, metadata: { ...metadata, ...made.metadata } }).spec, spec);
    }
  });

  test("null is nothing", () => {
    const read = (spec: object) => readBackendGroup({ metadata, spec } as unknown as { metadata: object }).spec;
    assert.deepEqual(read({ lbName: "a", pods: null, service: null, static: ["x"] }).backends, {
      kind: "Static",
      addresses: ["x"],
    });
    assert.deepEqual(read({ lbName: "a", pods: { ports: [], port: null, byLabel: null, byName: ["b"] } }).backends, {
      kind: "Pod",
      ports: [],
      select: { names: ["b"] },
    });
  });

  test("periods are whole seconds, and never so short that a driver is asked all the time", () => {
    const read = (ensurePolicy: object) =>
      readBackendRecord({ metadata, spec: { ensurePolicy } } as unknown as { metadata: object }).spec.ensurePolicy;
    const TABLE: readonly (readonly [object, number])[] = [
      [{ policy: "Always" }, 60_000],
      [{ policy: "Always", minPeriod: "90.6s" }, 91_000],
      [{ policy: "Always", minPeriod: "1ns" }, 10_000],
      [{ policy: "Always", minPeriod: "rubbish" }, 60_000],
      [{ policy: "Always", minPeriod: `${"9".repeat(400)}h` }, (2 ** 31 - 1) * 1_000],
      [{ policy: "Always", resyncPeriodInSeconds: -5 }, 10_000],
    ];
    for (const [policy, periodMs] of TABLE) assert.deepEqual(read(policy), { policy: "Always", periodMs });
  });

  test("a gate is seen in the pod's template", () => {
    const spec = { readinessGates: [{ conditionType: "lbcf.tkestack.io/registered" }] };
    const gated = { metadata, spec };
    assert.equal(readPod(gated).gate, "False");
    assert.equal(readPod({ metadata }).gate, undefined);
  });
});
