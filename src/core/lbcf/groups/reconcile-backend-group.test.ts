import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { aService } from "../../../../test/support/core-fixtures.ts";
import { DELETED, group, loadBalancer, pod, record, registered } from "../../../../test/support/lbcf-objects.ts";
import type { Node } from "../../model/kubernetes.ts";
import { DEFAULT_DEREGISTRATION_LIMIT } from "./deregistration-limit.ts";
import type { Lookup } from "./load-balancer-use.ts";
import { recordName } from "../objects/names.ts";
import type { BackendGroup, BackendRecord, LoadBalancer, Pod } from "../objects/objects.ts";
import { type GroupActions, type ObservedGroup, reconcileBackendGroup } from "./reconcile-backend-group.ts";

const found = (lb: LoadBalancer, driver: "ready" | "draining" | "missing" = "ready"): Lookup => ({
  kind: "found",
  loadBalancer: lb,
  driver,
});

interface Setting extends Partial<Omit<ObservedGroup, "cluster" | "loadBalancers">> {
  readonly pods?: readonly Pod[];
  readonly lb?: Lookup;
  readonly lbs?: ReadonlyMap<string, Lookup>;
  readonly nodes?: readonly Node[];
  readonly service?: ObservedGroup["cluster"]["service"];
}

function observed({
  pods = [],
  lb = found(loadBalancer("lb")),
  lbs,
  nodes = [],
  service,
  ...more
}: Setting): ObservedGroup {
  return {
    group: group("web"),
    cluster: { pods, podNamed: new Map(pods.map((each) => [each.metadata.name, each])), service, nodes },
    loadBalancers: lbs ?? new Map([["lb", lb]]),
    records: [],
    validations: new Map(),
    judged: undefined,
    isTaken: () => false,
    isConfirmed: false,
    deregistrationLimit: DEFAULT_DEREGISTRATION_LIMIT,
    ...more,
  };
}

function act(setting: Setting): GroupActions {
  const decision = reconcileBackendGroup(observed(setting));
  assert.equal(decision.kind, "act");
  return decision.kind === "act" ? decision : assert.fail();
}

/** The record that the group has of this pod. */
function recordOf(of: Pod, owner: BackendGroup = group("web"), metadata: object = {}): BackendRecord {
  const { name, uid } = of.metadata;
  const backend = { kind: "Pod", name, uid, port: { port: 80, protocol: "TCP" } } as const;
  const meta = { name: recordName(owner, "lb", backend), uid: `record-${name}`, ...metadata };
  return record(registered(of.ip ?? ""), meta, { backend });
}

function counts({ creates, updates, deletes }: GroupActions): readonly number[] {
  return [creates.length, updates.length, deletes.length];
}

const web = pod("web-0");
const { ip: _address, ...withoutAddress } = web;
const notReady = pod("web-0", { ready: false, containersReady: false });
const ending = pod("web-0", {}, { deletionTimestamp: DELETED });
const running = { deregister: { policy: "IfNotRunning" } } as const;
const judged = { deregister: { policy: "Webhook", driver: "judge", onFailure: "DoNothing" } } as const;

