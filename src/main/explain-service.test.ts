/** `azlb explain` and `azlb plan` in a sandbox with a Service that became invalid after it was served. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { FaultControl } from "../../test/support/fault-control.ts";
import { EVENTS, NODES, SERVICES, type KubeObject } from "../kube/client/resources.ts";
import { CLUSTER_NAME } from "./cluster-name.ts";
import { withClusterView, type ClusterView } from "./cluster-view.ts";
import { explainCluster } from "./explain-cluster.ts";
import { explainNode } from "./explain-node.ts";
import { explainInFull, explainService } from "./explain-service.ts";
import { openKubeClient } from "./kube-access.ts";
import { makePlan, renderPlanText } from "./make-plan.ts";
import { realClock } from "./real-clock.ts";
import { startSandbox, type RunningSandbox } from "./sandbox.ts";

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };
const PLACE = { namespace: "default", name: "shop" };
const TIMEOUT_MS = 60_000;

interface Served extends KubeObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

let sandbox: RunningSandbox;
let address = "";

before(async () => {
  sandbox = await startSandbox({ azure: {}, withController: true, log: QUIET });
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  await client.create(SERVICES, { metadata: PLACE, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  await eventually(async () => {
    const { status } = await client.get<Served>(SERVICES, PLACE);
    address = status?.loadBalancer?.ingress?.[0]?.ip ?? "";
    return address !== "";
  });
  const annotations = { "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout": "3" };
  await client.patch(SERVICES, PLACE, { merge: { metadata: { annotations } } });
  await close();
});
after(() => sandbox.close());

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const startMs = realClock.monotonicMs(); !(await holds()); await realClock.sleep(20)) {
    assert.ok(realClock.monotonicMs() - startMs < TIMEOUT_MS, "not in time");
  }
}

function isFailedSync(event: KubeObject & { readonly reason?: string }): boolean {
  return event.reason === "SyncLoadBalancerFailed";
}

function isWarning(event: KubeObject & { readonly type?: string }): boolean {
  return event.type === "Warning";
}

function isThrottled(event: KubeObject & { readonly message?: string }): boolean {
  return event.message?.includes("Azure throttles this subscription") === true;
}

function withView<R>(
  read: (view: ClusterView) => Promise<R>,
  kubeconfig = sandbox.kubeconfig,
  clusterName = CLUSTER_NAME,
): Promise<R> {
  const cloudConfig = { kind: "file", path: sandbox.azure.cloudConfigFile } as const;
  return withClusterView({ kubeconfig, cloudConfig, clusterName, env: {}, log: QUIET }, read);
}

test("a refused Service shows first what is wrong, and still what it has in Azure", async () => {
  const text = await withView((view) => explainService(view, "default/shop"));
  assert.match(text, /^refused +InvalidAnnotation: \S+tcp-idle-timeout: "3" is not a whole number from 4 to 100/);
  assert.match(text, new RegExp(`^in Azure +${address}$`, "m"));
  assert.match(text, /^stands +refused, as told above; what it may have in Azure is left as it is$/m);
});

test("what Azure said to the last try comes first", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const place = { namespace: "default", name: "unlucky" };
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 400, code: "PublicIPCountLimitReached" };
  await faults.arm({ method: ["PUT"], path: "**/publicIPAddresses/*", count: null, effect });
  await client.create(SERVICES, { metadata: place, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  await eventually(async () => (await client.list(EVENTS, { namespace: "default" })).items.some(isFailedSync));
  const text = await withView((view) => explainService(view, "default/unlucky"));
  assert.match(text, /^failed +public IP "\S+": a limit is reached: PublicIPCountLimitReached.* \(.* ago\)\nService /);
  assert.match(text, /^stands +\d+ steps to go, next: create public IP kubernetes-a\S+ \(made for default\/unlucky/m);
  await faults.clear();
  await client.delete(SERVICES, place);
  await close();
});

test("warnings have an age, and a node that is going is named", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
  await client.patch(NODES, { name: "vmss000001" }, { merge: { spec: { taints } } });
  await eventually(async () => (await client.list(EVENTS, { namespace: "default" })).items.some(isWarning));
  await close();
  const text = await withView((view) => explainService(view, "default/shop"));
  assert.match(text, /^draining +no new connections go to vmss000001 \(out-of-service\)$/m);
  assert.match(text, /^warnings\n {2}InvalidAnnotation \(\d+ s ago\): see above$/m);
});

test("among all Services what is refused comes first, and the command fails for it", async () => {
  const { text, isFailing } = await withView((view) => explainCluster(view, {}));
  assert.match(text, /^refused +default\/shop +InvalidAnnotation: \S+tcp-idle-timeout: "3" is not/);
  assert.equal(isFailing, true);
});

test("programs get the same of one Service, of a Node, and of the Services of a namespace", async () => {
  const [one, node, all, none] = await withView(async (view) => [
    await explainInFull(view, "default/shop", {}),
    await explainNode(view, "vmss000001"),
    await explainCluster(view, { namespace: "default" }),
    await explainCluster(view, { namespace: "elsewhere" }),
  ]);
  const { state, reason, addresses, pools, warnings, lastWarnings } = one.data as Record<string, unknown>;
  assert.deepEqual(
    { state, reason, addresses },
    { state: "refused", reason: "InvalidAnnotation", addresses: [address] },
  );
  assert.ok(Array.isArray(pools) && pools.length > 0 && Array.isArray(lastWarnings) && lastWarnings.length > 0);
  assert.equal(typeof warnings, "number", "a count, as the API has it");
  const { state: nodeState, drain } = node.data as Record<string, unknown>;
  assert.deepEqual({ nodeState, drain }, { nodeState: "draining", drain: ["out-of-service"] });
  const { items } = all.data as { items: readonly Readonly<Record<"namespace" | "name" | "state", string>>[] };
  assert.deepEqual(
    items.filter((item) => item.state === "refused").map(({ namespace, name }) => `${namespace}/${name}`),
    ["default/shop"],
  );
  assert.deepEqual(none, {
    text: "0 Services are as they ask in namespace elsewhere\n",
    data: { held: [], items: [], settled: 0 },
    isFailing: false,
  });
});

test("a plan of one namespace leaves out the Services of others", async () => {
  const [here, elsewhere] = await withView(async (view) => [
    await makePlan(view, undefined, { namespace: "default" }),
    await makePlan(view, undefined, { namespace: "elsewhere" }),
  ]);
  assert.ok(here.rejected.some(({ service }) => service === "default/shop"));
  assert.deepEqual([elsewhere.rejected, elsewhere.steps], [[], []]);
});

test("its plan names the refusal and writes nothing", async () => {
  const plan = await withView((view) => makePlan(view, undefined));
  assert.deepEqual(plan.steps, []);
  assert.match(renderPlanText(plan), /^refused default\/shop$/m);
  assert.doesNotMatch(renderPlanText(plan), /Nothing to do/);
});

test("a resource group that does not exist refuses one Service, which is deleted all the same; others are planned", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const key = "service.beta.kubernetes.io/azure-load-balancer-resource-group";
  const place = { namespace: "default", name: "moved" };
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  await client.create(SERVICES, { metadata: place, spec });
  await eventually(async () => {
    const { status } = await client.get<Served>(SERVICES, place);
    return (status?.loadBalancer?.ingress ?? []).length > 0;
  });
  await client.patch(SERVICES, place, { merge: { metadata: { annotations: { [key]: "other-rg" } } } });
  const isRefused = (event: KubeObject & { readonly reason?: string }): boolean =>
    event.reason === "ResourceGroupNotFound";
  await eventually(async () => (await client.list(EVENTS, { namespace: "default" })).items.some(isRefused));
  const refusal = `ResourceGroupNotFound: annotation ${key}: resource group "other-rg" does not exist`;
  const { rejected } = await withView((view) => makePlan(view, undefined));
  assert.deepEqual(rejected.map(({ service }) => service).sort(), ["default/moved", "default/shop"]);
  const plan = renderPlanText(await withView((view) => makePlan(view, "default/moved")));
  assert.ok(plan.includes(`refused default/moved\n  ${refusal}`), plan);
  const explained = await withView((view) => explainService(view, "default/moved"));
  assert.ok(explained.startsWith(`refused     ${refusal}`), explained);

  const isGone = async (): Promise<boolean> => {
    const { items } = await client.list(SERVICES, { namespace: "default" });
    return !items.some(({ metadata }) => metadata.name === "moved");
  };
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
  const path = "**/resourceGroups/other-rg/**";
  const denied = await faults.arm({ method: ["GET"], path, count: null, effect });
  await client.delete(SERVICES, place);
  await eventually(async () => (await faults.hits(denied)) >= 1);
  assert.equal(await isGone(), false, "a group that may not be read may hold something");
  await faults.clear();
  // a change of the Service ends the pause that follows a refusal
  await client.patch(SERVICES, place, { merge: { metadata: { labels: { touched: "true" } } } });
  await eventually(isGone);
  await close();
});

test("a cluster that is not there is told as such", async () => {
  const elsewhere = `${sandbox.kubeconfig}.elsewhere`;
  const text = readFileSync(sandbox.kubeconfig, "utf8");
  writeFileSync(elsewhere, text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  await assert.rejects(
    withView((view) => explainService(view, "default/shop"), elsewhere),
    /does not answer: is it running, and is it the one of --kubeconfig or KUBECONFIG\? \(.*ECONNREFUSED/,
  );
});

// the last: Azure is told to throttle the controller for longer than any test waits
test("what is ignored, what Azure throttles, and a setting that holds the controller are told", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const place = { namespace: "default", name: "sloppy" };
  const key = "service.beta.kubernetes.io/azure-load-balancer-mode";
  const effect = { kind: "status", status: 429, code: "SubscriptionRequestsThrottled", retryAfterSeconds: 100 };
  await faults.arm({ method: ["PUT"], path: "**/publicIPAddresses/*", count: 1, effect });
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  await client.create(SERVICES, { metadata: { ...place, annotations: { [key]: "__auto__" } }, spec });
  await eventually(async () => (await client.list(EVENTS, { namespace: "default" })).items.some(isThrottled));
  const throttled = await withView((view) => explainService(view, "default/sloppy"));
  const [, until = ""] = /^throttled +Azure throttles writes until (\S+)$/m.exec(throttled) ?? [];
  assert.ok(Date.parse(until) > realClock.nowMs() + 30_000, throttled);
  assert.match(throttled, new RegExp(`^ignored +${key} has no effect: Standard has one`, "m"));
  await client.delete(SERVICES, place);

  const annotations = { "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout": null, [key]: "__auto__" };
  await client.patch(SERVICES, PLACE, { merge: { metadata: { annotations } } });
  const settled = await withView((view) => explainService(view, "default/shop"));
  assert.match(settled, new RegExp(`^stands +works, but ignored: ${key} has no effect: Standard has one .*$`, "m"));
  await close();

  const held = await withView((view) => explainService(view, "default/shop"), sandbox.kubeconfig, "prod");
  assert.match(
    held,
    /^held +the controller writes nothing, for no Service: the cluster name is "prod", but .*"kubernetes"/,
  );
});
