/**
 * The chart installed with the real helm on a real kube-apiserver; then, since no kubelet runs, the test starts what the
 * Deployment asks for: the program out of the file system of its image, with the arguments and variables of the
 * container, the token of the ServiceAccount, and so exactly the rights of the chart. It serves a Service, ends on SIGTERM, and
 * an upgrade and an uninstall leave what they should.
 */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { type RunningAzure, startAzure } from "../../sandbox/azure/index.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { type RunningControlPlane, startControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { CHART, helm } from "../support/helm.ts";
import { ImageRoot } from "../support/image-root.ts";
import { connect } from "../support/kube-connection.ts";

const ACCOUNT = "system:serviceaccount:kube-system";
const MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Where the cloud config says that the emulator's certificate is. */
const AZURE_CA = "/etc/azure-ca.crt";
const WITHIN_MS = 60_000;

let folder: string;
let azure: RunningAzure;
let plane: RunningControlPlane;
let image: ImageRoot;
let controller: ChildProcess | undefined;
let log = "";
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "azlb-chart-"));
  const auditLog = join(folder, "audit.log");
  [azure, plane, image] = await Promise.all([
    startAzure({ topology: { nodes: 2 } }),
    startControlPlane({ auditLog }),
    ImageRoot.open("controller"),
  ]);
  const inline = { ...azure.cloudConfig, caFile: AZURE_CA };
  writeFileSync(join(folder, "values.yaml"), JSON.stringify({ clusterName: "kubernetes", cloudConfig: { inline } }));
});
after(async () => {
  controller?.kill("SIGKILL");
  await Promise.all([plane.close(), azure.close()]);
  image.close();
  rmSync(folder, { recursive: true, force: true });
});

function release(...args: readonly string[]): Promise<string> {
  return helm(...args, "--namespace", "kube-system", "--kubeconfig", plane.kubeconfig);
}

function withChart(verb: "install" | "upgrade", ...values: readonly string[]): Promise<string> {
  const flags = values.flatMap((value) => ["--set", value]);
  return release(verb, "azlb", CHART, "--values", join(folder, "values.yaml"), ...flags);
}

async function api<Body>(method: string, path: string, body?: object): Promise<Body> {
  const admin = connect(plane.kubeconfig);
  try {
    const reply = await admin.request(method, path, body === undefined ? {} : { body });
    assert.ok(reply.code < 300, `${method} ${path}: ${reply.text}`);
    return reply.body as Body;
  } finally {
    await admin.close();
  }
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
        }[];
      };
    };
  };
}

test("with shadow.enabled the shadow, run as its pod would, looks at everything and only reads", async () => {
  assert.match(await withChart("install", "shadow.enabled=true"), /runs as a shadow of cluster kubernetes/);
  controller = await startAsPod("azlb-shadow", "--shadow-port=0");
  await eventually(async () => {
    const [, url] = /"report":"(http[^"]+)"/.exec(log) ?? assert.fail(log);
    const report = (await (await fetch(`${url}/shadow/report`)).json()) as { reads: number; problem?: string };
    assert.ok(report.reads > 0 && report.problem === undefined, JSON.stringify(report));
  }, WITHIN_MS);
  const requests = requestsOf("azlb-shadow");
  assert.deepEqual(refusals("azlb-shadow"), []);
  assert.deepEqual(
    requests.filter(({ verb }) => !["get", "list", "watch"].includes(verb)),
    [],
  );
  const ended = once(controller, "exit");
  controller.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], log);
});

test("an upgrade takes over: helm makes every object, the shadow goes, and the server warns of nothing", async () => {
  const said = await withChart(
    "upgrade",
    "shadow.enabled=false",
    "policies.enabled=true",
    "viewerRole.enabled=true",
    "networkPolicy.enabled=true",
  );
  assert.match(said, /STATUS: deployed/);
  assert.match(said, /serves the cluster kubernetes/);
  await assert.rejects(api("GET", "/apis/apps/v1/namespaces/kube-system/deployments/azlb-shadow"), /not found/);
});