describe("records of pods", () => {
  const TABLE: readonly (readonly [string, Setting, readonly [number, number, number]])[] = [
    ["an available pod gets a record", { pods: [web] }, [1, 0, 0]],
    ["a pod that has one gets no other", { pods: [web], records: [recordOf(web)] }, [0, 0, 0]],
    ["a pod that is not ready gets none", { pods: [notReady] }, [0, 0, 0]],
    [
      "a gated pod needs its containers only",
      { pods: [{ ...notReady, gate: "False", containersReady: true }] },
      [1, 0, 0],
    ],
    ["a pod without an address gets none", { pods: [withoutAddress] }, [0, 0, 0]],
    ["an ending pod gets none, and loses what it has", { pods: [ending], records: [recordOf(web)] }, [0, 0, 1]],
    ["a pod that is gone loses its record", { records: [recordOf(web)] }, [0, 0, 1]],
    ["a pod that is not ready loses it under IfNotReady", { pods: [notReady], records: [recordOf(web)] }, [0, 0, 1]],
    [
      "... keeps it under IfNotRunning",
      { group: group("web", running), pods: [notReady], records: [recordOf(web)] },
      [0, 0, 0],
    ],
    ["... but gets no new one", { group: group("web", running), pods: [notReady] }, [0, 0, 0]],
    [
      "... and loses it when it has failed",
      { group: group("web", running), pods: [{ ...notReady, phase: "Failed" }], records: [recordOf(web)] },
      [0, 0, 1],
    ],
    [
      "another pod of the same name is another backend",
      { pods: [pod("web-0", {}, { uid: "new" })], records: [recordOf(web)] },
      [1, 0, 1],
    ],
    [
      "a record that is going counts: its successor waits",
      { pods: [web], records: [recordOf(web, group("web"), { deletionTimestamp: DELETED })] },
      [0, 0, 0],
    ],
    [
      "changed parameters change the record",
      {
        group: group("web", { parameters: { w: "1" } }),
        pods: [web],
        records: [recordOf(web)],
        validations: new Map([["lb", { kind: "valid" }]]),
      },
      [0, 1, 0],
    ],
    [
      "changed attributes change the record",
      { lb: found(loadBalancer("lb", { attributes: { a: "1" } })), pods: [web], records: [recordOf(web)] },
      [0, 1, 0],
    ],
    [
      "an excepted pod leaves",
      {
        group: group("web", {
          backends: {
            kind: "Pod",
            ports: [{ port: 80, protocol: "TCP" }],
            select: { labels: { app: "web" }, except: ["web-0"] },
          },
        }),
        pods: [web],
        records: [recordOf(web)],
      },
      [0, 0, 1],
    ],
    [
      "pods by name",
      {
        group: group("web", {
          backends: { kind: "Pod", ports: [{ port: 80, protocol: "TCP" }], select: { names: ["web-0"] } },
        }),
        pods: [web, pod("web-1")],
      },
      [1, 0, 0],
    ],
    [
      "each port is a record",
      {
        group: group("web", {
          backends: {
            kind: "Pod",
            ports: [
              { port: 80, protocol: "TCP" },
              { port: 80, protocol: "UDP" },
            ],
            select: { names: ["web-0"] },
          },
        }),
        pods: [web],
      },
      [2, 0, 0],
    ],
  ];
  for (const [what, setting, expected] of TABLE) test(what, () => assert.deepEqual(counts(act(setting)), expected));

  test("records that an earlier LBCF made are taken over as they are", () => {
    const old = recordOf(web);
    const { kind, name, port } = old.spec.backend as { kind: "Pod"; name: string; port: { port: 80; protocol: "TCP" } };
    const adopted = { ...old, spec: { ...old.spec, backend: { kind, name, port } } };
    assert.deepEqual(counts(act({ pods: [web], records: [adopted] })), [0, 0, 0]);
  });
});

describe("what is not known takes nothing away", () => {
  const others: readonly (readonly [string, Lookup])[] = [
    ["a load balancer that cannot be looked up", { kind: "unknown", message: "timeout" }],
    ["one that is not created yet", found({ ...loadBalancer("lb"), status: { conditions: [] } })],
    ["one whose driver is missing", found(loadBalancer("lb"), "missing")],
    ["one whose driver is draining, for a group that it has accepted", found(loadBalancer("lb"), "draining")],
  ];
  for (const [what, lb] of others) {
    test(`${what} keeps its records`, () => {
      assert.deepEqual(act({ lb, pods: [web], records: [recordOf(web)] }).deletes, []);
    });
    test(`... but not those of pods that are gone`, () => {
      assert.equal(act({ lb, records: [recordOf(web)] }).deletes.length, 1);
    });
  }

  test("a driver that refuses new parameters, or does not say, leaves everything as it was", () => {
    for (const kind of ["refused", "failed"] as const) {
      const validations = new Map([["lb", { kind, message: "no" }]]);
      const actions = act({
        group: group("web", { parameters: { w: "x" } }),
        pods: [web, pod("web-1")],
        records: [recordOf(web)],
        validations,
      });
      assert.deepEqual(counts(actions), [0, 0, 0]);
    }
  });

  test("a Service that is missing, of another type or without the port keeps its nodes, and says so", () => {
    const backends = { kind: "Service", service: "np", port: { port: 80, protocol: "TCP" }, nodeSelector: {} } as const;
    const owner = group("web", { backends });
    const node: Node = { metadata: { name: "node-1", uid: "n" }, spec: {}, status: {} };
    const backend = { kind: "Service", name: "np", port: backends.port, nodePort: 30_080, nodeName: "node-1" } as const;
    const records = [record(registered("a"), { name: recordName(owner, "lb", backend) }, { backend })];
    const asClusterIP = aService({ spec: { type: "ClusterIP" } });
    const otherPort = aService({
      spec: { type: "NodePort", ports: [{ port: 81, protocol: "TCP", nodePort: 30_081 }] },
    });
    for (const [service, reason] of [
      [undefined, "ServiceNotFound"],
      [asClusterIP, "ServiceNotNodePort"],
      [otherPort, "ServicePortNotFound"],
    ] as const) {
      const actions = act({ group: owner, service, nodes: [node], records });
      assert.deepEqual(counts(actions), [0, 0, 0]);
      assert.equal(actions.problem?.reason, reason);
    }
    const gone = act({ group: owner, service: undefined, nodes: [], records });
    assert.equal(gone.deletes.length, 1);
  });
});

