/**
 * What an agent may do with the manifests of `deploy`, on a real kube-apiserver: tokens of pods, as kubelets get them. An
 * honest agent does all its work; a broken one harms no other node, whatever it sends and how much.
 */
import assert from "node:assert/strict";
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

import { parse, parseAllDocuments, stringify } from "yaml";

import { runAgent } from "../../src/main/agent.ts";
import { accountOf } from "../../src/core/admin-state/drain-account.ts";
import { type Log, SILENT_LOG } from "../../src/core/util/log.ts";
import { AdminStateRig, DRAIN } from "../suites/admin-state/admin-state-rig.ts";
import type { Cluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { connect, type KubeConnection, type Reply } from "../support/kube-connection.ts";
import { openRealCluster } from "../support/real-cluster.ts";
import { WITHIN_MS } from "../support/service-rig.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/azlb-agent";
const MERGE = { "content-type": "application/merge-patch+json" };
const SPOT = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

let rig: AdminStateRig;
let cluster: Cluster;
let folder: string;
let first = "";
let second = "";
let third = "";
/** Of the agent of the second node. */
let secondKubeconfig = "";
/** With a token of the agent's pod on the first node. */
let broken: KubeConnection;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "azlb-agent-"));
  rig = await AdminStateRig.open(openRealCluster, { azure: { topology: { nodes: 3 } } });
  ({ cluster } = rig.services);
  [first = "", second = "", third = ""] = rig.nodes;
  for (const file of ["agent-policy.yaml", "agent.yaml", "agent-taints.yaml"]) await apply(file);
  for (const node of rig.nodes) await rig.retaint(node, () => []); // kube-apiserver taints new Nodes as not ready
  await rig.serve();
  broken = connect(await kubeconfigOn(first));
  await inForce();
});
after(async () => {
  await broken.close();
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

async function apply(file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(join(DEPLOY, file), "utf8"))) {
    const manifest = document.toJS() as Manifest;
    const { code, text } = await cluster.request("POST", collectionOf(manifest), { body: manifest });
    assert.equal(code, 201, text);
  }
}

function collectionOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const plural = kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural.toLowerCase()}`;
}

/** A kubeconfig with the token that the kubelet of that node gives the agent's pod. */
async function kubeconfigOn(node: string): Promise<string> {
  const pod = {
    metadata: { name: `azlb-agent-${node}`, namespace: "kube-system" },
    spec: { nodeName: node, serviceAccountName: "azlb-agent", containers: [{ name: "agent", image: "azlb:0.1.0" }] },
  };
  const made = await cluster.request("POST", "/api/v1/namespaces/kube-system/pods", { body: pod });
  assert.equal(made.code, 201, made.text);
  const { name, uid } = made.body.metadata;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid };
  const asked = await cluster.request("POST", `${ACCOUNT}/token`, { body: { spec: { boundObjectRef } } });
  assert.equal(asked.code, 201, asked.text);
  const { token } = asked.body["status"] as { token: string };
  const config = parse(readFileSync(cluster.kubeconfig, "utf8")) as { users: [{ user: unknown }] };
  config.users[0].user = { token };
  const file = join(folder, node);
  writeFileSync(file, stringify(config));
  return file;
}

/** The API server learns of roles and policies a moment after they are made. */
async function inForce(): Promise<void> {
  await eventually(async () => {
    const own = await taint(first, [SPOT], "?dryRun=All");
    assert.equal(own.code, 200, own.text);
    assert.equal((await taint(second, [SPOT], "?dryRun=All")).code, 403);
    assert.equal((await event(first, "?dryRun=All")).code, 201);
    assert.equal((await event(second, "?dryRun=All")).code, 403);
  }, WITHIN_MS);
}

function taint(node: string, taints: readonly unknown[], query = ""): Promise<Reply> {
  return change(node, { spec: { taints } }, query);
}

function change(node: string, body: unknown, query = ""): Promise<Reply> {
  return broken.request("PATCH", `/api/v1/nodes/${node}${query}`, { headers: MERGE, body });
}

function event(node: string, query = "", more: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const body = {
    metadata: { generateName: "lie-" },
    involvedObject: { kind: "Node", name: node },
    reason: "PreemptScheduled",
    message: "Preempt Scheduled: now",
    type: "Warning",
    firstTimestamp: now,
    lastTimestamp: now,
    ...more,
  };
  return broken.request("POST", `/api/v1/namespaces/default/events${query}`, { body });
}

test("whatever is not about its own Node, or not its own taint, is refused", async () => {
  const other = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
  for (const [what, reply] of [
    ["a taint on another Node", await taint(second, [SPOT])],
    ["an Event about another Node", await event(second)],
    ["an Event of another reason", await event(first, "", { reason: "Rebooted" })],
    [
      "an Event about a Pod of its Node's name",
      await event(first, "", { involvedObject: { kind: "Pod", name: first } }),
    ],
    ["another taint", await taint(first, [other])],
    ["its taint with NoExecute", await taint(first, [{ ...SPOT, effect: "NoExecute" }])],
    ["a drain by hand", await taint(first, [{ key: "azlb.io/drain", value: "manual", effect: "NoSchedule" }])],
    ["a cordon", await change(first, { spec: { unschedulable: true } })],
    ["a label", await change(first, { metadata: { labels: { a: "b" } } })],
    ["another annotation", await change(first, { metadata: { annotations: { "azlb.io/preempt-scheduled": "x" } } })],
    ["the account of a drain", await change(first, { metadata: { annotations: { "azlb.io/drained": "{}" } } })],
    ["a finalizer", await change(first, { metadata: { finalizers: ["example.com/mine"] } })],
    ["the status", await broken.request("PATCH", `/api/v1/nodes/${first}/status`, { headers: MERGE, body: {} })],
    ["the deletion of its Node", await broken.request("DELETE", `/api/v1/nodes/${first}`)],
    ["a list of Nodes", await broken.request("GET", "/api/v1/nodes")],
    ["a list of Secrets", await broken.request("GET", "/api/v1/secrets")],
    ["a token of another pod", await broken.request("POST", `${ACCOUNT}/token`, { body: {} })],
  ] as const) {
    assert.equal(reply.code, 403, `${what}: ${reply.text}`);
  }
  const { code } = await rig.services.cluster.request("PATCH", `/api/v1/nodes/${first}`, {
    headers: MERGE,
    body: { metadata: { annotations: { other: "client" } } },
  });
  assert.equal(code, 200, "other accounts are not concerned");
});

test("a token that is bound to no node may write nothing", async () => {
  const asked = await cluster.request("POST", `${ACCOUNT}/token`, { body: { spec: {} } });
  const { token } = asked.body["status"] as { token: string };
  const config = parse(readFileSync(cluster.kubeconfig, "utf8")) as { users: [{ user: unknown }] };
  config.users[0].user = { token };
  const file = join(folder, "unbound");
  writeFileSync(file, stringify(config));
  const connection = connect(file);
  for (const node of [first, ""]) {
    const body = {
      metadata: { generateName: "x-" },
      involvedObject: { kind: "Node", name: node },
      reason: "PreemptScheduled",
    };
    const reply = await connection.request("POST", "/api/v1/namespaces/default/events", { body });
    assert.equal(reply.code, 403, reply.text);
  }
  await connection.close();
});

/** An honest agent of the node, until `work` is done. */
async function withAgent(
  node: string,
  kubeconfig: string,
  more: { readonly approveAfterMs?: number; readonly log?: Log },
  work: () => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  const metadataUrl = `${rig.services.azure.metadataUrl}/machines/${node}`;
  const taints = { drainOnReboot: false };
  const options = {
    nodeName: node,
    kubeconfig,
    metadataUrl,
    pollMs: 50,
    taints,
    needsPolicy: true,
    log: SILENT_LOG,
    ...more,
  };
  const running = runAgent(options, stopping.signal);
  try {
    await work();
  } finally {
    stopping.abort(new Error("the test is over"));
    await running;
  }
}

async function announce(type: string, ...machines: readonly string[]): Promise<string> {
  const wanted = { type, machines, noticeSeconds: 600 };
  return ((await rig.services.azure.control("POST", "/scheduled-events", wanted)) as { EventId: string }).EventId;
}

test("a storm of Events and taints sets its own Node Down; another node is drained beside it, the rest serve", async () => {
  const storm = async (): Promise<void> => {
    for (let count = 0; count < 150; count++) {
      await Promise.all([
        event(first),
        event(second),
        taint(first, count % 2 === 0 ? [SPOT] : []),
        taint(third, [SPOT]),
      ]);
    }
    await taint(first, [SPOT]);
  };
  const raging = storm();
  secondKubeconfig = await kubeconfigOn(second);
  await withAgent(second, secondKubeconfig, {}, async () => {
    const eventId = await announce("Preempt", second);
    await rig.heard(second, "LoadBalancerAdminStateDown");
    await raging;
    await rig.expect({ [first]: "Down", [second]: "Down" });
    assert.equal(await rig.isDoomed(third), false);
    assert.deepEqual(await rig.said(third), []);
    await rig.services.azure.control("DELETE", `/scheduled-events/${eventId}`);
    await rig.expect({ [first]: "Down" });
  });
});

test("early approval: nothing without the right to list Nodes; with it when every machine is out, which no agent can pretend", async () => {
  await rig.retaint(first, () => []);
  await rig.expect({});
  const warned: string[] = [];
  const log = { ...SILENT_LOG, warn: (text: string) => void warned.push(text) };
  const eventId = await announce("Terminate", second, third);
  const open = async (): Promise<boolean> => {
    const { events } = (await rig.services.azure.control("GET", "/scheduled-events")) as {
      events: readonly { readonly EventId: string }[];
    };
    return events.some(({ EventId }) => EventId === eventId);
  };
  await withAgent(second, secondKubeconfig, { approveAfterMs: 1_000, log }, async () => {
    await rig.expect({ [second]: "Down" });
    await eventually(
      () => assert.match(warned.join(), /nothing is approved: .*cannot list resource "nodes"/),
      WITHIN_MS,
    );
    await apply("agent-approval.yaml");
    await eventually(async () => assert.equal((await broken.request("GET", "/api/v1/nodes")).code, 200), WITHIN_MS);
    const forged = JSON.stringify({ reasons: ["drain"], seen: "2026-01-01", down: "2026-01-01", pools: [] });
    for (const node of [first, third]) {
      for (const body of [
        { metadata: { annotations: { "azlb.io/drained": forged } } },
        { spec: { taints: [{ key: "azlb.io/drain", value: "manual", effect: "NoSchedule" }] } },
      ]) {
        const { code, text } = await change(node, body);
        assert.equal(code, 403, text);
      }
    }
    assert.equal((await broken.request("GET", "/api/v1/nodes?watch=true&timeoutSeconds=1")).code, 403, "list alone");
    assert.equal((await broken.request("DELETE", "/api/v1/nodes")).code, 403);
    assert.equal(await open(), true, "one of its machines is in");
    await rig.taint(third, DRAIN);
    await eventually(async () => assert.equal(await open(), false), WITHIN_MS);
  });
  for (const node of [second, third]) assert.ok(accountOf(await rig.node(node)) !== undefined, `${node} was out`);
});

test("without the policy an agent that may taint writes Events only, and the controller taints", async () => {
  for (const node of rig.nodes) await rig.retaint(node, () => []);
  await rig.expect({});
  const binding = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/azlb-agent";
  assert.equal((await cluster.request("DELETE", binding)).code, 200);
  await eventually(async () => assert.equal((await taint(second, [SPOT], "?dryRun=All")).code, 200), WITHIN_MS);
  const warned: string[] = [];
  const log = { ...SILENT_LOG, warn: (text: string) => void warned.push(text) };
  await withAgent(first, join(folder, first), { log }, async () => {
    const eventId = await announce("Terminate", first);
    await rig.heard(first, "TerminationTainted");
    await rig.expect({ [first]: "Down" });
    await rig.services.azure.control("DELETE", `/scheduled-events/${eventId}`);
    await rig.heard(first, "ScheduledEventOver");
  });
  assert.match(warned[0] ?? "", /only Events are written, and the controller taints/);
  const { annotations = {} } = (await rig.node(first)).metadata;
  assert.doesNotMatch(annotations["azlb.io/agent-taints"] ?? "", /azlb\.io\/drain/, "the taint is not the agent's");
});