test("the controller, run as its pod would, serves a Service with the rights of the chart", async () => {
  const { client, close } = openKubeClient({ kubeconfig: plane.kubeconfig, userAgent: "test" });
  await ensureNodes(
    client,
    azure.nodes.map(({ name, ip, providerId }) => ({ name, internalIPs: [ip], providerID: providerId })),
  );
  await close();
  controller = await startAsPod("azlb-controller");
  const metadata = { name: "web", namespace: "default" };
  await api("POST", "/api/v1/namespaces/default/services", {
    metadata,
    spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  });
  await eventually(async () => {
    const path = "/api/v1/namespaces/default/services/web";
    const { status } = await api<{ status: { loadBalancer: { ingress?: unknown[] } } }>("GET", path);
    assert.equal(status.loadBalancer.ingress?.length, 1, log);
  }, WITHIN_MS);
  assert.deepEqual(refusals("azlb-controller"), [], "requests that the chart's roles do not allow");
});

test("it ends on SIGTERM, and tells so", async () => {
  assert.ok(controller !== undefined);
  assert.equal(controller.exitCode, null, log);
  const ended = once(controller, "exit");
  controller.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], log);
  assert.match(log, /"message":"SIGTERM: the controller stops once its writes have ended"/);
  assert.match(log, /"message":"the controller has stopped"/);
  assert.match(log, /"message":"PUT loadBalancers\/kubernetes","fragments":1/);
});

test("an upgrade adds parts, and an uninstall takes everything but the definitions", async () => {
  await withChart("upgrade", "lbcf.enabled=true", "severalLoadBalancers.enabled=true", "agent.enabled=true");
  await eventually(() => api("GET", "/apis/lbcf.tkestack.io/v1/binds"), WITHIN_MS);
  await release("uninstall", "azlb");
  await api("GET", "/apis/lbcf.tkestack.io/v1/binds");
  await assert.rejects(api("GET", "/apis/apps/v1/namespaces/kube-system/deployments/azlb-controller"), /not found/);
  await assert.rejects(api("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/azlb-controller"), /not found/);
});

async function startAsPod(name: string, ...flags: readonly string[]): Promise<ChildProcess> {
  log = "";
  const path = `/apis/apps/v1/namespaces/kube-system/deployments/${name}`;
  const [container] = (await api<Deployment>("GET", path)).spec.template.spec.containers;
  assert.ok(container !== undefined);
  const spec = { expirationSeconds: 3600 };
  const token = await api<{ status: { token: string } }>(
    "POST",
    `/api/v1/namespaces/kube-system/serviceaccounts/${name}/token`,
    { spec },
  );
  image.mountFile(`${MOUNT}/token`, token.status.token);
  image.mountFile(`${MOUNT}/ca.crt`, readFileSync(join(dirname(plane.kubeconfig), "ca/ca.crt"), "utf8"));
  image.mountFile(`${MOUNT}/namespace`, "kube-system");
  image.mountFile(AZURE_CA, azure.caPem);
  const { hostname, port } = new URL(plane.url);
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const cluster = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  const anyPort = ["--health-port=0", "--bind-address=127.0.0.1"]; // tests run side by side
  const child = image.run([...container.args, ...anyPort, ...flags], { ...env, ...cluster });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (log += text));
  }
  return child;
}

interface Request {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly apiGroup?: string };
  readonly responseStatus?: { readonly code: number };
}

/** Of this ServiceAccount. */
function requestsOf(account: string): readonly Request[] {
  const lines = readFileSync(join(folder, "audit.log"), "utf8").split("\n").slice(0, -1);
  const own = lines
    .map((line) => JSON.parse(line) as Request)
    .filter(({ user }) => user.username === `${ACCOUNT}:${account}`);
  assert.ok(own.length > 0, `${account} asked for nothing`);
  return own;
}

/** Requests of the account that were refused, as verb and resource. */
function refusals(account: string): readonly string[] {
  const refused = requestsOf(account).filter(({ responseStatus }) => responseStatus?.code === 403);
  // the controller asks whether LBCF is installed
  return refused
    .filter(({ objectRef }) => objectRef?.apiGroup !== "lbcf.tkestack.io")
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);
}