describe("load balancers that leave", () => {
  const leaving: readonly (readonly [string, Lookup])[] = [
    ["one that does not exist", { kind: "missing" }],
    ["one that is being deleted", found(loadBalancer("lb", {}, { deletionTimestamp: DELETED }))],
    ["one that serves other namespaces", found(loadBalancer("lb", { scope: ["other"] }))],
  ];
  for (const [what, lb] of leaving) {
    test(`${what} takes its records with it, without a deregistrationLimit`, () => {
      const pods = [0, 1, 2, 3].map((at) => pod(`web-${at}`));
      assert.equal(act({ lb, pods, records: pods.map((each) => recordOf(each)) }).deletes.length, 4);
    });
  }

  test("one that is kept by its label goes on", () => {
    const metadata = { deletionTimestamp: DELETED, labels: { "lbcf.tkestack.io/do-not-delete": "" } };
    assert.deepEqual(counts(act({ lb: found(loadBalancer("lb", {}, metadata)), pods: [web] })), [1, 0, 0]);
  });

  test("one that the group no longer names is left", () => {
    const owner = group("web", { loadBalancers: ["other"] });
    const lbs = new Map([["other", found(loadBalancer("other"))]]);
    assert.deepEqual(counts(act({ group: owner, lbs, pods: [web], records: [recordOf(web)] })), [1, 0, 1]);
  });

  test("one that is another now (another lbInfo) is left and joined anew", () => {
    const other = { ...loadBalancer("lb"), status: { ...loadBalancer("lb").status, lbInfo: { id: "second" } } };
    assert.deepEqual(counts(act({ lb: found(other), pods: [web], records: [recordOf(web)] })), [0, 0, 1]);
  });
});

describe("questions", () => {
  const fresh = { ...group("web"), status: { ...group("web").status, loadBalancers: [] } };

  test("a new group asks the driver before anything is registered", () => {
    assert.equal(reconcileBackendGroup(observed({ group: fresh, pods: [web] })).kind, "validate");
    assert.deepEqual(
      counts(act({ group: fresh, pods: [web], validations: new Map([["lb", { kind: "valid" }]]) })),
      [1, 0, 0],
    );
  });

  test("a draining driver takes no new group", () => {
    const actions = act({ group: fresh, lb: found(loadBalancer("lb"), "draining"), pods: [web] });
    assert.deepEqual(counts(actions), [0, 0, 0]);
    const use = actions.uses.get("lb");
    assert.equal(use && "reason" in use && use.reason, "DriverDraining");
  });

  test("pods that are not ready are judged, once they have records", () => {
    const owner = group("web", judged);
    const decision = reconcileBackendGroup(observed({ group: owner, pods: [notReady], records: [recordOf(web)] }));
    assert.deepEqual(decision.kind === "judge" && decision.pods.map(({ metadata }) => metadata.name), ["web-0"]);
    assert.equal(reconcileBackendGroup(observed({ group: owner, pods: [notReady] })).kind, "act");
  });

  test("the judged decides; without one the failure policy does", () => {
    const setting = (owner: BackendGroup, judged: ObservedGroup["judged"]): Setting => ({
      group: owner,
      judged,
      pods: [notReady],
      records: [recordOf(web)],
    });
    const keep = { kind: "judged", keep: new Set(["uid-web-0"]) } as const;
    const failed = { kind: "failed", message: "" } as const;
    const strict = group("web", { deregister: { ...judged.deregister, onFailure: "IfNotReady" } });
    assert.deepEqual(counts(act(setting(group("web", judged), keep))), [0, 0, 0]);
    assert.deepEqual(counts(act(setting(group("web", judged), { kind: "judged", keep: new Set() }))), [0, 0, 1]);
    assert.deepEqual(counts(act(setting(group("web", judged), failed))), [0, 0, 0]);
    assert.deepEqual(counts(act(setting(strict, failed))), [0, 0, 1]);
  });
});

describe("the deregistrationLimit", () => {
  const pods = [0, 1, 2, 3, 4].map((at) => pod(`web-${at}`));
  const records = pods.map((each) => recordOf(each));

  const TABLE: readonly (readonly [string, number, object, boolean])[] = [
    ["most of a group at once is looked at again", 2, {}, true],
    ["half of it is not", 3, {}, false],
    ["a group may say otherwise", 4, { annotations: { "lbcf.tkestack.io/brake": "10%" } }, false],
    [
      "... and a smaller share then counts, from three on",
      2,
      { annotations: { "lbcf.tkestack.io/brake": "10%" } },
      true,
    ],
    ["... or go without", 0, { annotations: { "lbcf.tkestack.io/brake": "off" } }, false],
    ["... but not by a slip", 0, { annotations: { "lbcf.tkestack.io/brake": "half" } }, true],
  ];
  for (const [what, left, metadata, isHeld] of TABLE) {
    test(what, () => {
      const setting = { group: group("web", {}, metadata), pods: pods.slice(0, left), records };
      assert.equal(reconcileBackendGroup(observed(setting)).kind, isHeld ? "confirm" : "act");
      assert.equal(act({ ...setting, isConfirmed: true }).deletes.length, 5 - left);
    });
  }

  test("two of two are few", () => {
    assert.equal(act({ pods: [], records: records.slice(0, 2) }).deletes.length, 2);
  });
});
