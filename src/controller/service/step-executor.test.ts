/** What an Azure step comes to for the loop that asked for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { commitRig, LB } from "../../../test/support/commit-rig.ts";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { aNode } from "../../../test/support/core-world.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import type { Warning } from "../../core/outcome.ts";
import { desiredBackendPool } from "../../core/resources/backend-pool/desired-backend-pool.ts";
import { RefusedError } from "./cloud-load-balancer.ts";
import { AzureStepExecutor, ServiceWriter } from "./step-executor.ts";
import { ModelApi } from "../../../sandbox/kubernetes/testing/model-api.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { FINALIZER } from "../../core/intent/ownership.ts";
import { Store } from "../../kube/cache/store.ts";
import { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import type { KubeObject } from "../../kube/client/resources.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { NewestTaints } from "../admin-state/admin-state-manager.ts";
import { type CachedNode, projectService } from "../projections.ts";

const POOL = `${LB}/backendAddressPools/kubernetes`;
const STEP = {
  kind: "backendPool",
  id: POOL,
  fragment: desiredBackendPool({ config: CONFIG, nodes: [aNode("one", ["10.0.0.1"])], known: [] }, "IPv4"),
  why: "to hold 1 node",
} as const;

/** A load balancer whose only pool holds this. */
function setUp(properties: object) {
  const { arm, commit, run } = commitRig();
  arm.write(LB, { properties: { backendAddressPools: [{ id: POOL, name: "kubernetes", properties }] } });
  arm.interpose = ({ method, url }) =>
    method === "PUT" && new URL(url).pathname === POOL ? json(200, { properties: {} }) : undefined;
  const warnings: Warning[] = [];
  const retries: string[] = [];
  const remembered: string[] = [];
  let joins = 0;
  const never = (): never => assert.fail("no Service is written");
  const executor = new AzureStepExecutor({
    commit,
    observer: { nodeNames: ["one"] },
    services: { apply: never },
    members: {
      remember: async () => {},
      rememberNames: async (_, names) => void remembered.push(...names),
      settle: async () => {},
    },
    written: { wrote: never },
    onWarning: (_, warning) => warnings.push(warning),
    onRetry: (_, what, { failure }) => retries.push(`${what} ${failure.code}`),
    adminState: { taints: new NewestTaints(new Store<CachedNode>()), joined: () => void (joins += 1) },
  });
  return { arm, run, warnings, retries, remembered, executor, joins: () => joins };
}

test("a pool of network interfaces refuses the cluster's write with the reason, and nothing is written", async () => {
  const { arm, run, executor } = setUp({ backendIPConfigurations: [{ id: "/nic/ipConfigurations/one" }] });
  await assert.rejects(run(executor.write(STEP, "create")), (thrown) => {
    assert.ok(thrown instanceof RefusedError);
    assert.equal(thrown.rejection.reason, "BackendPoolType");
    return true;
  });
  assert.equal(arm.count("PUT"), 0);
});

test("a foreign entry is told of, also by a write that no Service asked for", async () => {
  const server = { name: "by-hand", properties: { ipAddress: "10.0.0.99" } };
  const { arm, run, warnings, executor } = setUp({ loadBalancerBackendAddresses: [server] });
  await run(executor.write(STEP, "create"));
  assert.equal(arm.count("PUT"), 1);
  assert.deepEqual(
    warnings.map(({ reason, message }) => [reason, message.includes('"by-hand"')]),
    [["ForeignBackendAddress", true]],
  );
});

test("a machine joins after the name of its node is recorded, although the Node is gone since the decision", async () => {
  const { run, remembered, executor } = setUp({});
  const fragment = {
    resource: "networkInterface",
    join: [{ pool: POOL, family: "IPv4" }],
    leave: [],
    nodes: ["gone"],
  } as const;
  const id = `${LB.slice(0, LB.indexOf("/loadBalancers/"))}/networkInterfaces/gone-nic`;
  await run(executor.write({ kind: "nicPools", id, fragment, why: "" }, "create"));
  assert.deepEqual(remembered, ["one", "gone"]);
});

