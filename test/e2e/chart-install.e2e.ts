/**
 * The chart installed with the real helm on a real kube-apiserver; then, since no kubelet runs, the test starts what the
 * Deployment asks for: the program out of the file system of its image, with the arguments and variables of the
 * container, the token of the ServiceAccount, and so exactly the rights of the chart. It serves a Service, ends on SIGTERM;
 * an upgrade to another version and the way back write nothing to Azure, and an uninstall leaves what it should.
 */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { type RunningAzure, startAzure } from "../../sandbox/azure/index.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { type RunningControlPlane, startControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { FaultControl } from "../support/fault-control.ts";
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
          readonly image: string;
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
  await stopped();
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
  await serve("web");
  assert.deepEqual(refusals("azlb-controller"), [], "requests that the chart's roles do not allow");
});

test("it ends on SIGTERM, and tells so", async () => {
  assert.ok(controller !== undefined);
  assert.equal(controller.exitCode, null, log);
  await stopped();
  assert.match(log, /"message":"SIGTERM: the controller stops once its writes have ended"/);
  assert.match(log, /"message":"the controller has stopped"/);
  assert.match(log, /"message":"PUT loadBalancers\/kubernetes","fragments":1/);
});

test("an upgrade to another version and the way back keep addresses, and write nothing to Azure", async () => {
  const web = await addressOf("web");
  const next = join(folder, "next");
  cpSync(CHART, next, { recursive: true });
  const chart = readFileSync(join(next, "Chart.yaml"), "utf8");
  writeFileSync(join(next, "Chart.yaml"), chart.replaceAll(/^(version|appVersion): .*$/gm, "$1: 9.8.7"));
  const installed = await imageOf("azlb-controller");

  await release("upgrade", "azlb", next, "--reuse-values", "--set", "controller.extraArgs={--drift-check-period=1h}");
  assert.match(await imageOf("azlb-controller"), /:9\.8\.7$/);
  await lookedAt(1);
  controller = await startAsPod("azlb-controller");
  const later = await serve("later"); // what the version before has not seen
  await stopped();

  await release("rollback", "azlb");
  assert.equal(await imageOf("azlb-controller"), installed);
  await lookedAt(2);
  assert.deepEqual([await addressOf("web"), await addressOf("later")], [web, later]);
});

test("an upgrade adds parts, and an uninstall takes everything but the definitions", async () => {
  await withChart("upgrade", "lbcf.enabled=true", "severalLoadBalancers.enabled=true", "agent.enabled=true");
  await eventually(() => api("GET", "/apis/lbcf.tkestack.io/v1/binds"), WITHIN_MS);
  await release("uninstall", "azlb");
  await api("GET", "/apis/lbcf.tkestack.io/v1/binds");
  await assert.rejects(api("GET", "/apis/apps/v1/namespaces/kube-system/deployments/azlb-controller"), /not found/);
  await assert.rejects(api("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/azlb-controller"), /not found/);
});

/** Creates it and waits; its address. */
async function serve(name: string): Promise<string> {
  const port = name === "web" ? 80 : 8080;
  await api("POST", "/api/v1/namespaces/default/services", {
    metadata: { name, namespace: "default" },
    spec: { type: "LoadBalancer", ports: [{ port }] },
  });
  await eventually(async () => assert.notEqual(await addressOf(name), undefined, log), WITHIN_MS);
  return (await addressOf(name)) ?? "";
}

async function addressOf(service: string): Promise<string | undefined> {
  const path = `/api/v1/namespaces/default/services/${service}`;
  const { status } = await api<{ status: { loadBalancer: { ingress?: { ip: string }[] } } }>("GET", path);
  return status.loadBalancer.ingress?.[0]?.ip;
}

async function imageOf(deployment: string): Promise<string> {
  const path = `/apis/apps/v1/namespaces/kube-system/deployments/${deployment}`;
  return (await api<Deployment>("GET", path)).spec.template.spec.containers[0]?.image ?? "";
}

/** What the Deployment now asks for is started, has all `services` served, has written nothing to Azure, and ends. */
async function lookedAt(services: number): Promise<void> {
  const before = await azureWrites();
  controller = await startAsPod("azlb-controller");
  await eventually(async () => {
    const [, url] = /"health":"(http[^"]+)"/.exec(log) ?? assert.fail(log);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, new RegExp(`^azlb_services\\{state="served"\\} ${services}$`, "m"));
  }, WITHIN_MS);
  await stopped();
  assert.deepEqual((await azureWrites()).slice(before.length), []);
}

async function stopped(): Promise<void> {
  assert.ok(controller !== undefined);
  const ended = once(controller, "exit");
  controller.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], log);
}

async function azureWrites(): Promise<readonly string[]> {
  const { entries } = (await new FaultControl(azure.controlUrl).send("GET", "/audit")) as {
    entries: { method: string; path: string }[];
  };
  const changes = entries.filter(({ method, path }) => method !== "GET" && !/\/oauth2\//.test(path));
  return changes.map(({ method, path }) => `${method} ${path}`);
}

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