for (const effect of ["takes effect without an answer", "fails for good"]) {
  test(`the admin states are looked at after a write of a network interface that ${effect}`, async () => {
    const { arm, run, executor, joins } = setUp({});
    const id = `${LB.slice(0, LB.indexOf("/loadBalancers/"))}/networkInterfaces/one-nic`;
    const nic = (pools: object[]) => ({
      properties: {
        ipConfigurations: [{ name: "v4", properties: { primary: true, loadBalancerBackendAddressPools: pools } }],
      },
    });
    arm.write(id, nic([]));
    const isLost = effect === "takes effect without an answer";
    let puts = 0;
    arm.interpose = ({ method }) => {
      if (method !== "PUT") return undefined;
      puts += 1;
      if (isLost) arm.write(id, nic([{ id: POOL }]));
      return isLost ? error(503, "ServiceUnavailable") : error(403, "AuthorizationFailed");
    };
    const fragment = { resource: "networkInterface", join: [{ pool: POOL, family: "IPv4" }], leave: [] } as const;
    const written = run(executor.write({ kind: "nicPools", id, fragment, why: "" }, "create"));
    await (isLost ? written : assert.rejects(written));
    assert.deepEqual([puts, joins()], [1, 1]);
  });
}

const PATH = "/api/v1/namespaces/default/services/web";

/** A client of the embedded API, without a socket. */
function transportTo(api: ModelApi): Transport {
  return {
    send: ({ method, path, headers, body }) => {
      const reply = api.request(method, path, JSON.parse(body ?? "null"), headers["content-type"]);
      if (reply.kind !== "answer") throw new Error(`${path} opened a watch`);
      const bytes = Buffer.from(JSON.stringify(reply.body));
      return Promise.resolve({ status: reply.status, headers: {}, body: toAsync(bytes) });
    },
    close: () => Promise.resolve(),
  };
}

async function* toAsync(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function rig() {
  const api = new ModelApi();
  const writer = new ServiceWriter(
    new KubeClient({ transport: transportTo(api), clock: new VirtualClock() }),
    undefined,
  );
  api.create("/api/v1/namespaces/default/services", {
    metadata: { name: "web", finalizers: [FINALIZER, "example.com/other"] },
    spec: { type: "ClusterIP", ports: [{ port: 80 }] },
  });
  const seen = () => projectService(api.get(PATH) as unknown as KubeObject);
  return { api, writer, seen };
}

test("our finalizer goes, others' stay", async () => {
  const { writer, seen } = rig();
  await writer.apply(seen(), { kind: "removeFinalizer", why: "" });
  assert.deepEqual(seen().metadata.finalizers, ["example.com/other"]);
});

test("a Service that asks for a load balancer again keeps its finalizer, however late the patch arrives", async () => {
  const { api, writer, seen } = rig();
  const decidedOn = seen();
  api.mergePatch(PATH, { spec: { type: "LoadBalancer" } });
  await assert.rejects(writer.apply(decidedOn, { kind: "removeFinalizer", why: "" }), (error) =>
    isFailure(error, "conflict"),
  );
  assert.ok(seen().metadata.finalizers?.includes(FINALIZER));
});

test("a status is written on the version that it was decided on, and on no later one", async () => {
  const { api, writer, seen } = rig();
  api.mergePatch(PATH, { spec: { type: "LoadBalancer" } });
  const decidedOn = seen();
  const publish = (ip: string) =>
    writer.apply(decidedOn, { kind: "updateStatus", ingress: [{ ip, ipMode: "VIP" }], applied: "mark", why: "" });
  await publish("20.0.0.2");
  await assert.rejects(publish("20.0.0.1"), (error) => isFailure(error, "conflict"));
  assert.deepEqual(seen().status.loadBalancer.ingress, [{ ip: "20.0.0.2", ipMode: "VIP" }]);
});

test("a write that fails and is repeated is reported, with the name of its resource", async () => {
  const { arm, run, retries, executor } = setUp({});
  const answered = arm.interpose;
  arm.interpose = (request) =>
    request.method === "PUT" && arm.count("PUT") === 1 ? error(500, "InternalServerError") : answered(request);
  await run(executor.write(STEP, "create"));
  assert.deepEqual(retries, ['pool "kubernetes" InternalServerError']);
});
